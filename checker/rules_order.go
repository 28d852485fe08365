package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// shownBy returns the answers that show two records: one answer, if one holds
// both, else the last one of each, which no other answer can call lost.
func shownBy(x, y *record) (a, b *histories.Op) {
	for _, r := range x.seenBy {
		if r.holds(y.place) {
			return r.op, r.op
		}
	}
	return x.lastAnswer().op, y.lastAnswer().op
}

func realtimeOrder(p *partition) []Finding {
	var found []Finding
	var earliest *record // of those at higher offsets, the one that is known to be done first
	done := int64(math.MaxInt64)
	for i := len(p.records) - 1; i >= 0; i-- {
		x := p.records[i]
		if s := x.send; s != nil && earliest != nil && earliest.offset > x.offset && done < s.op.Call && earliest.send != s {
			first, _ := earliest.doneBy()
			found = append(found, proof([]*histories.Op{first, s.op}, "Record %s was in the log at offset %d before the send of record %s began, which landed at the lower offset %d",
				earliest.value, earliest.offset, x.value, x.offset).should(s.op, "landed behind offset %d", earliest.offset).naming(earliest.value, x.value).where(p, earliest, x))
		}
		if _, at := x.doneBy(); at < done {
			earliest, done = x, at
		}
	}
	slices.Reverse(found)
	return found
}

// doneBy returns the operation whose return proves first that the record is in
// the log, and that time.
func (x *record) doneBy() (*histories.Op, int64) {
	var by *histories.Op
	at := int64(math.MaxInt64)
	if x.acked() {
		by, at = x.send.op, x.send.op.Return
	}
	for _, r := range x.seenBy {
		if r.op.Return < at {
			by, at = r.op, r.op.Return
		}
	}
	return by, at
}

// intNonmonotonicSends compares the values of each batch with where they were
// read. Where a batch may land twice, they may have been read in two copies.
func intNonmonotonicSends(p *partition) []Finding {
	if p.again() {
		return nil
	}
	var found []Finding
	for _, s := range p.sends {
		var last *record
		for _, v := range s.op.Values {
			x := p.firstSeen(v)
			if x == nil || len(p.sent[v]) > 1 || len(p.copies(v)) > 1 {
				continue
			}
			if last != nil && x.offset < last.offset {
				a, b := shownBy(last, x)
				found = append(found, proof([]*histories.Op{s.op, a, b}, "Record %s was sent by %s before record %s in one batch, and they are at offsets %d and %d",
					last.value, s.op.Process, v, last.offset, x.offset).should(b, "held record %s behind record %s", v, last.value).naming(v, last.value))
				break
			}
			last = x
		}
	}
	return found
}

func intNonmonotonicPolls(p *partition) []Finding {
	var found []Finding
	for _, r := range p.reads {
		for i := 1; i < len(r.op.Records); i++ {
			if a, b := r.op.Records[i-1], r.op.Records[i]; b.Offset <= a.Offset {
				found = append(found, proof([]*histories.Op{r.op}, "Offset %d (record %s) was handed to %s before offset %d (record %s) in one answer",
					a.Offset, a.Value, r.op.Process, b.Offset, b.Value).should(r.op, "held its records in the order of their offsets, each once").naming(a.Value, b.Value))
				break
			}
		}
	}
	return found
}
