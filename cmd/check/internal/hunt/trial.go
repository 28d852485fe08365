// Package hunt draws schedules, runs them on the reference cluster, judges
// what its clients saw, and makes a small case of a failure. It is where the
// implementation and the checker meet.
package hunt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A Trial is one schedule, run and judged.
type Trial struct {
	Schedule schedule.Schedule
	Run      *impl.Result
	History  *histories.History // of the run, with the promise it was judged by
	Result   *checker.Result

	latched string // the finding that ended a hunt, "" if none did
}

// A Setup says how trials are run and judged.
type Setup struct {
	Reads        string // what reads promise; "" leaves it to the cluster
	NoInvariants bool   // judge by what clients saw alone

	terse bool // nobody reads what permitted findings say
}

// runners are memory to run schedules in.
var runners = sync.Pool{New: func() any { return new(impl.Runner) }}

// Try runs a schedule and judges it.
func (u Setup) Try(ctx context.Context, s schedule.Schedule) (*Trial, error) {
	return u.try(ctx, s, func(*Trial) bool { return false })
}

// TryTwice is Try, and a second run that must be the same event for event.
func (u Setup) TryTwice(ctx context.Context, s schedule.Schedule) (*Trial, error) {
	return u.try(ctx, s, func(*Trial) bool { return true })
}

// try runs a schedule, judges it, and runs it again if again says so.
func (u Setup) try(ctx context.Context, s schedule.Schedule, again func(*Trial) bool) (*Trial, error) {
	runner := runners.Get().(*impl.Runner)
	defer runners.Put(runner)
	run, err := runner.Run(s, impl.Options{})
	if err != nil {
		return nil, err
	}
	t, err := u.judge(ctx, s, run)
	if err != nil || !again(t) {
		return t, err
	}
	if second := runner.Again(); second != run.Fingerprint {
		u.terse = false
		if t, err = u.judge(ctx, s, run); err != nil {
			return nil, err
		}
		t.Result.Verdict = checker.Violates
		t.Result.Findings = append(t.Result.Findings, checker.Finding{Name: Nondeterministic,
			Says: fmt.Sprintf("two runs of one schedule differ: fingerprints %s and %s", run.Fingerprint, second),
			Rule: "a schedule being the whole cause of its run"})
	}
	return t, nil
}

func (u Setup) judge(ctx context.Context, s schedule.Schedule, run *impl.Result) (*Trial, error) {
	h, err := run.History, error(nil)
	if u.NoInvariants {
		if h, err = withoutConfessions(h); err != nil {
			return nil, err
		}
	}
	if u.Reads != "" {
		hd := h.Header()
		hd.Config = hd.Config.With("reads", u.Reads)
		if h, err = h.WithHeader(hd); err != nil {
			return nil, err
		}
	}
	return &Trial{Schedule: s, Run: run, History: h, Result: checker.Confirm(ctx, h, checker.Options{Terse: u.terse})}, nil
}

// withoutConfessions returns a history without the notes of broken invariants
// and of runs that did not become calm.
// The run judges them all the same: in doing so it learns which losses are
// permitted.
func withoutConfessions(h *histories.History) (*histories.History, error) {
	marks := slices.DeleteFunc(slices.Clone(h.Marks()), func(m histories.Mark) bool {
		return checker.Confesses(&m)
	})
	return histories.New(h.Name(), h.Header(), h.Ops(), marks)
}

// NotLive is the finding of a run that did not become calm after its faults.
const NotLive = "not-live"

// Nondeterministic is the finding of two runs of one schedule that differ.
const Nondeterministic = "nondeterministic"

// Rule is the name of the finding a failed trial is known by: the one a hunt
// was for, else what clients saw before what an invariant confesses. It is ""
// if the trial did not fail.
func (t *Trial) Rule() string {
	if t.latched != "" {
		return t.latched
	}
	names := t.Result.Names()
	for _, n := range names {
		if n != NotLive && !strings.HasPrefix(n, "invariant ") {
			return n
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return ""
}

// Outcome is a verdict with the names of what was found: "violation lost-write".
func Outcome(r *checker.Result) string {
	return strings.TrimSpace(r.Verdict.String() + " " + strings.Join(r.Names(), ","))
}

// Failed reports whether the trial shows a bug, of the cluster or of the checker.
func (t *Trial) Failed() bool {
	return t.Result.Verdict == checker.Violates || t.Result.Verdict == checker.Contradictory
}

// Has reports whether a finding of that name is among the trial's.
func (t *Trial) Has(name string) bool { return slices.Contains(t.Result.Names(), name) }

// Case returns the trial as a history that holds its own cause and the verdict
// it got.
func (t *Trial) Case() (*histories.History, error) {
	s := t.Schedule
	s.Fingerprint = t.Run.Fingerprint
	text, err := s.AppendText(nil)
	if err != nil {
		return nil, err
	}
	hd := t.History.Header()
	hd.Schedule = string(text)
	hd.Expect = histories.Expect{}
	if t.Result.Verdict != checker.Contradictory { // a bug of the checker is no verdict to expect
		hd.Expect = histories.Expect{Verdict: t.Result.Verdict.String(), Names: t.Result.Names()}
	}
	return t.History.WithHeader(hd)
}

// Minimize returns the trial of the smallest schedule found that still fails
// by the same rule, and the number of schedules that took. If a seeded bug is to
// blame, the smallest one is to blame it, too: it is fine without.
func (u Setup) Minimize(ctx context.Context, t *Trial, budget int) (*Trial, int, error) {
	rule := t.Rule()
	blamed := u.isFine(ctx, cured(t.Schedule))
	small, runs := schedule.Minimize(t.Schedule, schedule.MinimizeOptions{Budget: budget}, func(s schedule.Schedule) bool {
		if ctx.Err() != nil {
			return false
		}
		c, err := u.Try(ctx, s)
		return err == nil && c.Has(rule) && (!blamed || u.isFine(ctx, cured(s)))
	})
	least, err := u.Try(context.WithoutCancel(ctx), small)
	return least, runs, err
}

// cured returns a schedule without its bugs.
func cured(s schedule.Schedule) schedule.Schedule {
	s.Bugs = nil
	return s
}

func (u Setup) isFine(ctx context.Context, s schedule.Schedule) bool {
	t, err := u.Try(ctx, s)
	return err == nil && t.Result.Verdict != checker.Violates
}
