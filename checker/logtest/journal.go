package logtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A journal is a file with the history of the run that is under way, and its
// schedule, for what nothing in this process outlives: a panic in a goroutine
// of the log's own, an exit, the time-out of go test. A nil journal keeps
// nothing.
type journal struct{ file *os.File }

// journals are the files of one test, each with the process that writes it and a
// number of its own, so that a test may call the suite twice, and two processes
// may run the test at once. "" is for no place.
type journals string

// journalsOf are those of a test that saves failures in a folder: among the user's
// caches, for they are of no use on another machine.
func journalsOf(failures, test string) journals {
	caches, err := os.UserCacheDir()
	whole, also := filepath.Abs(failures)
	if failures == "" || err != nil || also != nil {
		return ""
	}
	hash := fnv.New64a()
	hash.Write([]byte(whole + "\x00" + test))
	return journals(filepath.Join(caches, "isrcheck", "logtest", fmt.Sprintf("%016x", hash.Sum64())))
}

// The names of journals have this process's number, and another one, for numbers
// of processes are used again.
var (
	incarnation = fmt.Sprintf("%d-%08x", os.Getpid(), rand.Uint32())
	begun       atomic.Int64
)

// next is a new journal's path.
func (j journals) next() string {
	if j == "" {
		return ""
	}
	return fmt.Sprintf("%s-%s-%d.jsonl", j, incarnation, begun.Add(1))
}

// left are those whose process is gone.
func (j journals) left() (paths []string) {
	if j == "" {
		return nil
	}
	folder, of := filepath.Split(string(j))
	all, _ := os.ReadDir(folder) // one that cannot be read has none
	for _, e := range all {
		name, ok := strings.CutPrefix(e.Name(), of+"-")
		number, _, _ := strings.Cut(name, "-")
		pid, err := strconv.Atoi(number)
		if ok && err == nil && !strings.HasPrefix(name, incarnation+"-") && (pid == os.Getpid() || !isRunning(pid)) {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths
}

// isRunning reports whether there is a process of that number.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if runtime.GOOS == "windows" { // where one that is gone is not found
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
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

// unfinished returns the schedules that processes before this one did not
// outlive, to be tried first. Whether it was the log that ended them or somebody
// else, nobody knows, so that is no failure. But what it did is put aside and
// told of at once, for this process may end in the same way.
func (s *suite) unfinished(before journals, tell func(note string)) (parts []part, err error) {
	for _, path := range before.left() {
		h, err := histories.ReadFile(path)
		if err != nil || h.Header().Schedule == "" { // the process ended before it wrote a line
			os.Remove(path)
			continue
		}
		sch, err := schedule.Parse(path, []byte(h.Header().Schedule))
		if err != nil {
			return nil, err
		}
		name, last := "unfinished", string(before)+"-last"
		if n := len(parts); n > 0 {
			name, last = fmt.Sprintf("%s-%d", name, n+1), fmt.Sprintf("%s-%d", last, n+1)
		}
		if err := os.Rename(path, last+".jsonl"); err != nil {
			return nil, err
		}
		note := "the last run of this test ended in the middle of a schedule, which is run again now; see what happened until then with: check explain " + quoted(last+".jsonl")
		tell(note)
		parts = append(parts, part{name, func(ctx context.Context) report { return s.finish(ctx, note, sch) }})
	}
	return parts, nil
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
