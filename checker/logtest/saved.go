package logtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	sch, err := schedule.Parse(path, []byte(hd.Schedule))
	if err != nil {
		return report{err: err}
	}
	for range s.attempts {
		t, err := s.try(ctx, sch)
		if err != nil {
			return report{err: err}
		}
		if t.result.Verdict == checker.Violates {
			return report{failures: []*Failure{s.again(path, t)}}
		}
	}
	return report{notes: []string{fmt.Sprintf("%s does not fail any more (%s before)", path, hd.Expect)}}
}

// again reports a saved failure that is still one. It is small already.
func (s *suite) again(path string, t *trial) *Failure {
	names := t.result.Names()
	f := &Failure{Rule: names[0], Case: path, Finding: finding(t, names[0]), Also: names[1:],
		Schedule: t.schedule, History: t.history, Runs: 1, File: path, rerun: s.rerun}
	if known := s.known[f.Rule]; known != nil {
		f.Known = known
	} else {
		s.known[f.Rule] = f
	}
	return f
}
