package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// witness explains a history that fits no order although no named rule fires.
func (s *search) witness() Finding {
	f := Finding{Name: notLinearizable, Partition: s.p.name,
		Rule: "every answer fitting one order of the log in which each operation takes effect between its call and its return"}
	g := s.crossing()
	if s.conflict == nil {
		g = s.firstMisfit()
	}
	f.Says, f.ops = g.Says, g.ops
	f.show()
	return f
}

// crossing puts the linear engine's two constraints that cross into words.
func (s *search) crossing() Finding {
	c := s.conflict
	switch {
	case c == nil:
		return Finding{}
	case c.forces == nil:
		return proof(nil, "offset %d holds something, or has to, and no send explains it", c.offset)
	case c.offset == histories.None || c.forbids == nil:
		return proof(sources(c.forces), "no log agrees with the answer to %q", brief(c.forces.Source))
	case c.forces.Source == c.forbids.Source:
		return proof(sources(c.forces), "one answer says that the end had passed offset %d and that it had not: %q", c.offset, brief(c.forces.Source))
	}
	return proof(sources(c.forces, c.forbids), "the log had to reach offset %d by %d, which %q needs, and could not before %d, which %q shows",
		c.offset, c.forces.Return, brief(c.forces.Source), c.forbids.Call, brief(c.forbids.Source))
}

func sources(ops ...*model.Op) []*histories.Op {
	var out []*histories.Op
	for _, o := range ops {
		out = append(out, o.Source)
	}
	return out
}

// firstMisfit searches for the answer that broke the history. Linearizability
// is closed under prefixes: there is one answer such that the history up to it
// is legal and the history with it is not.
func (s *search) firstMisfit() Finding {
	returns := slices.DeleteFunc(slices.Clone(s.ops), func(o model.Op) bool { return o.Return == histories.None })
	slices.SortStableFunc(returns, func(a, b model.Op) int { return cmp.Compare(a.Return, b.Return) })
	n := sort.Search(len(returns), func(n int) bool {
		s.steps = 0
		return s.run(prefix(s.ops, returns, n+1)) != porcupine.Ok
	})
	if n == len(returns) {
		return proof(nil, "no order of the operations fits all answers")
	}
	ops := []*histories.Op{returns[n].Source}
	if n > 0 {
		ops = append(ops, returns[n-1].Source)
	}
	return proof(ops, "the first %d answers fit an order of the log; with %q no order is left", n, brief(returns[n].Source))
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
