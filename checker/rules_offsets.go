package checker

import (
	"fmt"
	"math"

	"github.com/isrcheck/isrcheck/histories"
)

func inconsistentOffsets(p *partition) []Finding {
	var found []Finding
	for i := 1; i < len(p.records); i++ {
		x, y := p.records[i-1], p.records[i]
		if x.offset != y.offset {
			continue
		}
		if !x.precedes(y) && (y.precedes(x) || p.puts(x).Index > p.puts(y).Index) {
			x, y = y, x
		}
		a, b := p.puts(x), p.puts(y)
		f := proof([]*histories.Op{a, b}, "Offset %d has two records: record %s %s, record %s %s", x.offset, x.value, phrase(x.how), y.value, phrase(y.how)).
			should(b, "%s", phrase(func() string { return p.instead(y, x) })).naming(x.value, y.value)
		for _, z := range []*record{x, y} {
			if z.witness() == z.sender() {
				f = f.with(z.sender())
			}
		}
		found = append(found, f.where(p, x, y).then(func() []*histories.Op { return x.doneBefore(y) }))
	}
	return found
}

// witness is the operation that put a record at its offset: the first read of
// it, or its acknowledgement.
func (x *record) witness() *histories.Op {
	if len(x.seenBy) > 0 && !x.acked() {
		return x.seenBy[0].op
	}
	return x.send.op
}

func (x *record) how() string {
	switch {
	case len(x.seenBy) > 0 && !x.acked():
		return fmt.Sprintf("was read by %s", x.seenBy[0].op.Process)
	case x.acked():
		return fmt.Sprintf("was acknowledged to %s", x.send.op.Process)
	}
	return "belongs to a batch that was read"
}

// instead says what should have become of a record at another one's offset.
func (p *partition) instead(x, other *record) string {
	switch by := p.puts(x); {
	case !by.IsRead():
		return fmt.Sprintf("been given other offsets: %d was taken by record %s", other.offset, other.value)
	case x.witness() == by:
		return fmt.Sprintf("held record %s at offset %d, and nothing else there", other.value, other.offset)
	}
	part := p.seenPart(x)
	return fmt.Sprintf("held no record %s at offset %d: record %s of its batch would be at offset %d, which was taken by record %s", part.value, part.offset, x.value, x.offset, other.value)
}

func offsetMismatches(p *partition) []Finding {
	var found []Finding
	for _, s := range p.sends {
		if !p.mismatched(s) {
			continue
		}
		for i, v := range s.op.Values {
			told := s.op.Offset + int64(i)
			if at := p.firstSeen(v); at != nil && at.offset != told && len(p.sent[v]) == 1 {
				ops := []*histories.Op{s.op, at.seenBy[0].op}
				if r := p.covers(s); retries(p.config) != "" && r != nil {
					ops = append(ops, r.op) // it did not land there as well
				}
				found = append(found, proof(ops, "Record %s was acknowledged to %s at offset %d, and readers find it at offset %d",
					v, s.op.Process, told, at.offset).should(s.op, "been told offset %d", at.offset-int64(i)).naming(v))
				break
			}
		}
	}
	return found
}

// firstSeen returns the place at which a value was read first, nil if it never was:
// by the end of the answers, and by offset where they ended at one instant.
func (p *partition) firstSeen(v histories.Value) (first *record) {
	at := int64(math.MaxInt64)
	for _, x := range p.places[v] {
		for _, r := range x.seenBy {
			if end := r.op.Return; end < at || end == at && x.offset < first.offset {
				first, at = x, end
			}
		}
	}
	return first
}

func gaps(p *partition) []Finding {
	if p.config.Get("offsets") != "dense" {
		return nil
	}
	var found []Finding
	reported := map[int64]bool{}
	for _, r := range p.reads {
		next := p.scope(r)
		hole := func(to int64) {
			for ; next < to && len(found) <= perRule; next++ {
				if i := p.search(next); reported[next] || i < len(p.records) && p.records[i].offset == next {
					continue // a record is known there: lost, or skipped
				}
				reported[next] = true
				found = append(found, proof([]*histories.Op{r.op}, "Offset %d holds nothing, and %s%s read past it", next, r.op.Process, r.positioned(next)).
					should(r.op, "held a record at offset %d", next).around(next).from(p, r, next))
			}
		}
		for _, rec := range r.op.Records {
			hole(rec.Offset)
			next = max(next, rec.Offset+1)
		}
		hole(r.to)
	}
	return found
}
