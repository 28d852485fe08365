package checker

import (
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// witness explains a history that fits no order although no named rule fires.
// Linearizability is closed under prefixes: there is one answer such that the
// history up to it is legal and the history with it is not.
func (s *search) witness() Finding {
	returns := slices.DeleteFunc(slices.Clone(s.ops), func(o model.Op) bool { return o.Return == histories.None })
	slices.SortStableFunc(returns, func(a, b model.Op) int { return compare(a.Return, b.Return) })
	n := sort.Search(len(returns), func(n int) bool {
		s.steps, s.stopped = 0, ""
		return s.run(prefix(s.ops, returns, n+1)) != porcupine.Ok
	})
	f := Finding{Name: notLinearizable, Partition: s.p.name,
		Rule: "every answer fitting one order of the log in which each operation takes effect between its call and its return"}
	if n == len(returns) {
		f.Says = "no order of the operations fits all answers"
		return f
	}
	ops := []*histories.Op{returns[n].Source}
	if n > 0 {
		ops = append(ops, returns[n-1].Source)
	}
	g := proof(ops, "the first %d answers fit an order of the log; with %q no order is left", n, returns[n].Source.String())
	f.Says, f.Evidence = g.Says, g.Evidence
	return f
}

// prefix returns the history as it was when the n-th answer came: later
// answers are not known yet, and what was not called yet is not there.
func prefix(ops, returns []model.Op, n int) []model.Op {
	known := map[*histories.Op]bool{}
	for _, o := range returns[:n] {
		known[o.Source] = true
	}
	now := returns[n-1].Return
	var out []model.Op
	for _, o := range ops {
		switch {
		case known[o.Source]:
			out = append(out, o)
		case o.Kind == model.Append && o.Call <= now:
			o.Must, o.Offset, o.Return = false, histories.None, histories.None
			out = append(out, o)
		}
	}
	return out
}
