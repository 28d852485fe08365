package logtest_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories"
)

// A fragile log breaks down at its second batch.
type fragile struct {
	memoryLog
	appends atomic.Int64
	breaks  func()
}

func (l *fragile) Append(ctx context.Context, client string, values []string) (int64, error) {
	if l.appends.Add(1) == 2 {
		l.breaks()
	}
	return l.memoryLog.Append(ctx, client, values)
}

// brokenBy returns the failure of that rule, saved with what was seen until then.
func brokenBy(t *testing.T, err error, rule string) *logtest.Failure {
	t.Helper()
	var f *logtest.Failure
	if !errors.As(err, &f) || f.Rule != rule || f.File == "" {
		t.Fatalf("got %v, want a saved %s", err, rule)
	}
	h, failed := histories.ReadFile(f.File)
	if failed != nil {
		t.Fatal(failed)
	}
	if hd := h.Header(); hd.Schedule == "" || len(h.Ops()) == 0 || hd.Expect.Names[0] != rule {
		t.Errorf("saved are %d operations, expecting %s, and the schedule\n%s", len(h.Ops()), hd.Expect, hd.Schedule)
	}
	if r := checker.Check(t.Context(), h, checker.Options{}); !r.Meets(h.Header().Expect) {
		t.Errorf("saved as %s, it is judged %v", h.Header().Expect, r.Err())
	}
	if text := err.Error(); !strings.Contains(text, "saved as "+f.File) || !strings.Contains(text, "fragile") {
		t.Errorf("it says neither where it is saved nor where the log was:\n%v", err)
	}
	return f
}

// TestPanic demands that the panic of a log is a failure like any other: made
// small, saved, and tried first the next time.
func TestPanic(t *testing.T) {
	for name, deterministic := range map[string]bool{"one by one": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			drive := play(func() logtest.Log { return &fragile{breaks: func() { panic("out of cheese") }} })
			opts := logtest.Options{Deterministic: deterministic, Runs: 1, Failures: t.TempDir()}
			err := logtest.CheckLog(t.Context(), drive, opts)
			f := brokenBy(t, err, "invariant no-panic")
			if n := len(f.Schedule.Steps); n > 2 || !strings.Contains(f.Finding.Says, "out of cheese") {
				t.Errorf("it says %q after %d steps", f.Finding.Says, n)
			}
			if err = logtest.CheckLog(t.Context(), drive, opts); brokenBy(t, err, "invariant no-panic").Case != f.File {
				t.Errorf("the next run does not begin with %s: %v", f.File, err)
			}
			if now := files(t, opts.Failures); len(now) != 1 {
				t.Errorf("saved are %v", now)
			}
		})
	}
}

// TestHang ends when the time is over, though the log does not.
func TestHang(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	defer close(never)
	ctx, cancel := context.WithCancel(t.Context())
	drive := play(func() logtest.Log { return &fragile{breaks: func() { cancel(); <-never }} })
	err := logtest.CheckLog(ctx, drive, logtest.Options{Deterministic: true, Failures: t.TempDir(), Timeout: time.Millisecond})
	brokenBy(t, err, "invariant no-hang")
	if !strings.Contains(err.Error(), "not run: an earlier run did not come back") {
		t.Errorf("what was not run is not named: %v", err)
	}
}

// A stuck log never comes back from some of what it is asked.
type stuck struct {
	fragile
	asked func(client string)
}

func (l *stuck) Read(ctx context.Context, client string, from int64) ([]logtest.Record, error) {
	if l.asked != nil && l.appends.Load() > 0 {
		l.asked(client)
	}
	return l.fragile.Read(ctx, client, from)
}

