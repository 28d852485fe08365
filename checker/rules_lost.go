package checker

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

func lostWrites(p *partition) []Finding {
	var found []Finding
	for _, x := range p.records {
		if x.gone == nil || !x.acked() && len(x.seenBy) > 0 {
			continue
		}
		lost := p.absent(x)
		lost.accuse()
		f := proof([]*histories.Op{x.send.op, lost.by.op}, "Record %s was %s and %s", x.value, phrase(func() string { return p.promised(x) }), phrase(lost.says))
		found = append(found, lost.of(f))
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
		lost, reader := p.absent(x), x.seenBy[seen].op
		f := proof([]*histories.Op{reader, x.gone.op}, "Record %s was read by %s at offset %d and later %s", x.value, reader.Process, x.offset, phrase(lost.says)).with(p.keyOf(x)...)
		found = append(found, lost.of(f))
	}
	return found
}

// promised says why a record has to be in the log at its offset.
func (p *partition) promised(x *record) string {
	switch {
	case !x.acked():
		return fmt.Sprintf("committed with the rest of its batch at offset %d", x.offset)
	case x.send.base == x.send.op.Offset:
		return fmt.Sprintf("acknowledged at offset %d", x.offset)
	case len(x.seenBy) > 0:
		return fmt.Sprintf("acknowledged, was read by %s at offset %d", x.seenBy[0].op.Process, x.offset)
	}
	part := p.seenPart(x)
	return fmt.Sprintf("acknowledged with record %s, which %s read at offset %d,", part.value, part.seenBy[0].op.Process, part.offset)
}

// An absence is a record that an answer proves not to be at its offset.
type absence struct {
	p *partition
	*record
	by      *read   // that answer
	instead *record // that the answer holds there, nil if it holds none
}

func (p *partition) absent(x *record) absence {
	a := absence{p: p, record: x, by: x.gone}
	if v, ok := x.gone.holdsAt(x.offset); ok {
		a.instead = p.at[place{x.offset, v}]
	}
	return a
}

// taken reports whether another record was there before this one was sent: it is no
// loss that it is not.
func (a absence) taken() bool { return a.instead != nil && a.instead.precedes(a.record) }

// accuse takes the answer that puts a record where another was for the one that does
// not have it there, if it says both.
func (a *absence) accuse() {
	if r := a.p.readOf[a.p.puts(a.record)]; a.taken() && r != nil && r.holds(a.instead.place) {
		a.by = r
	}
}

// moved returns where the last complete scan has the record, if it was sent once:
// nil if it has it nowhere.
func (a absence) moved() *record {
	scan := a.p.lastScan
	if scan == nil || len(a.p.sent[a.value]) > 1 {
		return nil
	}
	for _, x := range a.p.places[a.value] {
		if x != a.record && x.isIn(scan.op) {
			return x
		}
	}
	return nil
}

// says completes the record and what was promised of it.
func (a absence) says() string {
	if a.taken() {
		return fmt.Sprintf("is not at offset %d: record %s was, before the send of record %s began", a.offset, a.instead.value, a.value)
	}
	if to := a.moved(); to != nil {
		return fmt.Sprintf("is not there any more: %s, and the last scan has it at offset %d", a.fate(), to.offset)
	}
	return "is gone: " + a.fate()
}

// fate says what became of its place.
func (a absence) fate() string {
	r := a.by
	switch {
	case a.instead != nil:
		return fmt.Sprintf("offset %d now holds %s", a.offset, a.instead.value)
	case model.Refuted(r.op):
		return fmt.Sprintf("%s was told that the log does not exist (%s)", r.op.Process, r.op.Code)
	case r.op.Kind == histories.Scan && r.op.End != histories.None && r.op.End <= a.offset:
		return fmt.Sprintf("the healed log ends at %d", r.op.End)
	case r.op.Kind == histories.Scan:
		return fmt.Sprintf("%s read the whole log and offset %d holds nothing", r.op.Process, a.offset)
	}
	return fmt.Sprintf("%s%s read past offset %d and found nothing there", r.op.Process, r.positioned(a.offset), a.offset)
}

// of completes a finding that names what promised the record and what lacks it:
// with what these rest on, and who is at fault.
func (a absence) of(f Finding) Finding {
	f = f.naming(a.value).around(a.offset).from(a.p, a.by, a.offset)
	if a.instead != nil {
		f = f.naming(a.instead.value)
	}
	switch late := a.send != nil && a.by.op.Return < a.send.op.Call; {
	case a.taken():
		f = f.should(a.p.puts(a.record), "%s", phrase(func() string { return a.p.instead(a.record, a.instead) })).
			with(a.instead.doneBefore(a.record)...)
	case late && a.p.puts(a.record).IsRead():
		part := a.p.seenPart(a.record)
		f = f.naming(part.value).should(a.p.puts(a.record), "held no record %s at offset %d", part.value, part.offset)
	case late:
		f = f.should(a.send.op, "been given an offset that nobody had read past")
	default:
		f = f.should(a.by.op, "held record %s at offset %d", a.value, a.offset)
	}
	named := slices.Clone(f.ops)
	return f.then(func() []*histories.Op { return a.found(named) })
}

// found is what shows where the record was and where it is now, and, if that takes no
// more operations, the send of what is in its place.
func (a absence) found(named []*histories.Op) []*histories.Op {
	by := a.p.located(named, []*record{a.record})
	switch {
	case a.moved() != nil:
		return append(by, a.p.lastScan.op)
	case len(by) == 0 && len(named) == 2 && a.instead != nil && a.instead.send != nil:
		return []*histories.Op{a.instead.send.op}
	}
	return by
}
