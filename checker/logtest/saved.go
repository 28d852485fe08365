package logtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// saved returns the failures of earlier runs, to be tried again.
func (s *suite) saved() ([]part, error) {
	entries, err := os.ReadDir(s.retryIn)
	if s.retryIn == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), histories.Encodings[0]) {
			path := filepath.Join(s.retryIn, e.Name())
			parts = append(parts, part{"saved-" + strings.TrimSuffix(e.Name(), histories.Encodings[0]),
				func(ctx context.Context) report { return s.retry(ctx, path) }})
		}
	}
	return parts, nil
}

// retry runs the schedule of a saved failure. One that fails no more is fine,
// and stays for the next run.
func (s *suite) retry(ctx context.Context, path string) (r report) {
	h, err := histories.ReadFile(path)
	if err != nil {
		return report{err: err}
	}
	hd := h.Header()
	if hd.Schedule == "" && !checker.OfLogtest(hd) {
		return report{err: fmt.Errorf("%s has no schedule that could be run again, so that the suite did not save it: expected a failure that it saved; check verify judges other histories, wherever else they are", path)}
	}
	sch, err := schedule.Parse(path, []byte(hd.Schedule))
	if err != nil {
		return report{err: err}
	}
	if lacks := s.cannot(sch); lacks != "" {
		return report{err: fmt.Errorf("%s cannot be tried any more: the log %s; delete the file if that is meant to be so", path, lacks)}
	}
	for range s.attempts {
		t, err := s.try(ctx, sch)
		switch {
		case err != nil:
			return report{err: err}
		case t.result.Verdict == checker.Violates:
			return s.broken(ctx, path, h, t)
		case t.result.Verdict != checker.Conforms:
			r.err = fmt.Errorf("%s cannot be judged any more: %s", path, t.result.Reason)
		}
	}
	if r.err == nil {
		r.notes = []string{fmt.Sprintf("%s does not fail any more (%s before)", path, hd.Expect)}
	}
	return r
}

// cannot says which fault of a schedule the log has no more, "" if it has all.
func (s *suite) cannot(sch schedule.Schedule) string {
	for _, step := range sch.Steps {
		for _, a := range abilities {
			if step.Actor == schedule.Nemesis && step.Verb == string(a.Ability) && !s.means.has(a.Ability) {
				return a.lacks
			}
		}
	}
	return ""
}

// broken reports a saved failure that fails: by a rule that it was saved for as
// it is, and by any other as a failure of today, which the file says nothing of.
func (s *suite) broken(ctx context.Context, path string, h *histories.History, t *trial) (r report) {
	before := h.Header().Expect
	var now []string
	for _, rule := range t.result.Names() {
		switch {
		case !slices.Contains(before.Names, rule):
			now = append(now, rule)
		case len(r.failures) == 0:
			r.failures = append(r.failures, s.still(ctx, path, h, t, rule))
		}
	}
	if len(r.failures) == 0 {
		r.notes = []string{fmt.Sprintf("%s does not fail as before any more (%s) but by %s", path, before, strings.Join(now, ", "))}
	}
	if i := slices.IndexFunc(now, func(rule string) bool { return s.known[rule] == nil }); i >= 0 {
		r.failures = append(r.failures, s.found(ctx, path, t, now[i]))
	} else if len(r.failures) == 0 {
		r.failures = append(r.failures, s.report(ctx, path, t))
	}
	return r
}

// still reports a saved failure that is still one. It is small already. What it
// says is about the history that is in the file, which that of today need not
// be like, unless that history alone does not show it.
func (s *suite) still(ctx context.Context, path string, h *histories.History, t *trial, rule string) *Failure {
	then := &trial{schedule: t.schedule, history: h, result: checker.Check(context.WithoutCancel(ctx), h, checker.Options{}), stack: t.stack}
	f := &Failure{Rule: rule, Case: path, Finding: finding(then, rule),
		Schedule: t.schedule, History: h, Runs: 1, Stack: t.stack, File: path, rerun: s.again()}
	if !then.has(rule) || t.stack != "" {
		f.Finding = finding(t, rule)
	}
	f.Also = slices.DeleteFunc(slices.Clone(h.Header().Expect.Names), func(name string) bool { return name == rule })
	s.draw(ctx, f)
	if known := s.known[f.Rule]; known != nil {
		f.Known = known
	} else {
		s.known[f.Rule] = f
	}
	return f
}
