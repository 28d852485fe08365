package logtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories"
)

// A sick log is not well after a crash behind a batch of three, for so long.
type sick struct {
	memoryLog
	mu     sync.Mutex
	last   int       // size of a batch
	fell   time.Time // sick
	lasts  time.Duration
	starts bool // though it is sick
	calm   bool // it settles though it is sick
}

const forEver = time.Hour

var errSick = errors.New("segment 0: CRC mismatch\x1b[31m")

func (l *sick) well() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.fell) < l.lasts {
		return errSick
	}
	return nil
}

func (l *sick) Crash(int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == 3 {
		l.fell = time.Now()
	}
	return nil
}

func (l *sick) Restart(int) error {
	if l.starts {
		return nil
	}
	return l.well()
}

func (l *sick) Settle(context.Context) error {
	if l.calm {
		return nil
	}
	return l.well()
}

func (l *sick) Append(ctx context.Context, client string, values []string) (int64, error) {
	l.mu.Lock()
	l.last = len(values)
	l.mu.Unlock()
	if err := l.well(); err != nil {
		return 0, err
	}
	return l.memoryLog.Append(ctx, client, values)
}

func (l *sick) Read(ctx context.Context, client string, from int64) ([]logtest.Record, error) {
	if err := l.well(); err != nil {
		return nil, err
	}
	return l.memoryLog.Read(ctx, client, from)
}

// TestNotLive demands that a log which is not well after its faults is a failure
// like any other: made small, saved, judged alike by the file, and tried first the
// next time.
func TestNotLive(t *testing.T) {
	for says, log := range map[string]*sick{
		"After all faults had ended the log could not be read to its end: segment 0: CRC mismatch\\u001b[31m": {lasts: forEver, starts: true, calm: true},
		"After all faults had ended the log did not settle: segment 0: CRC mismatch\\u001b[31m":               {lasts: forEver, starts: true},
		"The crash of node 1 could not be ended: segment 0: CRC mismatch\\u001b[31m":                          {lasts: forEver},
	} {
		for _, deterministic := range []bool{false, true} {
			drive := play(func() logtest.Log { return &sick{lasts: log.lasts, starts: log.starts, calm: log.calm} })
			opts := logtest.Options{Deterministic: deterministic, Timeout: 20 * time.Millisecond, Runs: 40, Failures: t.TempDir()}
			err := logtest.CheckLog(t.Context(), drive, opts)
			var f *logtest.Failure
			if !errors.As(err, &f) || f.Rule != "not-live" || f.Finding.Says != says || f.File == "" || f.Flaky || len(f.Schedule.Steps) > 3 {
				t.Fatalf("want a small and saved not-live that says %q, got %v", says, err)
			}
			if strings.Contains(err.Error(), "\x1b") {
				t.Errorf("a terminal is driven by %q", err)
			}
			h, err := histories.ReadFile(f.File)
			if err != nil {
				t.Fatal(err)
			}
			r := checker.Check(t.Context(), h, checker.Options{})
			if !r.Meets(h.Header().Expect) || r.Findings[0].Says != says || strings.Contains(r.Findings[0].Rule, "cluster") {
				t.Errorf("%s is judged %+v", f.File, r.Findings)
			}
			var again *logtest.Failure
			if err := logtest.CheckLog(t.Context(), drive, opts); !errors.As(err, &again) || len(rulesIn(err)) != 1 || deterministic && again.Case != f.File {
				t.Errorf("the next run does not begin with %s: %v", f.File, err)
			}
		}
	}
}

// TestFaultNoMore has a saved failure with a fault that the log has no more: that
// it does not fail then means nothing, and is said.
func TestFaultNoMore(t *testing.T) {
	opts := logtest.Options{Deterministic: true, Timeout: 20 * time.Millisecond, Runs: 40, Failures: t.TempDir()}
	if err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &sick{lasts: forEver} }), opts); len(rulesIn(err)) != 1 {
		t.Fatal(err)
	}
	err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &memoryLog{} }), opts)
	if err == nil || !strings.Contains(err.Error(), "cannot be tried any more: the log cannot crash: it is no Crasher") {
		t.Errorf("got %v", err)
	}
}

// TestNoEnd ends the reading of a log that has an answer for every offset.
func TestNoEnd(t *testing.T) {
	drive := play(func() logtest.Log {
		return &fake{read: func(_ *fake, _ string, from int64, _ []logtest.Record) []logtest.Record {
			return []logtest.Record{{Offset: from, Value: "1"}}
		}}
	})
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 1, MinimizeRuns: 1})
	if err == nil || !strings.Contains(err.Error(), "it has no end: it goes on behind ") {
		t.Errorf("got %v", err)
	}
}

// TestSickForAWhile bears with a log that needs some time to recover.
func TestSickForAWhile(t *testing.T) {
	drive := play(func() logtest.Log { return &sick{lasts: 2 * time.Millisecond, starts: true, calm: true} })
	if err := logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 20}); err != nil {
		t.Error(err)
	}
}

