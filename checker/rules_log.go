package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

func phantoms(p *partition) []Finding {
	var found []Finding
	for _, x := range p.records {
		if len(p.sent[x.value]) == 0 {
			reader := x.seenBy[0].op
			found = append(found, proof([]*histories.Op{reader}, "Record %s was read by %s at offset %d, and nobody ever sent it to %s",
				x.value, reader.Process, x.offset, p.name).should(reader, "held no record %s", x.value).naming(x.value))
		}
	}
	return found
}

func abortedReads(p *partition) []Finding {
	var found []Finding
	for _, x := range p.records {
		sends := p.sent[x.value]
		if len(sends) == 0 || len(x.seenBy) == 0 || slices.ContainsFunc(sends, takesEffect) {
			continue
		}
		reader := x.seenBy[0].op
		found = append(found, proof([]*histories.Op{sends[0].op, reader}, "Record %s was refused for certain%s and was read by %s at offset %d",
			x.value, withCode(sends[0].op), reader.Process, x.offset).
			should(sends[0].op, "ended as info, if its record may be in the log").should(reader, "held no record %s", x.value).naming(x.value))
	}
	return found
}

func takesEffect(s *send) bool { return s.op.Outcome != histories.Fail }

func withCode(o *histories.Op) string {
	if o.Code == "" {
		return ""
	}
	return " (" + o.Code + ")"
}

// deletedUnplaced reports whether a batch whose offset nobody was told may have
// been below the log start: it was not if the log reached that before its send.
func (p *partition) deletedUnplaced(s *send) bool {
	by := p.tellers.highest
	return p.start > 0 && (answered(by) < p.start || by.Return >= s.op.Call)
}

// lostUnplaced returns a complete scan that proves that an acknowledged batch
// whose offset nobody was told is gone.
func (p *partition) lostUnplaced(s *send) *read {
	return p.lacks(s, func(scan *read) bool { return scan.from <= p.start })
}

// lacks returns a complete scan that would hold an acknowledged batch whose offset
// nobody was told: the scan began afterwards and its end is known, or it reaches a
// record whose send began afterwards. It is one of those that count.
func (p *partition) lacks(s *send, counts func(scan *read) bool) *read {
	if !s.acked || s.base != histories.None || s.seen > 0 || s.op.Offset != histories.None || p.compacted() || p.deletedUnplaced(s) {
		return nil
	}
	later := p.firstSentAfter(s.op.Return)
	for _, r := range p.reads {
		if r.op.Kind != histories.Scan || !counts(r) {
			continue
		}
		if r.op.Call > s.op.Return && (r.op.End != histories.None || model.Refuted(r.op)) || later < r.to {
			return r
		}
	}
	return nil
}

// behind returns what shows that a scan reaches further than an acknowledged batch
// whose offset nobody was told, where its times and its end do not: the send of a
// record that it reaches.
func (p *partition) behind(s *send, scan *read) []*histories.Op {
	if scan.op.Call > s.op.Return && (scan.op.End != histories.None || model.Refuted(scan.op)) {
		return nil
	}
	later := p.firstSentAfter(s.op.Return)
	for _, x := range p.records[p.search(later):] {
		if x.offset == later && x.send != nil && x.send.op.Call > s.op.Return {
			return []*histories.Op{x.send.op}
		}
	}
	return nil
}

func (p *partition) compacted() bool { return p.config.Get("cleanup.policy") == "compact" }

// firstSentAfter is the least offset of a record whose send began after a time.
func (p *partition) firstSentAfter(time int64) int64 {
	first := int64(math.MaxInt64)
	for _, x := range p.records {
		if x.send != nil && x.send.op.Call > time {
			first = min(first, x.offset)
		}
	}
	return first
}
