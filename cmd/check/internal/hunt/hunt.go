package hunt

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/gen"
)

// Options says what to hunt.
type Options struct {
	Setup
	Runs     int    // schedules to draw
	Seed     uint64 // of the first; the others follow from it
	First    int    // number of the first schedule: run i of a seed is always the same
	Bug      string // seeded bug to switch on; "" for none
	Settings []schedule.Setting
	Rules    []string // stop only at a finding of one of these names; nil for any, or for those that the bug's row names where invariants count

	// Progress is told after each batch, if it is not nil.
	Progress func(*Report)

	generator gen.Options // what Settings and Bug leave to it
}

// A Report says what a hunt covered and what it found.
type Report struct {
	Runs      int // schedules run, in the order drawn
	OK        int
	Undecided int
	Reasons   map[string]int   // how many are undecided, by the kind of the reason
	FirstOf   map[string]First // the first schedule that is, by the same
	Allowed   int              // runs with findings that the settings permit
	Permitted map[string]int   // the same by the name of the finding
	Exercised checker.Exercised
	Stats     impl.Stats
	Sometimes Sometimes
	Failed    *Trial // the first that failed, nil if none did
	FailedAt  int    // its number
	Other     *Trial // the first that failed by findings that the hunt does not stop at, nil if none did
	OtherAt   int    // its number
	Last      *Trial // the last one run
}

// A First is the first schedule of which something is true.
type First struct {
	Number int
	Reason string // in full, with its numbers
}

// Draw returns schedule i of a seed. It depends on nothing else.
func Draw(o Options, i int) schedule.Schedule {
	opt := o.generator
	opt.Settings = append(opt.Settings[:len(opt.Settings):len(opt.Settings)], o.Settings...)
	if o.Bug != "" {
		opt.Bugs = []string{o.Bug}
	}
	return gen.Example(opt, draw.Mix(o.Seed, uint64(i))>>1)
}

// batch is how many schedules are run before results are looked at.
const batch = 256

// Run draws and judges schedules until one fails, all are done, or ctx ends.
// It uses all cores, and its report does not depend on how many there are.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Rules == nil && !o.NoInvariants {
		o.Rules = rulesOf(o.Bug)
	}
	defer collectSeldom()()
	o.terse = true
	r := &Report{Reasons: map[string]int{}, FirstOf: map[string]First{}, Permitted: map[string]int{}}
	for first := 0; first < o.Runs && r.Failed == nil && ctx.Err() == nil; first += batch {
		trials, err := o.batch(ctx, first, min(batch, o.Runs-first))
		if err != nil {
			return r, err
		}
		for i, t := range trials {
			if t == nil {
				return r, nil // ctx ended
			}
			r.add(t, o.First+first+i)
			if o.stops(t) {
				r.Failed, r.FailedAt = t, o.First+first+i
				break
			}
			if r.Other == nil && t.Result.Verdict == checker.Violates {
				r.Other, r.OtherAt = t, o.First+first+i
			}
		}
		if o.Progress != nil {
			o.Progress(r)
		}
	}
	return r, nil
}

// rulesOf returns the findings that a seeded bug is known by, nil for no bug.
func rulesOf(bug string) []string {
	for _, b := range impl.Bugs {
		if b.Name == bug {
			return []string{b.Anomaly, "invariant " + b.Invariant, Nondeterministic}
		}
	}
	return nil
}

// stops reports whether a trial ends the hunt, and latches the finding that
// does, so that the case is minimized for that one.
func (o *Options) stops(t *Trial) bool {
	if o.Rules == nil || t.Result.Verdict == checker.Contradictory {
		return t.Failed()
	}
	for _, rule := range o.Rules {
		if t.Has(rule) {
			t.latched = rule
			return true
		}
	}
	return false
}

// batch runs schedules side by side and returns them in order. A trial is nil
// where ctx ended first.
func (o *Options) batch(ctx context.Context, first, n int) ([]*Trial, error) {
	trials, errs := make([]*Trial, n), make([]error, n)
	var wg sync.WaitGroup
	var next atomic.Int64 // schedule that nobody has begun, for they take more and less time
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				number := o.First + first + i
				trials[i], errs[i] = o.try(ctx, Draw(*o, number), func(t *Trial) bool { return o.repeats(number, t) })
				if ctx.Err() != nil {
					trials[i] = nil // it was judged in a hurry
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// repeatEach is how many schedules of a hunt share one second run.
const repeatEach = 16

// repeats reports whether a schedule is run again after it was judged: that equal
// schedules make equal runs is what a hunt for a seeded bug takes for granted. It
// depends on the schedule alone, so that a hunt's report does, too.
func (o *Options) repeats(number int, t *Trial) bool {
	return o.Bug == "" && (number%repeatEach == 0 || t.Failed())
}

func (r *Report) add(t *Trial, number int) {
	r.Runs++
	r.Last = t
	switch t.Result.Verdict {
	case checker.Conforms:
		r.OK++
	case checker.Undecided:
		r.Undecided++
		kind := t.Result.ReasonKind
		if r.Reasons[kind]++; r.Reasons[kind] == 1 {
			r.FirstOf[kind] = First{number, t.Result.Reason}
		}
	}
	permitted := map[string]bool{}
	for _, f := range t.Result.Findings {
		if f.Allowed != "" && !permitted[f.Name] {
			permitted[f.Name] = true
			r.Permitted[f.Name]++
		}
	}
	if len(permitted) > 0 {
		r.Allowed++
	}
	r.Exercised.Add(t.Result.Exercised)
	r.Stats.Add(t.Run.Stats)
	r.Sometimes.add(t)
}
