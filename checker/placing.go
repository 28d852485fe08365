package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// puts is the operation that says first where a record is: the acknowledgement of
// its batch with that offset, or an answer with a record of the batch.
func (p *partition) puts(x *record) *histories.Op {
	if w := x.witness(); w.IsRead() || x.send.base == x.send.op.Offset {
		return w
	}
	return p.seenPart(x).seenBy[0].op
}

// sender is the send that put a record there, nil if none is known.
func (x *record) sender() *histories.Op {
	if x.send == nil {
		return nil
	}
	return x.send.op
}

// precedes reports whether a record was in the log before the send of another one
// began.
func (x *record) precedes(y *record) bool {
	_, done := x.doneBy()
	return y.send != nil && done < y.send.op.Call
}

// doneBefore returns what shows that a record was in the log before the send of
// another one began, if it was.
func (x *record) doneBefore(y *record) []*histories.Op {
	if by, _ := x.doneBy(); x.precedes(y) {
		return []*histories.Op{by, y.send.op}
	}
	return nil
}

// where adds what shows that the batches of records are where they are said to be,
// if the operations that are named already do not, or show one of them elsewhere:
// one answer, if one tells of two.
func (f Finding) where(p *partition, records ...*record) Finding {
	named := slices.Clone(f.ops)
	return f.then(func() []*histories.Op { return p.located(named, records) })
}

func (p *partition) located(named []*histories.Op, records []*record) []*histories.Op {
	var seen []*record
	var others []*histories.Op
	for _, x := range records {
		if x.send == nil {
			continue
		}
		told := x.send.acked && x.send.base == x.send.op.Offset
		shown, elsewhere := p.shows(named, x.send, told)
		part := p.seenPart(x)
		switch {
		case told && (shown || elsewhere == nil):
			continue
		case !shown && len(part.seenBy) > 0:
			if seen = append(seen, part); told {
				continue
			}
		}
		others = append(others, elsewhere...)
	}
	switch len(seen) {
	case 0:
		return others
	case 1:
		return append([]*histories.Op{seen[0].seenBy[0].op}, others...)
	}
	a, b := shownBy(seen[0], seen[1])
	return append([]*histories.Op{a, b}, others...)
}

// shows reports whether one of the operations shows a record of a batch where the
// batch is. It also returns why no record that they show elsewhere tells where the
// batch is: another send of its value, or an answer that has it at another place.
// Where its producer was told the place any value will do, else one that no other
// send can have put there.
func (p *partition) shows(named []*histories.Op, s *send, told bool) (there bool, elsewhere []*histories.Op) {
	for i, v := range s.op.Values {
		for _, x := range p.places[v] {
			if !slices.ContainsFunc(named, x.isIn) {
				continue
			}
			if x.offset == s.base+int64(i) {
				there = there || told || len(p.sent[v]) == 1
			} else {
				elsewhere = append(elsewhere, p.otherwise(x, s)...)
			}
		}
	}
	return there, elsewhere
}

// otherwise returns why a record of a batch does not tell where the batch is.
func (p *partition) otherwise(x *record, s *send) (by []*histories.Op) {
	if len(p.sent[x.value]) > 1 {
		for _, other := range p.sent[x.value] {
			by = append(by, other.op)
		}
		return by
	}
	for _, y := range p.places[x.value] {
		if y != x && len(y.seenBy) > 0 {
			return []*histories.Op{y.seenBy[0].op}
		}
	}
	return []*histories.Op{s.op} // its producer was told the place
}

// isIn reports whether an answer holds the record.
func (x *record) isIn(answer *histories.Op) bool {
	_, ok := slices.BinarySearchFunc(x.seenBy, answer.Index, func(r *read, index int) int { return r.op.Index - index })
	return ok
}

// seenPart returns a record that was read of the batch that a record was sent
// in: the record itself, if it was read. One that no other send can have put there
// comes before others.
func (p *partition) seenPart(x *record) *record {
	part, proves := x, func(x *record) bool { return len(x.seenBy) > 0 && len(p.sent[x.value]) == 1 }
	for i, v := range x.send.op.Values {
		if proves(part) {
			return part
		}
		if y := p.at[place{x.send.base + int64(i), v}]; len(part.seenBy) == 0 || proves(y) {
			part = y
		}
	}
	return part
}
