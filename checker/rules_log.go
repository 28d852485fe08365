package checker

import (
	"fmt"
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

func lostWrites(p *partition) []Finding {
	var found []Finding
	for _, x := range p.records {
		if x.gone == nil || !x.acked() && len(x.seenBy) > 0 {
			continue
		}
		how := "acknowledged"
		if !x.acked() {
			how = "committed with the rest of its batch"
		}
		ops := append([]*histories.Op{x.send.op}, x.proofGone(p)...)
		if !x.acked() && !p.holdsPart(x.gone, x.send) {
			ops = append(ops, p.placing(x)...)
		}
		found = append(found, proof(ops, "Record %s was %s at offset %d and is gone: %s", x.value, how, x.offset, phrase(x.fate)).
			missing(x).naming(x.lostAndFound()...).around(x.offset).from(p, x.gone, x.offset))
	}
	for _, s := range p.sends {
		if scan := p.lostUnplaced(s); scan != nil {
			found = append(found, proof([]*histories.Op{s.op, scan.op}, "Record %s was acknowledged and is gone: %s read the whole log without it",
				s.op.Values[0], scan.op.Process).should(scan.op, "held record %s", s.op.Values[0]).naming(s.op.Values[0]).
				from(p, scan, max(0, p.start-1)).with(p.behind(s, scan)...))
		}
	}
	return found
}

// missing adds what the answer that lacks a record should have done, or its send
// if the answer was over before that began.
func (f Finding) missing(x *record) Finding {
	if x.send != nil && x.gone.op.Return < x.send.op.Call {
		return f.should(x.send.op, "been given an offset that nobody had read past")
	}
	return f.should(x.gone.op, "held record %s at offset %d", x.value, x.offset)
}

// deletedUnplaced reports whether a batch whose offset nobody was told may have
// been below the log start: it was not if the log reached that before its send.
func (p *partition) deletedUnplaced(s *send) bool {
	return p.start > 0 && (p.startBy == nil || p.startBy.Return >= s.op.Call)
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

// fate says in words what became of a lost record.
func (x *record) fate() string {
	r := x.gone
	if v, ok := r.holdsAt(x.offset); ok {
		return fmt.Sprintf("offset %d now holds %s", x.offset, v)
	}
	switch {
	case model.Refuted(r.op):
		return fmt.Sprintf("%s was told that the log does not exist (%s)", r.op.Process, r.op.Code)
	case r.op.Kind == histories.Scan && r.op.End != histories.None && r.op.End <= x.offset:
		return fmt.Sprintf("the healed log ends at %d", r.op.End)
	case r.op.Kind == histories.Scan:
		return fmt.Sprintf("%s read the whole log and offset %d holds nothing", r.op.Process, x.offset)
	}
	return fmt.Sprintf("%s%s read past offset %d and found nothing there", r.op.Process, r.positioned(x.offset), x.offset)
}

// proofGone returns the operations that show a record's absence, and the send
// of what took its place.
func (x *record) proofGone(p *partition) []*histories.Op {
	ops := []*histories.Op{x.gone.op}
	if v, ok := x.gone.holdsAt(x.offset); ok {
		if y := p.at[place{x.offset, v}]; y.send != nil {
			ops = append(ops, y.send.op)
		}
	}
	return ops
}

// lostAndFound returns a lost value and what took its place.
func (x *record) lostAndFound() []histories.Value {
	if v, ok := x.gone.holdsAt(x.offset); ok {
		return []histories.Value{x.value, v}
	}
	return []histories.Value{x.value}
}

func readThenLost(p *partition) []Finding {
	var found []Finding
	for _, x := range p.records {
		if x.gone == nil {
			continue
		}
		seen := slices.IndexFunc(x.seenBy, func(r *read) bool { return r.op.Return < x.gone.op.Call })
		if seen < 0 {
			continue
		}
		reader := x.seenBy[seen].op
		ops := append([]*histories.Op{reader}, x.proofGone(p)...)
		found = append(found, proof(ops, "Record %s was read by %s at offset %d and later is gone: %s",
			x.value, reader.Process, x.offset, phrase(x.fate)).should(x.gone.op, "held record %s at offset %d", x.value, x.offset).naming(x.lostAndFound()...).around(x.offset).from(p, x.gone, x.offset).with(p.keyOf(x)...))
	}
	return found
}
