package logtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What [Options] leave out.
const (
	defaultTimeout      = time.Second
	defaultPace         = 50 * time.Millisecond
	defaultMinimizeTime = 20 * time.Second
	defaultRuns         = 100
	shortRuns           = 10
)

// TestLog tests a log: first the failures that were saved, then fixed cases, and
// then drawn ones, in subtests of those names.
func TestLog(t *testing.T, drive Driver, opts Options) {
	t.Helper()
	ctx, runs := t.Context(), defaultRuns
	if testing.Short() {
		runs = shortRuns
	}
	reserve := time.Duration(math.MaxInt64)
	if end, ok := t.Deadline(); ok { // leave time to report
		reserve = time.Until(end) / 10
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-reserve))
		defer cancel()
	}
	s, err := newSuite(ctx, drive, opts, runs)
	if err != nil {
		t.Fatal(err)
	}
	s.grace = min(s.grace, reserve/2)
	s.retryIn = opts.Failures
	if s.retryIn == "" {
		s.retryIn = filepath.Join("testdata", "failures", strings.ReplaceAll(t.Name(), "/", "-"))
	}
	s.saveIn = s.retryIn
	s.test, s.tested = t.Name(), tested()
	s.rerun = command(t.Name(), s.tested)
	journals := journalsOf(s.retryIn, t.Name())
	keep := journals.next()
	if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
		s.saveIn, s.draws = t.ArtifactDir(), true
		keep = filepath.Join(s.saveIn, "unfinished.jsonl")
	}
	// Past testing.T, whose log is lost if the process ends.
	parts, err := s.parts(journals, func(note string) { fmt.Fprintf(os.Stderr, "%s: %s\n", t.Name(), note) })
	if err != nil {
		t.Fatal(err)
	}
	s.journal = openJournal(keep)
	defer s.journal.end()
	for _, skipped := range s.lacks() {
		t.Log("skipped: " + skipped)
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(ctx).tell(t) })
	}
}

// tell reports to a subtest.
func (r report) tell(t *testing.T) {
	t.Helper()
	for _, note := range r.notes {
		t.Log(printable(note))
	}
	for _, f := range r.failures {
		t.Error(printable(f.Error()))
	}
	if r.err != nil {
		t.Error(printable(r.err.Error()))
	}
	if r.skipped != "" {
		t.Skip("skipped: " + r.skipped)
	}
}

// CheckLog is TestLog for use outside tests. Its error joins a [*Failure] for
// each rule that the log broke, and what else went wrong.
func CheckLog(ctx context.Context, drive Driver, opts Options) error {
	s, err := newSuite(ctx, drive, opts, defaultRuns)
	if err != nil {
		return err
	}
	s.saveIn, s.retryIn = opts.Failures, opts.Failures
	journals := journalsOf(opts.Failures, "")
	logf := opts.Logf
	if logf == nil {
		logf = func(string, ...any) {}
	}
	for _, skipped := range s.lacks() {
		logf("skipped: %s", skipped)
	}
	parts, err := s.parts(journals, func(note string) { logf("%s", note) })
	if err != nil {
		return err
	}
	s.journal = openJournal(journals.next())
	defer s.journal.end()
	var errs []error
	for _, p := range parts {
		r := p.run(ctx)
		for _, note := range r.notes {
			logf("%s: %s", p.name, note)
		}
		for _, f := range r.failures {
			if f.Known == nil {
				errs = append(errs, f)
			}
		}
		if r.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, r.err))
		}
	}
	return errors.Join(errs...)
}
