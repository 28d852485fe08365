package checker

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// core returns answers that fit no order, whatever sends took effect, of which
// none can be left out. The first is the one that broke the history, the last of
// those that had come by then. It is not certain that the answers suffice if it was
// too much work to find out.
//
// Linearizability is closed under prefixes: there is one answer such that the
// history up to it is legal and the history with it is not, and it crosses with
// some before it. Those are looked for among the latest answers first, and, if
// that takes more than two, among the earliest first.
func (s *search) core() (least, come []model.Op, certain bool) {
	answers := slices.DeleteFunc(slices.Clone(s.ops), func(o model.Op) bool { return !isAnswer(&o) })
	slices.SortStableFunc(answers, func(a, b model.Op) int { return cmp.Compare(until(&a), until(&b)) })
	fit := sort.Search(len(answers)-1, func(n int) bool { return s.misfit(answers[:n+1]) })
	last, before := answers[fit:fit+1:fit+1], slices.Clone(answers[:fit])
	slices.Reverse(before)
	least, certain = needed(s, last, before, s.misfit)
	if certain && len(least) > 2 {
		slices.Reverse(before)
		if other, ok := needed(s, last, before, s.misfit); ok && len(other) < len(least) {
			least = other
		}
	}
	return least, answers[:fit+1], certain
}

// mostWork is how many operations and model steps it may take to find what is
// needed: a count, so that every machine finds the same.
const mostWork = 2_000_000

// needed returns what is needed beside what is known so that no order fits. As far
// as there is a choice it is what comes first. Halving finds the next one: the last
// of the fewest with which no order fits. It reports false if that took too much
// work.
func needed[T any](s *search, known, others []T, misfit func([]T) bool) (all []T, certain bool) {
	work := int64(0)
	try := func(more []T) bool {
		if work > mostWork {
			return false
		}
		bad := misfit(slices.Concat(known, more))
		work += s.steps + int64(len(s.ops))
		return bad
	}
	for len(others) > 0 && !try(nil) {
		n := sort.Search(len(others)-1, func(n int) bool { return try(others[:n+1]) })
		if work > mostWork {
			return append(slices.Clip(known), others[n]), false
		}
		known, others = append(slices.Clip(known), others[n]), others[:n]
	}
	return known, true
}

// misfit reports whether no order fits if no more than some answers are known.
func (s *search) misfit(known []model.Op) bool { return s.illegal(knowing(s.ops, known)) }

// illegal reports whether no order fits some operations.
func (s *search) illegal(ops []model.Op) bool {
	s.steps, s.budget.Steps = 0, min(s.budget.Steps, mostWork)
	return s.windows(s.compile(ops)) == porcupine.Illegal
}

// isAnswer reports whether an operation tells something, be it only where a send
// is that may have no effect.
func isAnswer(op *model.Op) bool {
	return op.Kind == model.Read || op.Must || op.Offset != histories.None
}

// until is when an operation has taken effect, if it ever does.
func until(op *model.Op) int64 {
	if op.Return == histories.None {
		return math.MaxInt64
	}
	return op.Return
}

// knowing returns the history as it was when the last of some answers came: others
// are not known, and what was not called yet is not there.
func knowing(ops, known []model.Op) []model.Op {
	answered, now := map[*histories.Op]bool{}, int64(math.MinInt64)
	for i := range known {
		answered[known[i].Source], now = true, max(now, until(&known[i]))
	}
	var out []model.Op
	for _, o := range ops {
		switch {
		case answered[o.Source]:
			out = append(out, o)
		case o.Kind == model.Append && o.Call <= now:
			o.Must, o.Offset, o.Return = false, histories.None, histories.None
			out = append(out, o)
		}
	}
	return out
}
