package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// settle judges a partition once all of its operations are known.
func (q *quick) settle(l *quickLog) {
	if q.tight && l.limit-l.start > 2*l.values+4096 {
		q.gaveUp = true
		return
	}
	if q.dense && !q.tight && l.knownUnsent() {
		q.gaveUp = true
		return
	}
	q.fillHoles(l)
	q.placeFloats(l)
	if q.gaveUp = q.gaveUp || !l.settleKeys(); q.gaveUp {
		return
	}
	q.suspectRetained(l)
	if q.boundDoubts(l); q.gaveUp {
		return
	}
	if q.tight {
		q.explain(l)
	}
	q.suspectPassed(l)
	q.schedule(l)
	if l.scanned {
		q.suspectUnseen(l)
	}
	q.suspectFirstTold(l)
	q.focus(l)
}

// knownUnsent reports whether somebody knew of a record before the first send, of
// which any other could be a copy.
func (l *quickLog) knownUnsent() (is bool) {
	l.slots.each(l.start, l.slots.len(), func(_ int64, p *piece, i int) bool {
		is = p.deadline[i] < l.called
		return !is
	})
	return is
}

// mostUnkeyed is how many records whose keys nobody tells may be missing from
// answers.
const mostUnkeyed = 1000

// suspectPassed suspects offsets that should hold something where an answer has
// nothing, and boundaries within a batch.
func (q *quick) suspectPassed(l *quickLog) {
	unkeyed := 0
	suspicious := func(p *piece) slots { return p.passed | p.before | p.follows&p.boundary }
	l.slots.where(0, l.slots.len(), suspicious, func(o int64, p *piece, i int) bool {
		passed := p.passed.has(i) || p.before.has(i) && o >= l.start
		if passed = passed && (q.dense || p.held.has(i)); passed {
			may, keyed := l.mayVanish(o)
			if passed = !may || !keyed; !keyed {
				unkeyed++
				q.gaveUp = q.gaveUp || unkeyed > mostUnkeyed
			}
		}
		if passed || p.follows.has(i) && p.boundary.has(i) {
			q.suspectRange(l, o, o+1)
		}
		return !q.gaveUp
	})
}

// fillHoles marks the offsets of long holes.
func (q *quick) fillHoles(l *quickLog) {
	for _, h := range l.holes {
		if !h.sure {
			h.From = max(h.From, l.start)
		}
		if q.dense && h.From < h.To {
			q.suspectRange(l, h.From, h.To)
		}
		l.slots.each(h.From, h.To, func(_ int64, p *piece, i int) bool {
			p.pass(i, h.sure)
			return true
		})
	}
}

// suspectRetained takes note that complete scans that begin late have nothing
// before. Where nobody told the log start only one explains that, and then one
// record is enough to say so.
func (q *quick) suspectRetained(l *quickLog) {
	l.slots.each(l.start, l.scanFrom, func(o int64, p *piece, i int) bool {
		if l.startTold {
			p.passed.add(i)
			return true
		}
		if may, _ := l.mayVanish(o); may || !p.held.has(i) {
			return true
		}
		q.suspectRange(l, o, o+1)
		return false
	})
}

// placeFloats places the sends of unknown outcome whose values were read. Of
// several sends of a value the one called first is taken.
func (q *quick) placeFloats(l *quickLog) {
	slices.SortStableFunc(l.floats, func(a, b float) int { return cmp.Compare(a.call, b.call) })
	byValue := make(map[histories.Value]int32, len(l.floats))
	for i := len(l.floats) - 1; i >= 0; i-- {
		f := &l.floats[i]
		if f.next = -1; f.offset != histories.None {
			if f.offset < l.slots.len() {
				if p, i := l.slots.at(f.offset); unsent(p).has(i) && p.is(i, f.values[0]) {
					q.place(l, f, f.offset)
				}
			}
			continue
		}
		for _, v := range f.values {
			if next, ok := byValue[v]; ok {
				if f.next = next; len(f.values) > 1 || len(l.floats[next].values) > 1 {
					l.suspectValues[v] = true // batches that share values
					l.suspect = true
					q.gaveUp = q.gaveUp || q.strict
				}
			}
			byValue[v] = int32(i)
		}
	}
	l.slots.where(0, l.slots.len(), unsent, func(o int64, p *piece, i int) bool {
		v := p.value(i)
		n, ok := byValue[v]
		if !ok {
			q.doubt(l, o, v)
			return !q.gaveUp
		}
		f := &l.floats[n]
		if base := o - int64(slices.Index(f.values, v)); base < 0 || f.placed || !q.place(l, f, base) {
			q.doubt(l, o, v)
		}
		if len(f.values) == 1 && f.next >= 0 {
			byValue[v] = f.next
		} else if len(f.values) == 1 {
			delete(byValue, v)
		}
		return !q.gaveUp
	})
}

