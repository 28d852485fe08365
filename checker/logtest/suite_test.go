package logtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories"
)

// play is the driver of a log that is made anew for each run.
func play(open func() logtest.Log) logtest.Driver {
	return func(ctx context.Context, run *logtest.Run) error { return run.Play(ctx, open()) }
}

// TestFailuresAreKept demands that a failure is saved once, is tried first in
// the next run, and stays when it fails no more.
func TestFailuresAreKept(t *testing.T) {
	folder := t.TempDir()
	broken := true
	drive := play(func() logtest.Log { return &memoryLog{broken: broken} })
	var told []string
	opts := logtest.Options{Deterministic: true, Runs: 3, Failures: folder,
		Logf: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }}

	if rules := rulesIn(logtest.CheckLog(t.Context(), drive, opts)); len(rules) == 0 {
		t.Fatal("the log is broken, and nothing was found")
	}
	saved := files(t, folder)
	if len(saved) == 0 {
		t.Fatal("nothing was saved")
	}
	for _, path := range saved {
		h, err := histories.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if hd := h.Header(); hd.Expect.Verdict != "violation" || hd.Schedule == "" {
			t.Errorf("%s expects %q and has the schedule %q", path, hd.Expect, hd.Schedule)
		}
	}

	err := logtest.CheckLog(t.Context(), drive, opts)
	var f *logtest.Failure
	if !errors.As(err, &f) || f.File != saved[0] {
		t.Errorf("the next run does not begin with %s: %v", saved[0], err)
	}
	if now := files(t, folder); !slices.Equal(now, saved) {
		t.Errorf("saved were %v, and now %v", saved, now)
	}

	broken, told = false, nil
	if err := logtest.CheckLog(t.Context(), drive, opts); err != nil {
		t.Error(err)
	}
	if all := strings.Join(told, "\n"); !strings.Contains(all, saved[0]+" does not fail any more") {
		t.Errorf("nobody says that %s does not fail any more:\n%s", saved[0], all)
	}

	if err := os.WriteFile(filepath.Join(folder, "torn.hist"), []byte("history 1\n1-"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := logtest.CheckLog(t.Context(), drive, opts); err == nil || !strings.Contains(err.Error(), "torn.hist:2:") {
		t.Errorf("a file that cannot be read gives %v", err)
	}
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.hist"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A forgetful log loses its second batch, if it does.
type forgetful struct {
	memoryLog
	forgets bool
	n       atomic.Int64
}

func (l *forgetful) Append(ctx context.Context, client string, values []string) (int64, error) {
	if l.n.Add(1) == 2 && l.forgets {
		return logtest.NoOffset, nil
	}
	return l.memoryLog.Append(ctx, client, values)
}

// TestNondeterminism finds a log that is said to be deterministic and is not.
func TestNondeterminism(t *testing.T) {
	runs := 0
	drive := play(func() logtest.Log { runs++; return &forgetful{forgets: runs%2 == 0} })
	if rules := rulesIn(logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 3})); !slices.Contains(rules, "nondeterministic") {
		t.Errorf("found %v", rules)
	}
}

// TestFlakyFailure demands that a failure which does not come again is kept as
// it was recorded.
func TestFlakyFailure(t *testing.T) {
	runs := 0
	drive := func(ctx context.Context, run *logtest.Run) error {
		runs++
		return run.Play(ctx, &forgetful{forgets: runs == 2}) // the first is the one in which nothing happens
	}
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 3, Failures: t.TempDir()})
	var f *logtest.Failure
	if !errors.As(err, &f) || !f.Flaky || f.Rule != "lost-write" || f.File == "" {
		t.Fatalf("got %v", err)
	}
	if _, err := histories.ReadFile(f.File); err != nil {
		t.Error(err)
	}
}

// TestFailuresAreFew has a log that fails otherwise each time, and now and then:
// a folder takes a few failures by one rule, and a report is about the file that
// it names.
func TestFailuresAreFew(t *testing.T) {
	folder := t.TempDir()
	named, printed := 0, 0
	for seed := range uint64(12) {
		runs := 0
		drive := func(ctx context.Context, run *logtest.Run) error {
			runs++
			return run.Play(ctx, &forgetful{forgets: runs > 20 && runs%7 == 0})
		}
		err := logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 30, Seed: seed + 1, Pace: time.Millisecond, MinimizeRuns: 50, Failures: folder})
		var f *logtest.Failure
		if !errors.As(err, &f) {
			t.Fatalf("got %v", err)
		}
		if f.File == "" {
			printed++
			if f.Unsaved == nil || !strings.Contains(f.Error(), "history 1\n") {
				t.Errorf("it is nowhere: %v", f)
			}
			continue
		}
		named++
		h, err := histories.ReadFile(f.File)
		if err != nil || histories.Difference(h, f.History) != "" || !slices.Contains(h.Header().Expect.Names, f.Rule) {
			t.Errorf("%s is about something else than what is reported: %v, %v", f.File, f, err)
		}
	}
	if n := len(files(t, folder)); n > 8 { // by lost-write, and by what goes with it
		t.Errorf("saved are %d", n)
	}
	if named == 0 || printed == 0 {
		t.Errorf("%d were saved, %d printed", named, printed)
	}
}

