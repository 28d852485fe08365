package checker

import (
	"math"

	"github.com/isrcheck/isrcheck/histories"
)

// giveUp leaves the whole history to the rules.
func (q *quick) giveUp() bool {
	q.gaveUp = true
	return true
}

// doubt suspects an offset at which two values, or two sends of one, are said
// to be.
func (q *quick) doubt(l *quickLog, offset int64, v histories.Value) {
	l.suspectValues[v] = true
	l.doubts = append(l.doubts, histories.Record{Offset: offset, Value: v})
	q.suspectRange(l, offset, offset+1)
}

// A sendBounds is when the sends of a value took effect, and at which offsets they were
// said to be.
type sendBounds struct{ call, deadline, first, last int64 }

// A displaced record is one that a send was told to be at an offset that another has.
type displaced struct {
	value histories.Value
	sendBounds
}

// boundDoubts lets the sends of values at doubtful offsets bound those offsets,
// too, with the batches they may be part of, and suspects all of those.
func (q *quick) boundDoubts(l *quickLog) {
	if len(l.doubts) == 0 || q.gaveUp {
		return
	}
	sends := map[histories.Value]sendBounds{}
	join := func(v histories.Value, with sendBounds) {
		b, ok := sends[v]
		if !ok {
			b = with
		}
		sends[v] = sendBounds{max(b.call, with.call), min(b.deadline, with.deadline), min(b.first, with.first), max(b.last, with.last)}
	}
	for _, d := range l.displaced {
		join(d.value, d.sendBounds)
	}
	l.slots.where(0, l.slots.len(), func(p *piece) slots { return p.sent }, func(o int64, p *piece, i int) bool {
		if l.suspectValues[p.value(i)] {
			join(p.value(i), sendBounds{p.call[i], p.deadline[i], o, o})
		}
		return true
	})
	for i := range l.floats {
		for _, v := range l.floats[i].values {
			if l.suspectValues[v] {
				join(v, sendBounds{l.floats[i].call, math.MaxInt64, math.MaxInt64, 0})
			}
		}
	}
	for _, d := range l.doubts {
		q.suspectRange(l, d.Offset-l.batch+1, d.Offset+l.batch)
		b, ok := sends[d.Value]
		if !ok || q.gaveUp {
			continue
		}
		if q.ordered { // its producer's other sends are on one side or the other
			q.suspectRange(l, min(d.Offset, b.first), max(d.Offset, b.last)+1)
		}
		l.slots.notBefore(max(0, d.Offset-l.batch+1), b.call)
		l.slots.notAfter(d.Offset+l.batch-1, b.deadline)
	}
}

// suspectOps has the rules look at operations that are wrong by themselves.
func (q *quick) suspectOps(indexes ...int) {
	q.gaveUp = q.gaveUp || q.strict
	for _, i := range indexes {
		q.ops[i] = true
	}
}

// suspectRange has the rules look at offsets. It reports whether one of them
// was not suspect before.
func (q *quick) suspectRange(l *quickLog, from, to int64) (grown bool) {
	if q.strict && q.giveUp() {
		return false
	}
	l.suspect = true
	from = max(from, 0)
	if to-from > 4*l.values+1<<16 && q.giveUp() || !q.reach(l, to) {
		return false
	}
	for o := from; o < to; o++ {
		p, i := l.slots.at(o)
		grown = grown || !p.suspect.has(i)
		p.suspect.add(i)
	}
	return grown
}

// suspectFirstTold suspects what was first to show that a doubtful offset holds
// something.
func (q *quick) suspectFirstTold(l *quickLog) {
	if len(l.doubts) == 0 {
		return
	}
	doubtful := map[int64]bool{}
	for _, d := range l.doubts {
		doubtful[d.Offset] = true
	}
	first := int64(math.MaxInt64)
	var by []int64
	l.slots.down(func(o int64, p *piece, i int) {
		if p.deadline[i] < first {
			first, by = p.deadline[i], by[:0]
		}
		if p.deadline[i] == first && len(by) < mostPipelined {
			by = append(by, o)
		}
		if doubtful[o] {
			for _, o := range by {
				q.suspectRange(l, o, o+1)
			}
		}
	})
}

// focus closes what is suspected of a partition under what the rules look at:
// all offsets at which a suspect value is, all values at a suspect offset, and
// whole batches.
func (q *quick) focus(l *quickLog) {
	if !l.suspect {
		return
	}
	for again := true; again && !q.gaveUp; {
		again = q.everyPlace(l)
		again = q.wholeBatches(l) || again
		again = q.wholeFloats(l) || again
		again = q.suspectFilling(l) || again
	}
}

// everyPlace suspects the values at suspect offsets, and all offsets of suspect
// values. Around a value that is in two places, or may be, a batch of it may be
// anywhere.
func (q *quick) everyPlace(l *quickLog) (grown bool) {
	places := map[histories.Value]int{}
	l.slots.where(0, l.slots.len(), held, func(_ int64, p *piece, i int) bool {
		v := p.value(i)
		if p.suspect.has(i) && !l.suspectValues[v] {
			grown, l.suspectValues[v] = true, true
		}
		if l.suspectValues[v] {
			places[v]++
		}
		return true
	})
	for i := range l.floats {
		if f := &l.floats[i]; !f.placed {
			for _, v := range f.values {
				places[v]++
			}
		}
	}
	l.slots.where(0, l.slots.len(), held, func(o int64, p *piece, i int) bool {
		if !l.suspectValues[p.value(i)] {
			return true
		}
		around := int64(1)
		if places[p.value(i)] > 1 {
			around = l.batch
		}
		grown = q.suspectRange(l, o-around+1, o+around) || grown
		return !q.gaveUp
	})
	return grown
}

// wholeBatches suspects all of a batch of which a part is suspect.
func (q *quick) wholeBatches(l *quickLog) (grown bool) {
	suspect := false // the slot before
	l.slots.each(0, l.slots.len(), func(_ int64, p *piece, i int) bool {
		if p.follows.has(i) && suspect && !p.suspect.has(i) {
			p.suspect.add(i)
			grown = true
		}
		suspect = p.suspect.has(i)
		return true
	})
	suspect, follows := false, false // the slot behind
	l.slots.down(func(_ int64, p *piece, i int) {
		if follows && suspect && !p.suspect.has(i) {
			p.suspect.add(i)
			grown = true
		}
		suspect, follows = p.suspect.has(i), p.follows.has(i)
	})
	return grown
}

// wholeFloats suspects all values of a send of which one is suspect.
func (q *quick) wholeFloats(l *quickLog) (grown bool) {
	for i := range l.floats {
		f := &l.floats[i]
		n := 0
		for _, v := range f.values {
			if l.suspectValues[v] {
				n++
			}
		}
		if n > 0 && f.ordered && !f.placed {
			q.gaveUp = true // where it is among the producer's sends is in question
		}
		if n == 0 || n == len(f.values) {
			continue
		}
		for _, v := range f.values {
			l.suspectValues[v] = true
		}
		grown = true
	}
	return grown
}