// TestStuck demands that a call that never comes back is a failure soon, whatever
// time there is, whether it is a client's or the final reading's.
func TestStuck(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	wait := func() { <-never }
	for name, c := range map[string]struct {
		log           func() logtest.Log
		deterministic bool
		timeout       time.Duration
		says          string
	}{
		"append by default": {log: func() logtest.Log { return &fragile{breaks: wait} }, says: "a send of P1 within 2s"},
		"append one by one": {func() logtest.Log { return &fragile{breaks: wait} }, true, time.Millisecond, "a send of P1 within 2s"},
		"reading to the end": {func() logtest.Log {
			return &stuck{fragile{breaks: func() {}}, func(client string) {
				if client == "S1" {
					wait()
				}
			}}
		}, false, 10 * time.Millisecond, "the reading to its end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := logtest.CheckLog(context.Background(), play(c.log), logtest.Options{Deterministic: c.deterministic, Timeout: c.timeout, Failures: t.TempDir()})
			if f := brokenBy(t, err, "invariant no-hang"); !strings.Contains(f.Finding.Says, c.says) {
				t.Errorf("it says %s, want something about %s", f.Finding.Says, c.says)
			} else if first, _, _ := strings.Cut(f.Stack, "\n\n"); !strings.Contains(first, "fragile") && !strings.Contains(first, "stuck") {
				t.Errorf("the first goroutine is not the one that hangs:\n%s", first)
			} else if !slices.ContainsFunc(f.Finding.Evidence, func(e checker.Evidence) bool { return e.Should == "come back" }) {
				t.Errorf("the operation that hangs is no proof: %+v", f.Finding.Evidence)
			}
		})
	}
}

// A hopeless log panics whenever it is asked, the later the longer its context
// has been over.
type hopeless struct{ memoryLog }

func (l *hopeless) Append(ctx context.Context, client string, _ []string) (int64, error) {
	if client != "P1" {
		<-ctx.Done()
		time.Sleep(5 * time.Millisecond)
	}
	panic("fragile: out of cheese, " + client)
}

// TestPanicAgain has clients panic when the run has ended because another did.
func TestPanicAgain(t *testing.T) {
	err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &hopeless{} }),
		logtest.Options{Runs: 3, Failures: t.TempDir(), Timeout: time.Millisecond, Pace: time.Millisecond})
	brokenBy(t, err, "invariant no-panic")
	time.Sleep(50 * time.Millisecond) // those that are late
}

// TestGoroutineEnded has a log end the goroutine that called it, as
// testing.T.FailNow does.
func TestGoroutineEnded(t *testing.T) {
	drive := play(func() logtest.Log { return &fragile{breaks: runtime.Goexit} })
	f := brokenBy(t, logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 1, Failures: t.TempDir()}), "invariant no-panic")
	if !strings.Contains(f.Finding.Says, "ended the goroutine") {
		t.Errorf("it says %s", f.Finding.Says)
	}
}

// A lost log answers with numbers that are no offsets.
type lost struct {
	fragile
	numbers
}

// numbers are answers, if they are not 0.
type numbers struct{ at, read, end int64 }

func (l *lost) Append(ctx context.Context, client string, values []string) (int64, error) {
	base, err := l.fragile.Append(ctx, client, values)
	if l.at != 0 {
		base = l.at
	}
	return base, err
}

func (l *lost) Read(ctx context.Context, client string, from int64) ([]logtest.Record, error) {
	records, err := l.fragile.Read(ctx, client, from)
	if l.read != 0 && len(records) > 0 {
		records = []logtest.Record{{Offset: l.read, Value: records[0].Value}}
	}
	return records, err
}

func (l *lost) End(ctx context.Context, client string) (int64, error) {
	if l.end != 0 && l.appends.Load() > 0 {
		return l.end, nil
	}
	return l.memoryLog.End(ctx, client)
}

// TestNoOffsets demands that a number that is no offset is a failure of the log,
// saved once, and not one of the recording.
func TestNoOffsets(t *testing.T) {
	for _, log := range []numbers{{at: -2}, {at: math.MinInt64}, {at: math.MaxInt64}, {read: -1}, {read: math.MaxInt64}, {end: -1}, {end: -5}} {
		for _, deterministic := range []bool{false, true} {
			drive := play(func() logtest.Log { return &lost{fragile{breaks: func() {}}, log} })
			opts := logtest.Options{Deterministic: deterministic, Runs: 3, Failures: t.TempDir()}
			err := logtest.CheckLog(t.Context(), drive, opts)
			var f *logtest.Failure
			if !errors.As(err, &f) || f.Rule != "invariant real-offsets" || strings.Contains(err.Error(), "recording") {
				t.Errorf("%+v: %v", log, err)
			}
			if saved := files(t, opts.Failures); len(saved) != 1 {
				t.Errorf("saved are %v", saved)
			}
		}
	}
}