// TestNoStep has a log that is wrong before it is asked for anything, and says so.
func TestNoStep(t *testing.T) {
	drive := play(func() logtest.Log { return &fake{records: []logtest.Record{{Offset: 0, Value: "a record of nobody"}}} })
	err := logtest.CheckLog(t.Context(), drive, logtest.Options{Deterministic: true, Runs: 1})
	if err == nil || !strings.Contains(err.Error(), "the smallest schedule of ") || !strings.Contains(err.Error(), "\n    no step: ") {
		t.Errorf("got %v", err)
	}
}

// TestTroubleIsNoViolation keeps apart what a log did wrong and what kept the
// suite from asking it.
func TestTroubleIsNoViolation(t *testing.T) {
	trouble := errors.New("no port is free")
	if err := logtest.CheckLog(t.Context(), func(context.Context, *logtest.Run) error { return trouble }, logtest.Options{}); !errors.Is(err, trouble) {
		t.Errorf("a driver's error becomes %v", err)
	}
	deaf := play(func() logtest.Log { return &fake{unreadable: true} })
	if err := logtest.CheckLog(t.Context(), deaf, logtest.Options{Deterministic: true, Runs: 1}); err == nil ||
		!strings.Contains(err.Error(), "the log could not be read to its end: "+errUnclear.Error()) || strings.Contains(err.Error(), "every client") {
		t.Errorf("a log that cannot be read gives %v", err)
	}
	for _, text := range []string{"many", "0", "-1", "2147483648"} {
		t.Setenv("ISRCHECK_RUNS", text)
		if err := logtest.CheckLog(t.Context(), deaf, logtest.Options{}); err == nil || !strings.Contains(err.Error(), `ISRCHECK_RUNS: expected a number from 1 on and below 2^31, found "`+text+`"`) {
			t.Errorf("%q runs give %v", text, err)
		}
	}
	if err := logtest.CheckLog(t.Context(), deaf, logtest.Options{Runs: -1}); err == nil || !strings.Contains(err.Error(), "expected Options.Runs and Options.Records of 0 or more") {
		t.Errorf("less than no runs give %v", err)
	}
}

// TestExamplesAreShort counts lines without comments: a driver is no work.
func TestExamplesAreShort(t *testing.T) {
	examples, err := filepath.Glob("example_*_test.go")
	if err != nil || len(examples) < 3 {
		t.Fatalf("examples %v, %v", examples, err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
		if n >= 80 {
			t.Errorf("%s has %d lines, want less than 80", path, n)
		}
	}
}

// TestEndOfTime ends the suite cleanly when the time is over, and says so: of the
// runs that were asked for as an error.
func TestEndOfTime(t *testing.T) {
	for _, demanded := range []int{0, 1_000_000} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runs, told := 0, ""
		err := logtest.CheckLog(ctx, func(ctx context.Context, run *logtest.Run) error {
			if runs++; runs > 30 {
				cancel()
			}
			return run.Play(ctx, &memoryLog{})
		}, logtest.Options{Deterministic: true, Runs: demanded, Logf: func(format string, args ...any) { told += fmt.Sprintf(format, args...) }})
		if demanded == 0 {
			if err != nil || !strings.Contains(told, "the time was over before all of 100 schedules were run") {
				t.Errorf("in %d runs that nobody demanded: %v\n%s", runs, err, told)
			}
			continue
		}
		var f *logtest.Failure
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "of the 1000000 drawn schedules that Options.Runs demands were run") || errors.As(err, &f) {
			t.Errorf("in %d runs: %v", runs, err)
		}
	}
}

// A pausing log stands still: what is asked of it meanwhile waits.
type pausing struct {
	memoryLog
	gate    sync.RWMutex
	overlap *atomic.Int64 // operations that were asked for during a pause
	paused  atomic.Bool
}

func (l *pausing) Pause(int) error  { l.gate.Lock(); l.paused.Store(true); return nil }
func (l *pausing) Resume(int) error { l.paused.Store(false); l.gate.Unlock(); return nil }

func (l *pausing) Append(ctx context.Context, client string, values []string) (int64, error) {
	if l.paused.Load() {
		l.overlap.Add(1)
	}
	l.gate.RLock()
	defer l.gate.RUnlock()
	return l.memoryLog.Append(ctx, client, values)
}

// TestOperationsOutlastFaults lets clients wait for a node that stands still.
func TestOperationsOutlastFaults(t *testing.T) {
	var overlap atomic.Int64
	drive := play(func() logtest.Log { return &pausing{overlap: &overlap} })
	if err := logtest.CheckLog(t.Context(), drive, logtest.Options{Runs: 5, Pace: time.Millisecond}); err != nil {
		t.Error(err)
	}
	if overlap.Load() == 0 {
		t.Error("no operation was under way during a pause")
	}
}
