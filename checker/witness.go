package checker

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// witness explains a history that fits no order although no named rule fires.
func (s *search) witness() Finding {
	f := Finding{Name: notLinearizable, Partition: s.p.name,
		Rule: "every answer fitting one order of the log in which each operation takes effect between its call and its return"}
	g, whole := Finding{}, s.conflict
	if whole != nil {
		g = s.crossing()
	}
	if !s.budget.verdicts && !s.suffices(g.ops) {
		g = s.misfits(whole)
	}
	f.says, f.ops, f.duties, f.offsets = g.says, g.ops, g.duties, g.offsets
	f.show()
	return f
}

// suffices reports whether what some operations were told fits no order, and keeps
// what of it does not.
func (s *search) suffices(named []*histories.Op) bool {
	var told []model.Op
	for i := range s.ops {
		if isAnswer(&s.ops[i]) && slices.Contains(named, s.ops[i].Source) {
			told = append(told, s.ops[i])
		}
	}
	if len(told) == 0 || !s.misfit(told) {
		return false
	}
	least, _ := needed(s, nil, told, s.misfit)
	s.crossed = answersOf(least)
	return true
}

// answersOf returns the operations that gave answers, each once.
func answersOf(answers []model.Op) (ops []*histories.Op) {
	for i := range answers {
		if !slices.Contains(ops, answers[i].Source) {
			ops = append(ops, answers[i].Source)
		}
	}
	return ops
}

// crossing puts the linear engine's two constraints that cross into words, if it
// has some for them.
func (s *search) crossing() Finding {
	c := s.conflict
	switch {
	case c.cause == unexplained:
		return s.unexplained(c.offset)
	case c.forces == nil:
		return Finding{}
	case c.cause == disagrees, c.forbids == nil:
		return s.disagreement(c.forces)
	case c.cause == overlaps:
		first, second := valueAt(c.forbids, c.offset), valueAt(c.forces, c.offset)
		records := fmt.Sprintf("for record %s and for record %s", first, second)
		if first == second {
			records = fmt.Sprintf("both times for record %s", first)
		}
		return proof(sources(c.forces, c.forbids), "Offset %d was given away twice, %s", c.offset, records).should(c.forces.Source, "landed elsewhere")
	case c.cause == splits:
		return proof(sources(c.forces, c.forbids), "The log ended at %d, as %s was told, and that is inside a batch, of %s", c.offset, c.forbids.Source.Process, records(c.forces.Values)).
			should(c.forbids.Source, "seen all of the batch or nothing of it")
	}
	return proof(sources(c.forces, c.forbids), "The log had to reach offset %d by time %d, %s, and could not before time %d, %s",
		c.offset, c.forces.Return, forcing(c.forces), c.forbids.Call, forbidding(c.forbids)).
		should(c.forces.Source, "%s", c.instead())
}

// unexplained says who knows that an offset holds something that no send explains.
func (s *search) unexplained(offset int64) Finding {
	by := s.knows(offset)
	if by == nil {
		return Finding{}
	}
	at := firstAt(by.Records, offset)
	if at < len(by.Records) && by.Records[at].Offset == offset {
		return s.unsent(by, by.Records[at])
	}
	const none = "%s, and no send explains what offset %d holds"
	switch {
	case by.Kind == model.Append && by.Must && by.Offset > offset:
		says := fmt.Sprintf("%s was told that record %s is at offset %d", by.Source.Process, by.Values[0], by.Offset)
		return proof(sources(by), none, says, offset).should(by.Source, "been told a lower offset")
	case at < len(by.Records):
		r := by.Records[at]
		says := recounted([]claim{{by: by, what: handed, at: r.Offset, record: r.Value}})
		return proof(sources(by), none, says, offset).should(by.Source, "held no record behind offset %d", offset).around(r.Offset)
	}
	told := claim{by: by, what: reached, at: by.Low}
	if by.Exact > offset {
		told = claim{by: by, what: ended, at: by.Exact}
	}
	return proof(sources(by), none, recounted([]claim{told}), offset).should(by.Source, "been told a lower end")
}

// unsent says of a record that was handed out that no send put it there: the one that
// was acknowledged put it elsewhere. It leaves it to a search where a send did in part.
func (s *search) unsent(by *model.Op, r histories.Record) Finding {
	for i := range s.ops {
		op := &s.ops[i]
		j := slices.Index(op.Values, r.Value)
		switch {
		case op.Kind != model.Append || j < 0:
		case op.Offset == histories.None && len(op.Values) > 1:
			return Finding{}
		case op.Offset != histories.None:
			return proof(sources(by, op), "%s was handed record %s at offset %d, and %s was told that it is at offset %d", by.Source.Process, r.Value, r.Offset, op.Source.Process, op.Offset+int64(j)).
				should(by.Source, "held no record %s at offset %d", r.Value, r.Offset).around(r.Offset)
		}
	}
	return proof(sources(by), "%s was handed record %s at offset %d, and no send explains it", by.Source.Process, r.Value, r.Offset).
		should(by.Source, "held no record %s at offset %d", r.Value, r.Offset).around(r.Offset)
}