// TestUnreadableWithoutFault demands the same of a log that nothing struck, and
// that was read before.
func TestUnreadableWithoutFault(t *testing.T) {
	drive := play(func() logtest.Log {
		l := &fake{}
		l.append = func(f *fake, _ string, values []string) (int64, error) {
			f.unreadable = len(values) == 3
			return f.put(values...), nil
		}
		return l
	})
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 20})
	var f *logtest.Failure
	if !errors.As(err, &f) || f.Rule != "not-live" || !strings.Contains(f.Finding.Says, "though no fault had struck it") {
		t.Errorf("got %v", err)
	}
}

// TestByteOffsets names what makes records look lost where offsets count bytes.
func TestByteOffsets(t *testing.T) {
	drive := play(func() logtest.Log {
		return &fake{append: func(f *fake, _ string, values []string) (base int64, err error) {
			for i, v := range values {
				at := int64(100 * len(f.records))
				if f.putAt(at, v); i == 0 {
					base = at
				}
			}
			return base, nil
		}}
	})
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 1})
	if err == nil || !strings.Contains(err.Error(), "perhaps it is this: the records of one batch were read at offsets 0 and 100: a Log's offsets count records") {
		t.Errorf("got %v", err)
	}
}

// A slow log has one record for an answer, and takes its time.
type slow struct{ fake }

func (l *slow) Read(ctx context.Context, client string, from int64) ([]logtest.Record, error) {
	records, err := l.fake.Read(ctx, client, from)
	if client == "S1" {
		time.Sleep(200 * time.Microsecond)
	}
	return records[:min(1, len(records))], err
}

// TestSlowReading does not take a log that is slow for one that does not end.
func TestSlowReading(t *testing.T) {
	err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &slow{} }), logtest.Options{Deterministic: true, Timeout: 2 * time.Millisecond, Runs: 10})
	if err != nil {
		t.Error(err)
	}
}

// A waiting log waits for a record where there is none.
type waiting struct{ fake }

func (l *waiting) Read(ctx context.Context, client string, from int64) ([]logtest.Record, error) {
	records, err := l.fake.Read(ctx, client, from)
	if len(records) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return records, err
}

// TestReadThatWaits names what such a log does otherwise than it should.
func TestReadThatWaits(t *testing.T) {
	drive := play(func() logtest.Log { return &waiting{} })
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Timeout: time.Millisecond, MinimizeRuns: 5, Runs: 1})
	if err == nil || !strings.Contains(err.Error(), "context deadline exceeded (a Read returns what is there, and nothing where there is nothing: it waits for no record)") {
		t.Errorf("got %v", err)
	}
}

// TestLongRuns finds what only a log of some size does, within the runs that are
// made without being asked for.
func TestLongRuns(t *testing.T) {
	for _, most := range []int{64, 256} {
		drive := play(func() logtest.Log {
			return &fake{append: func(f *fake, _ string, values []string) (int64, error) {
				base := f.next()
				f.put(values[:max(0, min(len(values), most-int(base)))]...)
				return base, nil
			}}
		})
		err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 10, MinimizeRuns: 10})
		if !slices.Contains(rulesIn(err), "lost-write") {
			t.Errorf("a log of at most %d records: %v", most, err)
		}
		if err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 10, Records: 30}); err != nil {
			t.Errorf("with shorter runs: %v", err)
		}
	}
}

// TestAtOnce has the suite test a log while it tests that log: neither takes the
// other for one that did not come to its end.
func TestAtOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	opts := logtest.Options{Deterministic: true, Runs: 2, Failures: t.TempDir(), Logf: func(format string, args ...any) {
		if strings.Contains(format, "%s: %s") && args[0] == "unfinished" {
			t.Errorf(format, args...)
		}
	}}
	runs := 0
	err := logtest.CheckLog(t.Context(), func(ctx context.Context, run *logtest.Run) error {
		if runs++; runs == 5 {
			if err := logtest.CheckLog(ctx, play(func() logtest.Log { return &memoryLog{} }), opts); err != nil {
				t.Error(err)
			}
		}
		return run.Play(ctx, &memoryLog{})
	}, opts)
	if err != nil || runs < 5 {
		t.Errorf("%d runs: %v", runs, err)
	}
}

// TestForeignCase says of a history among the saved failures that nothing can be run
// again that it has no schedule, and not that it fails no more.
func TestForeignCase(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "lost.hist"), []byte("history 1\n1-2 P1 send 1 => ok @0\n3-4 S1 scan => ok [] end=0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &memoryLog{} }), logtest.Options{Deterministic: true, Runs: 1, Failures: folder})
	if err == nil || !strings.Contains(err.Error(), "lost.hist has no schedule that could be run again") {
		t.Errorf("got %v", err)
	}
}
