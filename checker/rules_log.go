package checker

import (
	"cmp"
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
			missing(x).naming(x.lostAndFound()...).around(x.offset))
	}
	for _, s := range p.sends {
		if scan := p.lostUnplaced(s); scan != nil {
			found = append(found, proof([]*histories.Op{s.op, scan.op}, "Record %s was acknowledged and is gone: %s read the whole log without it",
				s.op.Values[0], scan.op.Process).should(scan.op, "held record %s", s.op.Values[0]).naming(s.op.Values[0]))
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
	return fmt.Sprintf("%s read past offset %d and found nothing there", r.op.Process, x.offset)
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
			x.value, reader.Process, x.offset, phrase(x.fate)).should(x.gone.op, "held record %s at offset %d", x.value, x.offset).naming(x.lostAndFound()...).around(x.offset))
	}
	return found
}

func inconsistentOffsets(p *partition) []Finding {
	var found []Finding
	for i := 1; i < len(p.records); i++ {
		x, y := p.records[i-1], p.records[i]
		if x.offset == y.offset {
			if x.witness().Index > y.witness().Index {
				x, y = y, x
			}
			a, b := x.witness(), y.witness()
			ops := []*histories.Op{a, b}
			for _, z := range []*record{x, y} {
				if !z.witness().IsRead() {
					ops = append(ops, p.placing(z)...)
				}
			}
			found = append(found, proof(ops, "Offset %d has two records: record %s %s, record %s %s",
				x.offset, x.value, phrase(x.how), y.value, phrase(y.how)).should(b, "%s", phrase(func() string { return y.instead(x) })).naming(x.value, y.value))
		}
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
	if len(x.seenBy) > 0 && !x.acked() {
		return fmt.Sprintf("was read by %s", x.seenBy[0].op.Process)
	}
	if x.acked() {
		return fmt.Sprintf("was acknowledged to %s", x.send.op.Process)
	}
	return "belongs to a batch that was read"
}

// instead says what should have become of a record at another one's offset.
func (x *record) instead(other *record) string {
	if x.witness().IsRead() {
		return fmt.Sprintf("held record %s at offset %d, and nothing else there", other.value, other.offset)
	}
	return fmt.Sprintf("been given other offsets: %d was taken by record %s", other.offset, other.value)
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

func (p *partition) firstSeen(v histories.Value) *record {
	for _, x := range p.places[v] {
		if len(x.seenBy) > 0 {
			return x
		}
	}
	return nil
}

func duplicates(p *partition) []Finding {
	var found []Finding
	for _, c := range p.surplus() {
		first, last := c.at[0], c.at[len(c.at)-1]
		a, b := shownBy(first, last)
		between := ""
		if n := len(c.at) - 2; n > 0 {
			between = fmt.Sprintf(" and %d more between them", n)
		}
		found = append(found, proof([]*histories.Op{p.firstSend(first.value).op, a, b}, "Record %s was sent %s and is in the log %s, at offsets %d and %d%s",
			first.value, times(c.able), times(len(c.at)), first.offset, last.offset, between).should(b, "held record %s at no more than %s", first.value, places(c.able)).naming(first.value))
	}
	return found
}

// A surplus is a value with more copies in the log than sends that may have
// taken effect.
type surplus struct {
	at   []*record // where it was read, by offset
	able int
}

func (p *partition) surplus() []surplus {
	var out []surplus
	for _, x := range p.records {
		if len(p.places[x.value]) < 2 {
			continue
		}
		copies, able := p.copies(x.value), 0
		for _, s := range p.sent[x.value] {
			if takesEffect(s) {
				able++
			}
		}
		if able > 0 && len(copies) > able && copies[0] == x {
			out = append(out, surplus{copies, able})
		}
	}
	return out
}

// copies returns the places at which a value was read, by offset. A copy that
// was lost is none.
func (p *partition) copies(v histories.Value) []*record {
	var at []*record
	for _, x := range p.places[v] {
		if len(x.seenBy) > 0 && x.gone == nil {
			at = append(at, x)
		}
	}
	slices.SortFunc(at, func(a, b *record) int { return cmp.Compare(a.offset, b.offset) })
	return at
}

// placing returns the answers that tell where records are of which no producer
// was told: one answer, if one tells of two.
func (p *partition) placing(records ...*record) []*histories.Op {
	var seen []*record
	for _, x := range records {
		if s := x.send; s != nil && !(s.acked && s.base == s.op.Offset) {
			seen = append(seen, p.seenPart(x))
		}
	}
	switch len(seen) {
	case 0:
		return nil
	case 1:
		return []*histories.Op{seen[0].seenBy[0].op}
	}
	a, b := shownBy(seen[0], seen[1])
	return []*histories.Op{a, b}
}

// seenPart returns a record that was read of the batch that a record was sent
// in: the record itself, if it was read.
func (p *partition) seenPart(x *record) *record {
	for i, v := range x.send.op.Values {
		if len(x.seenBy) > 0 {
			break
		}
		x = p.at[place{x.send.base + int64(i), v}]
	}
	return x
}

// shownBy returns the answers that show two records: one answer, if one holds
// both, else the last one of each, which no other answer can call lost.
func shownBy(x, y *record) (a, b *histories.Op) {
	for _, r := range x.seenBy {
		if r.holds(y.place) {
			return r.op, r.op
		}
	}
	last := func(a, b *read) int { return cmp.Compare(a.op.Return, b.op.Return) }
	return slices.MaxFunc(x.seenBy, last).op, slices.MaxFunc(y.seenBy, last).op
}

func realtimeOrder(p *partition) []Finding {
	var found []Finding
	var earliest *record // of those at higher offsets, the one that is known to be done first
	done := int64(math.MaxInt64)
	for i := len(p.records) - 1; i >= 0; i-- {
		x := p.records[i]
		if s := x.send; s != nil && earliest != nil && earliest.offset > x.offset && done < s.op.Call && earliest.send != s {
			first, _ := earliest.doneBy()
			ops := append(p.placing(earliest, x), first, s.op)
			if first.IsRead() { // which tells where the record is
				ops = append(p.placing(x), first, s.op)
			}
			found = append(found, proof(ops, "Record %s was in the log at offset %d before the send of record %s began, which landed at the lower offset %d",
				earliest.value, earliest.offset, x.value, x.offset).should(s.op, "landed behind offset %d", earliest.offset).naming(earliest.value, x.value))
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
				found = append(found, proof([]*histories.Op{r.op}, "Offset %d holds nothing, and %s read past it", next, r.op.Process).
					should(r.op, "held a record at offset %d", next).around(next))
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