// TestNothingAtStake fails a log that acknowledges nothing: no promise was
// tried.
func TestNothingAtStake(t *testing.T) {
	drive := play(func() logtest.Log {
		return &fake{append: func(*fake, string, []string) (int64, error) { return 0, errUnclear }}
	})
	for _, runs := range []int{1, 20} {
		err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: runs})
		if err == nil || !strings.Contains(err.Error(), "nothing was at stake") || strings.Contains(err.Error(), "every client") {
			t.Errorf("%d runs: %v", runs, err)
		}
	}
}

// TestOtherFailureIsNotHidden has a saved failure fail by another rule: that is
// a failure of its own, with a file of its own.
func TestOtherFailureIsNotHidden(t *testing.T) {
	breaks := func() { panic("out of cheese") }
	drive := play(func() logtest.Log { return &fragile{breaks: breaks} })
	opts := logtest.Options{Deterministic: true, Runs: 1, Failures: t.TempDir()}
	old := brokenBy(t, logtest.CheckLog(t.Context(), drive, opts), "invariant no-panic")

	drive = play(func() logtest.Log { return &memoryLog{broken: true} })
	err := logtest.CheckLog(t.Context(), drive, opts)
	var f *logtest.Failure
	if !errors.As(err, &f) || f.Rule == "invariant no-panic" || f.Case != old.File || f.File == old.File || f.File == "" {
		t.Fatalf("got %v", err)
	}
	h, failed := histories.ReadFile(f.File)
	if failed != nil || h.Header().Expect.Names[0] != f.Rule {
		t.Errorf("%s does not hold the %s that it is named after: %v", f.File, f.Rule, failed)
	}
}

// TestUnfinished ends the process by a panic that no one else can recover. What
// was under way is on disk, and the next run begins with it.
func TestUnfinished(t *testing.T) {
	if folder := os.Getenv("LOGTEST_DIES_IN"); folder != "" {
		drive := play(func() logtest.Log {
			return &fragile{breaks: func() {
				go panic("out of cheese")
				select {}
			}}
		})
		logtest.TestLog(t, drive, logtest.Options{Deterministic: true, Failures: folder})
		return
	}
	if folder := os.Getenv("LOGTEST_LIVES_IN"); folder != "" {
		drive := play(func() logtest.Log { return &memoryLog{broken: true} })
		logtest.TestLog(t, drive, logtest.Options{Deterministic: true, Runs: 1, Failures: folder})
		return
	}
	folder, caches := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", caches)
	dies := func() string {
		self := exec.Command(os.Args[0], "-test.run=^TestUnfinished$")
		self.Env = append(os.Environ(), "LOGTEST_DIES_IN="+folder)
		out, err := self.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "out of cheese") {
			t.Fatalf("the process did not die of its panic: %v\n%s", err, out)
		}
		return string(out)
	}
	dies()
	left, err := filepath.Glob(filepath.Join(caches, "isrcheck/logtest/*.jsonl"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left are %v, %v", left, err)
	}
	h, err := histories.ReadFile(left[0])
	if err != nil || len(h.Ops()) < 2 || h.Header().Schedule == "" {
		t.Fatalf("what was under way is not on disk: %v", err)
	}

	again := dies()
	test, _, _ := strings.Cut(left[0], "-")
	last := test + "-last.jsonl"
	if !strings.Contains(again, "TestUnfinished: the last run of this test ended in the middle of a schedule, which is run again now; see what happened until then with: check explain "+last) {
		t.Errorf("nobody says what ended the process before:\n%s", again)
	}
	if h, err = histories.ReadFile(last); err != nil || len(h.Ops()) < 2 {
		t.Errorf("what happened is lost: %v", err)
	}

	t.Setenv("LOGTEST_LIVES_IN", folder)
	lives := exec.Command(os.Args[0], "-test.run=^TestUnfinished$", "-test.v")
	out, err := lives.CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "found in the schedule that was not finished") || !strings.Contains(text, "the schedule is:") {
		t.Errorf("the next run does not begin with it: %v\n%s", err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(caches, "isrcheck/logtest/*.jsonl")); len(left) != 1 || left[0] != last {
		t.Errorf("there are still %v, though the run has come to its end", left)
	}
}
