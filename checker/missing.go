package checker

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// findMissing compares each answer with the records known at the offsets it
// speaks for. The work is proportional to the records it should have held.
func (p *partition) findMissing() {
	for _, r := range p.reads {
		for i := p.search(p.scope(r)); i < len(p.records) && p.records[i].offset < r.to; i++ {
			x := p.records[i]
			switch {
			case r.holds(x.place):
			case !p.mayVanish(x):
				x.miss(r)
			case !x.keyed() && (p.unkeyed == nil || x.offset < p.unkeyed.offset):
				p.unkeyed = x
			}
		}
		if r.op.Kind == histories.Scan {
			for i := p.search(max(r.op.End, 0)); i < len(p.records); i++ {
				if x := p.records[i]; !r.holds(x.place) && p.endsBefore(r, x) {
					x.goneBy(r)
				}
			}
		}
	}
}

// miss notes an answer that should have held the record and does not. It
// proves a loss unless the record was seen at the same time or later.
func (x *record) miss(r *read) {
	if x.lastSeen() >= r.op.Call {
		x.skipped = append(x.skipped, r)
	} else {
		x.goneBy(r)
	}
}

// explainTies leaves an answer that lacks a record to the loss of it, where that is
// all that is known to be wrong. An answer that overlaps with every one that holds
// the record came before it, behind it, or behind its loss. If the record certainly
// was lost, or settings let it, nobody is accused of passing over it as well.
func (p *partition) explainTies() {
	for _, x := range p.records {
		lost := x.gone != nil && (x.acked() || slices.ContainsFunc(x.seenBy, func(r *read) bool { return r.op.Return < x.gone.op.Call }))
		if len(x.skipped) == 0 || !lost && cmp.Or(truncation(p.config), allowedByName(p.config, lostWrite)) == "" {
			continue
		}
		lastSeen := x.seenBy[len(x.seenBy)-1].op.Call
		tied := func(r *read) bool { return lastSeen <= r.op.Return }
		if i := slices.IndexFunc(x.skipped, tied); i >= 0 && x.gone == nil {
			x.goneBy(x.skipped[i])
		}
		x.skipped = slices.DeleteFunc(x.skipped, tied)
	}
}

// goneBy notes an answer that proves the record lost.
func (x *record) goneBy(r *read) {
	if x.gone == nil || r.op.Call < x.gone.op.Call {
		x.gone = r
	}
}

// endsBefore reports whether a scan says that the log ends at or before a
// record that was there before the scan began, or that came with another the
// scan holds.
func (p *partition) endsBefore(scan *read, x *record) bool {
	told := scan.op.End != histories.None && x.offset >= scan.op.End || model.Refuted(scan.op)
	if !told {
		return false
	}
	if x.acked() && x.send.op.Return < scan.op.Call {
		return true
	}
	if slices.ContainsFunc(x.seenBy, func(r *read) bool { return r.op.Return < scan.op.Call }) {
		return true
	}
	return x.send != nil && p.holdsPart(scan, x.send)
}

// holdsPart reports whether an answer holds some record of a batch, which
// commits as a whole.
func (p *partition) holdsPart(r *read, s *send) bool {
	for i, v := range s.op.Values {
		if r.holds(place{s.base + int64(i), v}) {
			return true
		}
	}
	return false
}
