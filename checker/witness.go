package checker

import (
	"cmp"
	"fmt"
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
	g := Finding{}
	if s.conflict != nil {
		g = s.crossing()
	} else {
		g = s.firstMisfit()
	}
	f.Says, f.ops, f.duties, f.offsets = g.Says, g.ops, g.duties, g.offsets
	f.show()
	return f
}

// crossing puts the linear engine's two constraints that cross into words.
func (s *search) crossing() Finding {
	c := s.conflict
	switch {
	case c.cause == unexplained:
		by := s.knows(c.offset)
		if by == nil {
			return proof(nil, "Offset %d holds something, and no send explains it", c.offset)
		}
		return proof(sources(by), "Offset %d holds something, as %s was told, and no send explains it", c.offset, by.Source.Process).
			should(by.Source, "held nothing at offset %d, and ended before it", c.offset).around(c.offset)
	case c.forces == nil:
		return proof(sources(c.forbids), "No log ends at offset %d at any time that the answers leave", c.offset)
	case c.cause == disagrees, c.forbids == nil:
		return proof(sources(c.forces, s.denies(c.forces)), "No log agrees with all answers and with %q", brief(c.forces.Source, nil, nil))
	case c.cause == overlaps:
		return proof(sources(c.forces, c.forbids), "Offset %d was given away twice, for record %s and for record %s",
			c.offset, c.forbids.Values[0], c.forces.Values[0]).should(c.forces.Source, "landed elsewhere")
	case c.cause == splits:
		return proof(sources(c.forces, c.forbids), "The log ended at %d, as %s was told, and that is inside a batch", c.offset, c.forbids.Source.Process).
			should(c.forbids.Source, "seen all of the batch or nothing of it")
	}
	return proof(sources(c.forces, c.forbids), "The log had to reach offset %d by time %d, %s, and could not before time %d, %s",
		c.offset, c.forces.Return, forcing(c.forces), c.forbids.Call, forbidding(c.forbids)).
		should(c.forces.Source, "%s", c.instead())
}

func sources(ops ...*model.Op) []*histories.Op {
	var out []*histories.Op
	for _, o := range ops {
		if o != nil {
			out = append(out, o.Source)
		}
	}
	return out
}

// instead says what the forcing operation should have done.
func (c *conflict) instead() string {
	if c.forces.Kind == model.Append {
		return fmt.Sprintf("been acknowledged at a lower offset, or at time %d or later", c.forbids.Call)
	}
	return fmt.Sprintf("seen the log end before offset %d", c.offset)
}

// forcing says how an answer shows that the log had come so far.
func forcing(op *model.Op) string {
	if op.Kind == model.Append {
		return fmt.Sprintf("when record %s was acknowledged", op.Values[0])
	}
	return fmt.Sprintf("when %s had seen it there", op.Source.Process)
}

// forbidding says how an operation shows that the log had not come so far.
func forbidding(op *model.Op) string {
	if op.Kind == model.Append {
		return fmt.Sprintf("when the send of record %s began, which is needed to get there", op.Values[0])
	}
	return fmt.Sprintf("when %s began to ask and saw it end earlier", op.Source.Process)
}

// denies returns an operation that has something else, or nothing, where
// another one has a record; nil if there is none.
func (s *search) denies(op *model.Op) *model.Op {
	for i := range s.ops {
		if other := &s.ops[i]; other != op && (conflicts(op, other) || conflicts(other, op)) {
			return other
		}
	}
	return nil
}

// conflicts reports whether the records of one operation are not what another
// one saw at their offsets.
func conflicts(op, other *model.Op) bool {
	return slices.ContainsFunc(recordsOf(op), func(r histories.Record) bool {
		hole := slices.ContainsFunc(other.Empty, func(s model.Span) bool { return s.From <= r.Offset && r.Offset < s.To })
		return hole || slices.ContainsFunc(recordsOf(other), func(o histories.Record) bool { return o.Offset == r.Offset && o.Value != r.Value })
	})
}

// recordsOf returns the records that an operation puts or finds at offsets.
func recordsOf(op *model.Op) []histories.Record {
	if op.Kind == model.Read || !op.Must || op.Offset == histories.None {
		return op.Records
	}
	var records []histories.Record
	for i, v := range op.Values {
		records = append(records, histories.Record{Offset: op.Offset + int64(i), Value: v})
	}
	return records
}

// knows returns the answer that was first to show a record at an offset, or if
// there is none, to tell that the offset holds something.
func (s *search) knows(offset int64) *model.Op {
	for i := range s.ops {
		if slices.ContainsFunc(s.ops[i].Records, func(r histories.Record) bool { return r.Offset == offset }) {
			return &s.ops[i]
		}
	}
	var by *model.Op
	for i := range s.ops {
		op := &s.ops[i]
		told := max(op.Low, op.Exact) > offset || op.Must && op.Offset > offset ||
			slices.ContainsFunc(op.Records, func(r histories.Record) bool { return r.Offset >= offset })
		if told && (by == nil || op.Return < by.Return) {
			by = op
		}
	}
	return by
}

// firstMisfit searches for the answer that broke the history. Linearizability
// is closed under prefixes: there is one answer such that the history up to it
// is legal and the history with it is not.
func (s *search) firstMisfit() Finding {
	returns := slices.DeleteFunc(slices.Clone(s.ops), func(o model.Op) bool { return o.Return == histories.None })
	slices.SortStableFunc(returns, func(a, b model.Op) int { return cmp.Compare(a.Return, b.Return) })
	n := sort.Search(len(returns), func(n int) bool {
		s.steps = 0
		return s.windows(s.compile(prefix(s.ops, returns, n+1))) != porcupine.Ok
	})
	if n == len(returns) {
		return proof(nil, "No order of the operations fits all answers")
	}
	ops := []*histories.Op{returns[n].Source}
	if n > 0 {
		ops = append(ops, returns[n-1].Source)
	}
	return proof(ops, "The first %d answers fit an order of the log; with %q no order is left", n, brief(returns[n].Source, nil, nil)).
		should(returns[n].Source, "been another answer, or come earlier or later")
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
