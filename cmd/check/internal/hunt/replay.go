package hunt

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// A Replay compares a saved case with a new run of its schedule.
type Replay struct {
	Trial *Trial
	Stale string // how the run differs from the one that was saved, "" if it does not
	Wrong string // how its verdict differs from the one the case documents, "" if it does not
}

// As returns the setup in which a case was judged when it was saved: with the
// promise of reads that its header states, and without invariants if it
// documents a violation and confesses to nothing itself.
func (u Setup) As(saved *histories.History) Setup {
	if reads, ok := saved.Config().Stated("reads"); ok {
		u.Reads = reads
	}
	confesses := slices.ContainsFunc(saved.Marks(), func(m histories.Mark) bool {
		return checker.Confesses(&m)
	})
	if saved.Header().Expect.Verdict == checker.Violates.String() && !confesses {
		u.NoInvariants = true
	}
	return u
}

// Replay runs the schedule of a case again.
func (u Setup) Replay(ctx context.Context, saved *histories.History) (*Replay, error) {
	hd := saved.Header()
	s, err := ReadCause(saved)
	if err != nil {
		return nil, err
	}
	want := s.Fingerprint
	s.Fingerprint = ""
	t, err := unlessOver(ctx, func() (*Trial, error) { return u.As(saved).TryTwice(ctx, s) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", saved.Name(), err)
	}
	r := &Replay{Trial: t}
	if want != "" && want != t.Run.Fingerprint {
		r.Stale = fmt.Sprintf("the run's fingerprint is %s, the saved one is %s", t.Run.Fingerprint, want)
	}
	if diff := histories.Difference(saved, t.History); diff != "" {
		r.Stale = diff
	}
	if hd.Expect.Verdict != "" && !t.Result.Meets(hd.Expect) {
		r.Wrong = fmt.Sprintf("the verdict is %s, the case expects %s", Outcome(t.Result), hd.Expect)
	}
	return r, nil
}

// unlessOver returns what try does, or why ctx ended if that comes first: nothing
// ends a run that is under way.
func unlessOver(ctx context.Context, try func() (*Trial, error)) (*Trial, error) {
	type outcome struct {
		trial  *Trial
		err    error
		failed any // what it panicked with
	}
	tried := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.failed = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			tried <- o
		}()
		o.trial, o.err = try()
	}()
	select {
	case o := <-tried:
		if o.failed != nil {
			panic(o.failed)
		}
		return o.trial, cmp.Or(o.err, ctx.Err())
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