// place puts a batch of unknown outcome where one of its records was read.
func (q *quick) place(l *quickLog, f *float, base int64) bool {
	if !q.reach(l, base+int64(len(f.values))) {
		return false
	}
	for i, v := range f.values {
		if p, i := l.slots.at(base + int64(i)); p.sent.has(i) || p.held.has(i) && !p.is(i, v) {
			return false
		}
	}
	f.placed = true
	for i, v := range f.values {
		p, at := l.slots.at(base + int64(i))
		if p.held.has(at) {
			f.read = append(f.read, v)
		}
		p.put(at, v, f.call, i > 0, f.index)
		p.seen.add(at) // whoever saw one record of a batch proves the others
	}
	l.limit = max(l.limit, base+int64(len(f.values)))
	l.setKeys(f.key, base, int64(len(f.values)))
	return true
}

// explain fills the offsets that must hold something and that nobody read, by
// sends of unknown outcome that nobody saw, the one called earliest first (see
// linear). Where that is in question, all of them are.
func (q *quick) explain(l *quickLog) {
	var unexplained []int64
	l.slots.fill(l.start, l.limit)
	l.slots.where(l.start, l.limit, unfilled, func(o int64, _ *piece, _ int) bool {
		unexplained = append(unexplained, o)
		return true
	})
	if len(unexplained) == 0 {
		return
	}
	single := true
	var spare []*float
	for i := range l.floats {
		if f := &l.floats[i]; !f.placed {
			spare = append(spare, f)
			single = single && len(f.values) == 1 && f.offset == histories.None
		}
	}
	if !single || len(spare) < len(unexplained) {
		l.suspect = true
		if q.gaveUp = q.gaveUp || q.strict; len(spare) < len(unexplained) {
			q.suspectFirst(l, unexplained[len(spare)])
		}
	} else {
		for i, o := range unexplained {
			l.slots.notBefore(o, spare[i].call)
			p, at := l.slots.at(o)
			p.sent.add(at)
			p.seen.add(at)
		}
	}
	l.unexplained = unexplained
}

// suspectFirst suspects what was first to show that an offset holds something.
func (q *quick) suspectFirst(l *quickLog, offset int64) {
	first := int64(math.MaxInt64)
	l.slots.each(offset, l.slots.len(), func(_ int64, p *piece, i int) bool {
		first = min(first, p.deadline[i])
		return true
	})
	l.slots.each(offset, l.slots.len(), func(o int64, p *piece, i int) bool {
		if p.deadline[i] == first {
			q.suspectRange(l, o, o+1)
		}
		return !q.gaveUp
	})
}

// suspectFilling suspects every offset that nobody explains and every send that
// could, once anything is suspect that they could explain instead.
func (q *quick) suspectFilling(l *quickLog) (grown bool) {
	if !q.tight || l.filling || len(l.unexplained) == 0 && !slices.ContainsFunc(l.floats, l.partOf) {
		return false
	}
	l.filling = true
	for _, o := range l.unexplained {
		// What is behind shows that it holds something, what is before that no batch
		// fills it together with offsets below the log start.
		q.suspectRange(l, max(o-1, l.start), o+2)
	}
	for i := range l.floats {
		f := &l.floats[i]
		if f.placed {
			continue
		}
		for _, v := range f.values {
			l.suspectValues[v] = true
		}
		if f.offset != histories.None && f.offset < l.limit {
			q.suspectRange(l, f.offset, f.offset+int64(len(f.values)))
		}
	}
	return true
}

