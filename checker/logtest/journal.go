package logtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A journal is a file with the history of the run that is under way, and its
// schedule, for what nothing in this process outlives: a panic in a goroutine
// of the log's own, an exit, the time-out of go test. A nil journal keeps
// nothing.
type journal struct{ file *os.File }

// journalPath is where the journal of a test is that saves failures in a folder:
// among the user's caches, for it is of no use on another machine. It is "" if
// there is no such place.
func journalPath(failures, test string) string {
	caches, err := os.UserCacheDir()
	whole, also := filepath.Abs(failures)
	if failures == "" || err != nil || also != nil {
		return ""
	}
	hash := fnv.New64a()
	hash.Write([]byte(whole + "\x00" + test))
	return filepath.Join(caches, "isrcheck", "logtest", fmt.Sprintf("%016x.jsonl", hash.Sum64()))
}

// openJournal opens a file that may be there already. What cannot be kept is no
// reason not to test.
func openJournal(path string) *journal {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil
	}
	return &journal{file}
}

// begin forgets the run before.
func (j *journal) begin() {
	if j != nil {
		j.file.Truncate(0)
	}
}

// Write takes an event of the run. A journal that cannot be written must not
// look like a fault of the recording.
func (j *journal) Write(p []byte) (int, error) {
	if j != nil {
		j.file.Write(p)
	}
	return len(p), nil
}

// end is for a suite that came to its end.
func (j *journal) end() {
	if j != nil {
		j.file.Close()
		os.Remove(j.file.Name())
	}
}

// unfinished returns the schedule that the process before this one did not
// outlive, to be tried first. Whether it was the log that ended it or somebody
// else, nobody knows, so that is no failure. But what it did is put aside and
// told of at once, for this process may end in the same way.
func (s *suite) unfinished(path string, tell func(note string)) ([]part, error) {
	h, err := histories.ReadFile(path)
	if err != nil || h.Header().Schedule == "" {
		return nil, nil // there is none, or the process ended before it wrote a line
	}
	sch, err := schedule.Parse(path, []byte(h.Header().Schedule))
	if err != nil {
		return nil, err
	}
	last := strings.TrimSuffix(path, ".jsonl") + "-last.jsonl"
	if err := os.Rename(path, last); err != nil {
		return nil, err
	}
	note := fmt.Sprintf("the last run of this test ended in the middle of a schedule, which is run again now; see what happened until then with: check explain %s", quoted(last))
	tell(note)
	return []part{{"unfinished", func(ctx context.Context) report { return s.finish(ctx, note, sch) }}}, nil
}

// finish runs the schedule that was not finished.
func (s *suite) finish(ctx context.Context, note string, sch schedule.Schedule) report {
	r := report{notes: []string{note, "the schedule is:\n" + indented(sch)}}
	for range s.attempts {
		t, err := s.try(ctx, sch)
		if err != nil {
			r.err = err
			return r
		}
		if t.result.Verdict == checker.Violates {
			r.failures = []*Failure{s.report(ctx, "the schedule that was not finished", t)}
			return r
		}
	}
	return r
}
