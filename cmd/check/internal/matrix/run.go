package matrix

import (
	"context"
	"fmt"
	"iter"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A run is a schedule that was run and judged, with what its permissions depend on.
type run struct {
	trial   *hunt.Trial
	final   *histories.Op // the scan of the healed log, nil if it failed
	log     map[int64]histories.Value
	weak    bool // sends were acknowledged by less than all
	retried bool // sends were repeated, and nothing told their copies
	excused bool // something happened that nobody promises to survive
}

// try runs a schedule, and judges it if the run is one of the row.
func try(ctx context.Context, f *Fault, s schedule.Schedule) (*run, error) {
	var p passage
	first, err := impl.Run(s, p.watch(&s))
	if err != nil || !f.is(&p) {
		return nil, err
	}
	t, err := hunt.Setup{}.Try(ctx, s)
	if err != nil {
		return nil, err
	}
	if first.Fingerprint != t.Run.Fingerprint {
		return nil, fmt.Errorf("two runs of one schedule differ: fingerprints %s and %s", first.Fingerprint, t.Run.Fingerprint)
	}
	return about(t), nil
}

func about(t *hunt.Trial) *run {
	config := t.History.Config()
	r := &run{trial: t, weak: config.Get("acks") != "all", excused: t.Run.Unsafe != "", log: map[int64]histories.Value{}}
	for _, s := range t.Schedule.Settings {
		r.retried = r.retried || s.Key == "retries" && s.Value != "0"
	}
	r.retried = r.retried && config.Get("enable.idempotence") != "true"
	ops := t.History.Ops()
	for i := range ops {
		if o := &ops[i]; o.Kind == histories.Scan && o.Outcome == histories.OK {
			r.final = o
			for _, rec := range o.Records {
				r.log[rec.Offset] = rec.Value
			}
		}
	}
	return r
}

// holds reports whether the healed log has a value at an offset.
func (r *run) holds(at int64, v histories.Value) bool {
	got, ok := r.log[at]
	return ok && got == v
}

// acknowledged are the sends whose client was told an offset.
func (r *run) acknowledged() iter.Seq[*histories.Op] {
	return r.answered(func(o *histories.Op) bool { return o.Kind == histories.Send && o.Offset != histories.None })
}

// reads are those that were answered, the final scan among them.
func (r *run) reads() iter.Seq[*histories.Op] { return r.answered((*histories.Op).IsRead) }

func (r *run) answered(is func(*histories.Op) bool) iter.Seq[*histories.Op] {
	return func(yield func(*histories.Op) bool) {
		ops := r.trial.History.Ops()
		for i := range ops {
			if o := &ops[i]; o.Outcome == histories.OK && is(o) && !yield(o) {
				return
			}
		}
	}
}

// proven returns the largest end of the committed log that an answer proves which
// came before an operation began, and who got it: by a read, or by an
// acknowledgement of all. own leaves out what other clients know.
func (r *run) proven(before *histories.Op, own bool) (by *histories.Op, end int64) {
	known := func(o *histories.Op) bool {
		return o.Return < before.Call && (!own || o.Process == before.Process)
	}
	for o := range r.answered(known) {
		if proves := r.proves(o); proves > end {
			by, end = o, proves
		}
	}
	return by, end
}

func (r *run) proves(o *histories.Op) int64 {
	switch {
	case o.Kind == histories.Send && !r.weak:
		return o.Offset + int64(len(o.Values))
	case o.Kind == histories.List:
		return o.Offset
	case o.IsRead():
		return max(o.HW, o.End)
	}
	return 0
}

// failed reports whether the judge found what nothing permits.
func (r *run) failed() bool {
	v := r.trial.Result.Verdict
	return v == checker.Violates || v == checker.Contradictory
}
