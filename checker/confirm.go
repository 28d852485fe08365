package checker

import (
	"context"
	"slices"
	"sync"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// Confirm judges a history as [Check] does with the engine [Both], in less time where
// nothing is wrong: what the quick judge accepts, porcupine alone judges once more,
// and all of it together. Where it finds no order, the rules and the engines judge the
// history as well, for copies that retries may have made are known only to them; if
// they refuse it, the quick judge was wrong. The engine of opts is not asked for.
func Confirm(ctx context.Context, h *histories.History, opts Options) *Result {
	quickly, accepted := checkQuickly(h)
	accepted = accepted && quickly.Verdict == Conforms
	if accepted && h.Config().Get("cleanup.policy") != "compact" && ordered(ctx, h, opts, quickly) {
		return quickly
	}
	opts.Engine = Both
	r := Check(ctx, h, opts)
	if accepted && r.Verdict == Violates {
		r.Verdict, r.Reason = Contradictory, "the quick judge accepts what is a violation: "+r.first().Says
	}
	return r
}

// spare is memory for the operations of a partition that porcupine is about to judge,
// to which nothing refers once it has.
var spare = sync.Pool{New: func() any { return new([]model.Op) }}

// ordered reports whether porcupine finds an order of the operations of every
// partition, and says so in the result.
func ordered(ctx context.Context, h *histories.History, opts Options, r *Result) bool {
	r.Engine = string(Both)
	at, _ := positions(h)
	names, on := byPartition(h.Ops())
	memory := spare.Get().(*[]model.Op)
	defer spare.Put(memory)
	for _, name := range names {
		p := &partition{name: name, config: h.Config(), ops: on[name], lastTold: histories.None} // nothing is arranged
		for _, o := range p.ops {
			p.noteStart(o)
		}
		ops := slices.Grow((*memory)[:0], len(p.ops))
		for _, o := range p.ops {
			if op, ok := model.Translate(o, p.config, p.position(o, at)); ok {
				ops = append(ops, op)
			}
		}
		*memory = ops
		s := search{ctx: ctx, p: p, budget: opts.withDefaults(), compiled: model.Compile(ops, p.options())}
		verdict := s.whole()
		if r.Exercised.Steps += s.steps; verdict != porcupine.Ok {
			return false
		}
	}
	return true
}
