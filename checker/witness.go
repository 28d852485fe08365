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
	f.says, f.ops, f.duties, f.offsets = g.says, g.ops, g.duties, g.offsets
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
		return s.disagreement(c.forces)
	case c.cause == overlaps:
		records := fmt.Sprintf("for record %s and for record %s", c.forbids.Values[0], c.forces.Values[0])
		if c.forbids.Values[0] == c.forces.Values[0] {
			records = fmt.Sprintf("both times for record %s", c.forces.Values[0])
		}
		return proof(sources(c.forces, c.forbids), "Offset %d was given away twice, %s", c.offset, records).should(c.forces.Source, "landed elsewhere")
	case c.cause == splits:
		return proof(sources(c.forces, c.forbids), "The log ended at %d, as %s was told, and that is inside a batch", c.offset, c.forbids.Source.Process).
			should(c.forbids.Source, "seen all of the batch or nothing of it")
	}
	return proof(sources(c.forces, c.forbids), "The log had to reach offset %d by time %d, %s, and could not before time %d, %s",
		c.offset, c.forces.Return, forcing(c.forces), c.forbids.Call, forbidding(c.forbids)).
		should(c.forces.Source, "%s", c.instead())
}

// disagreement says what an operation says against others, or against itself.
func (s *search) disagreement(op *model.Op) Finding {
	by := op.Source
	if other := s.denies(op); other != nil {
		return proof(sources(op, other), "No log agrees with %q and with %q", brief(by, nil, nil), brief(other.Source, nil, nil)).
			should(by, "agreed with it")
	}
	if op.Exact != histories.None && op.Exact < op.Low {
		return proof(sources(op), "%s was told that the log ended at %d, and in the same answer that it had come to %d", by.Process, op.Exact, op.Low).
			should(by, "been told an end no lower")
	}
	for _, r := range op.Records {
		if op.Exact != histories.None && r.Offset >= op.Exact {
			return proof(sources(op), "%s was handed record %s at offset %d, and was told that the log ended at %d", by.Process, r.Value, r.Offset, op.Exact).
				should(by, "held no record at or behind offset %d", op.Exact).around(r.Offset)
		}
	}
	for _, hole := range op.Empty {
		if s.options.Dense && hole.To > max(hole.From, s.options.Start) {
			o := max(hole.From, s.options.Start)
			return proof(sources(op), "%s was told that offset %d is below the end, and was handed nothing there", by.Process, o).
				should(by, "held a record at offset %d", o).around(o)
		}
	}
	if end, inside := s.endsInside(op); end != nil {
		return proof(sources(op, end), "The log ended at %d, as %s was told, and that is inside the batch of record %s", end.Exact, end.Source.Process, inside).
			should(end.Source, "seen all of the batch or nothing of it")
	}
	return proof(sources(op), "No log agrees with all answers and with %q", brief(by, nil, nil)).should(by, "been another answer")
}

// endsInside returns an answer that the log ended inside a batch that an operation
// put or saw, and the first record of that.
func (s *search) endsInside(op *model.Op) (end *model.Op, inside histories.Value) {
	known := recordsOf(op)
	for i := range s.ops {
		batch := &s.ops[i]
		if batch.Kind != model.Append || len(batch.Values) < 2 {
			continue
		}
		at := slices.IndexFunc(known, func(r histories.Record) bool { return slices.Contains(batch.Values, r.Value) })
		if at < 0 {
			continue
		}
		base := known[at].Offset - int64(slices.Index(batch.Values, known[at].Value))
		for j := range s.ops {
			if o := &s.ops[j]; o.Exact > base && o.Exact < base+int64(len(batch.Values)) {
				return o, batch.Values[0]
			}
		}
	}
	return nil, histories.Value{}
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
// is legal and the history with it is not. With fewer answers the linear engine
// may see two constraints that cross; else it is said which answer the last one
// crosses with.
func (s *search) firstMisfit() Finding {
	returns := slices.DeleteFunc(slices.Clone(s.ops), func(o model.Op) bool { return o.Return == histories.None })
	slices.SortStableFunc(returns, func(a, b model.Op) int { return cmp.Compare(a.Return, b.Return) })
	n := sort.Search(len(returns), func(n int) bool { return !s.fits(returns[:n+1]) })
	if n == len(returns) {
		return proof(nil, "No order of the operations fits all answers")
	}
	if s.crosses(returns[:n+1]) {
		return s.crossing()
	}
	last := returns[n].Source
	if n == 0 {
		return proof([]*histories.Op{last}, "No order of the sends explains %q", brief(last, nil, nil)).should(last, "been another answer")
	}
	if by := s.partner(returns[:n+1]); by != nil {
		return proof([]*histories.Op{by, last}, "%s an order of the log, and with %q only without %q",
			firstFit(n), brief(last, nil, nil), brief(by, nil, nil)).should(last, "been another answer, or come earlier or later")
	}
	return proof([]*histories.Op{last, returns[n-1].Source}, "%s an order of the log; with %q no order is left", firstFit(n), brief(last, nil, nil)).
		should(last, "been another answer, or come earlier or later")
}

// firstFit begins a sentence about the answers that fit.
func firstFit(n int) string {
	if n == 1 {
		return "The first answer fits"
	}
	return fmt.Sprintf("The first %d answers fit", n)
}

// fits reports whether an order fits if no more than some answers are known, of
// which the last is that of the instant.
func (s *search) fits(known []model.Op) bool {
	s.steps = 0
	return s.windows(s.compile(prefix(s.ops, known))) == porcupine.Ok
}

// crosses looks for two constraints that cross where no order fits some answers.
func (s *search) crosses(known []model.Op) bool {
	log := s.compile(prefix(s.ops, known))
	c, decided := runLinear(log)
	if !decided {
		_, c = divide(log)
	}
	if c != nil {
		s.refused(c)
	}
	return c != nil
}

// mostPartners is how many answers are tried as the one that the last of those
// that fit no order crosses with.
const mostPartners = 64

// partner returns the operation of the answer without which the others fit an
// order, with the last one: the latest there is, nil if none is found within the
// budget of one search.
func (s *search) partner(known []model.Op) *histories.Op {
	n, steps := len(known)-1, int64(0)
	for i := n - 1; i >= max(0, n-mostPartners) && steps < s.budget.Steps; i-- {
		if s.fits(slices.Delete(slices.Clone(known), i, i+1)) {
			return known[i].Source
		}
		steps += s.steps
	}
	return nil
}

// prefix returns the history as it was when the last of some answers came: others
// are not known, and what was not called yet is not there.
func prefix(ops, known []model.Op) []model.Op {
	answered, now := map[*histories.Op]bool{}, known[len(known)-1].Return
	for _, o := range known {
		answered[o.Source] = true
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
