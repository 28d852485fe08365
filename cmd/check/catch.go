package main

import (
	"context"
	"fmt"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
)

// A catch is a failure that was made small and saved.
type catch struct {
	number, steps int // of the schedule as it was drawn
	trial         *hunt.Trial
	runs          int    // that making it small took
	path          string // "-" if it could not be saved
	text          []byte
	judgement     judgement
}

// catch makes the case of the failure as small as the budget allows, and saves
// it. Where it cannot be saved, it is returned with the error.
func (h *hunter) catch(ctx context.Context, r *hunt.Report) (*catch, error) {
	c := &catch{number: r.FailedAt, steps: len(r.Failed.Schedule.Steps), trial: r.Failed}
	rule := r.Failed.Rule()
	if h.shrink > 0 && rule != "" && rule != hunt.Nondeterministic {
		var err error
		if c.trial, c.runs, err = h.opts.Minimize(ctx, r.Failed, h.shrink); err != nil {
			return nil, err
		}
	}
	var err error
	if c.path, err = c.trial.Save(h.folder); err != nil {
		c.path = "-" // it is printed instead
		err = fmt.Errorf("the case was not saved, it is on stdout: %w", err)
	}
	c.judgement, c.text = judged(c.trial, c.path)
	return c, err
}

// judged returns what is to be said of a trial, and the text of its case, whose
// lines that refers to.
func judged(t *hunt.Trial, file string) (judgement, []byte) {
	j := judgement{file: file, header: t.History.Header(), result: t.Result}
	h, err := t.Case()
	if err != nil {
		panic(err) // a schedule that was run has a text
	}
	text := h.AppendNotation(nil)
	if h, err = histories.Parse(file, text); err != nil {
		panic(err) // as every history does
	}
	j.header = h.Header()
	if r := checker.Check(context.Background(), h, checker.Options{}); r.Meets(j.header.Expect) {
		j.result = r
	}
	return j, text
}