// valueAt returns what a send has at an offset, as far as that is known.
func valueAt(op *model.Op, offset int64) histories.Value {
	if i := offset - op.Offset; op.Offset != histories.None && i >= 0 && i < int64(len(op.Values)) {
		return op.Values[i]
	}
	return op.Values[0]
}

// disagreement says what an operation says against others, or against itself, if
// that is as simple as it mostly is.
func (s *search) disagreement(op *model.Op) Finding {
	by := op.Source
	for i := range s.ops {
		if other := &s.ops[i]; other != op {
			if f := s.contradict(op, other); len(f.ops) > 0 {
				return f
			}
			if f := s.contradict(other, op); len(f.ops) > 0 {
				return f
			}
		}
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
		return proof(sources(op, end), "The log ended at %d, as %s was told, and that is inside a batch, of %s", end.Exact, end.Source.Process, records(inside)).
			should(end.Source, "seen all of the batch or nothing of it")
	}
	return Finding{}
}

// contradict says that one operation put or saw a record where another one saw
// nothing, or something else. An answer from before the record was sent can't be
// blamed for that.
func (s *search) contradict(op, other *model.Op) Finding {
	for _, r := range recordsOf(op) {
		instead, differs := sawInstead(other, r)
		if !differs {
			continue
		}
		f := proof(sources(op, other), "Record %s is at offset %d, as %s was told, and %s", r.Value, r.Offset, op.Source.Process, instead).around(r.Offset)
		switch {
		case other.Kind == model.Read && slices.ContainsFunc(s.p.sent[r.Value], func(x *send) bool { return x.op.Call <= other.Return }):
			return f.should(other.Source, "held record %s at offset %d", r.Value, r.Offset)
		case op.Kind == model.Read:
			return f.should(op.Source, "held no record %s at offset %d", r.Value, r.Offset)
		}
		return f.should(op.Source, "landed elsewhere")
	}
	return Finding{}
}

// sawInstead says what an operation put or saw where another one has a record, if
// that is not the same.
func sawInstead(op *model.Op, r histories.Record) (what string, differs bool) {
	if slices.ContainsFunc(op.Empty, func(s model.Span) bool { return s.From <= r.Offset && r.Offset < s.To }) {
		return op.Source.Process + " was handed nothing there", true
	}
	for _, o := range recordsOf(op) {
		if o.Offset == r.Offset && o.Value != r.Value {
			return fmt.Sprintf("record %s is there, as %s was told", o.Value, op.Source.Process), true
		}
	}
	return "", false
}

// endsInside returns an answer that the log ended inside a batch that an operation
// put or saw, and the records of that.
func (s *search) endsInside(op *model.Op) (end *model.Op, inside []histories.Value) {
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
				return o, batch.Values
			}
		}
	}
	return nil, nil
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

// misfits puts answers into words of which only a search finds that they cross.
// With nothing else known the linear engine may see two constraints that do.
func (s *search) misfits(whole *conflict) Finding {
	core, come, certain := s.core()
	if !certain {
		return s.lastStraw(come, whole)
	}
	s.ops = knowing(s.ops, core)
	var f Finding
	if s.crosses() {
		f = s.crossing()
	}
	if len(f.ops) == 0 {
		f = s.together(core)
	}
	s.crossed = answersOf(core)
	return f.with(s.crossed...)
}

// lastStraw says no more than which answer broke the history, and names what the
// linear engine blames in the whole.
func (s *search) lastStraw(come []model.Op, whole *conflict) Finding {
	last := come[len(come)-1].Source
	f := proof([]*histories.Op{last}, "%s an order of the log; with %q no order is left", firstFit(len(come)-1), brief(last, nil, nil)).
		should(last, "been another answer, or come earlier or later")
	if whole == nil {
		return f
	}
	return f.with(sources(whole.forces)...)
}

// firstFit begins a sentence about the answers that fit.
func firstFit(n int) string {
	if n == 1 {
		return "The first answer fits"
	}
	return fmt.Sprintf("The first %d answers fit", n)
}

// crosses looks for two constraints that cross in what is left of the history.
func (s *search) crosses() bool {
	log := s.compile(s.ops)
	c, decided := runLinear(log)
	if !decided {
		_, c = divide(log)
	}
	if c != nil {
		s.refused(c)
	}
	return c != nil
}