// partOf reports whether a float is a batch with a suspect value: it may be that
// none of it is in the log.
func (l *quickLog) partOf(f float) bool {
	return len(f.values) > 1 && l.suspectValues[f.values[0]]
}

// schedule lets each batch take effect as early as it may. Where that is later
// than somebody says, it suspects every offset that has to do with it: those
// that force a later instant on another, and those that forbid it.
func (q *quick) schedule(l *quickLog) {
	if !q.crossed(l) || q.gaveUp {
		return
	}
	var call, deadline int64 = math.MinInt64, math.MaxInt64
	earliest, held := int64(math.MaxInt64), histories.None
	l.slots.down(func(o int64, p *piece, i int) {
		call, deadline = max(call, p.call[i]), min(deadline, p.deadline[i])
		if p.held.has(i) {
			held = o
		}
		if p.follows.has(i) {
			return
		}
		if earliest = min(earliest, deadline); call > earliest {
			q.suspectRange(l, o, o+1)
			if held != histories.None { // that no record is at or behind o is wrong if one is
				q.suspectRange(l, held, held+1)
			}
		}
		call, deadline = math.MinInt64, math.MaxInt64
	})
	q.suspectBehindScans(l)
}

// crossed suspects the batches that cannot take effect as early as somebody says,
// and reports whether there are any.
func (q *quick) crossed(l *quickLog) (found bool) {
	var latest, deadline int64 = math.MinInt64, math.MaxInt64
	begin := int64(0) // of the batch
	for n, p := range l.slots.pieces {
		if p == nil {
			continue
		}
		for i := range pieceSize {
			if !p.follows.has(i) {
				begin, deadline = int64(n)<<pieceBits+int64(i), math.MaxInt64
			}
			latest, deadline = max(latest, p.call[i]), min(deadline, p.deadline[i])
			if latest > deadline {
				end := int64(n)<<pieceBits + int64(i) + 1
				q.suspectRange(l, begin, end)
				found, begin = true, end // each slot of a long batch but once
			}
			if q.gaveUp {
				return found
			}
		}
	}
	return found
}

// suspectBehindScans suspects what may have been read before a complete scan
// began that says that the log ends before it.
func (q *quick) suspectBehindScans(l *quickLog) {
	slices.SortFunc(l.scans, func(a, b scanEnd) int { return cmp.Compare(a.end, b.end) })
	for i := 1; i < len(l.scans); i++ {
		l.scans[i].call = max(l.scans[i].call, l.scans[i-1].call) // the latest of those that end no later
	}
	n, earliest := len(l.scans)-1, int64(math.MaxInt64)
	l.slots.down(func(o int64, p *piece, i int) {
		earliest = min(earliest, p.deadline[i])
		for n >= 0 && l.scans[n].end > o {
			n--
		}
		if n >= 0 && p.held.has(i) && earliest < l.scans[n].call {
			q.suspectRange(l, o, o+1)
		}
	})
}

// suspectUnseen has the rules look at acknowledged values that no scan showed:
// whether one should have depends on when it was.
func (q *quick) suspectUnseen(l *quickLog) {
	l.slots.where(l.start, l.slots.len(), unseenYet, func(o int64, _ *piece, _ int) bool {
		if may, _ := l.mayVanish(o); !may {
			q.suspectRange(l, o, o+1)
		}
		return !q.gaveUp
	})
}

// unseen finds the acknowledged values that nobody read, of those that are not
// suspect.
func (l *quickLog) unseen() unseen {
	u := unseen{unscanned: true}
	plain := func(p *piece) slots { return unseenYet(p) &^ p.suspect }
	l.slots.where(l.start, l.slots.len(), plain, func(o int64, p *piece, i int) bool {
		if may, _ := l.mayVanish(o); !may {
			u.count(p.value(i), int(p.index[i]))
		}
		return true
	})
	return u
}
