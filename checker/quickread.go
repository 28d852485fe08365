package checker

import (
	"math/bits"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// read takes note of what an answer with records says.
func (q *quick) read(l *quickLog, o *histories.Op, process int) {
	s := q.follow(o, process)
	from := s.from
	sure := from != atStart && o.Kind == histories.Poll // a consumer does not jump over what is deleted
	if from == atStart {
		from = 0
	}
	if o.Kind == histories.Poll {
		q.polls++
	}
	if o.Outcome != histories.OK {
		q.gaveUp = q.gaveUp || model.Refuted(o)
		return
	}
	q.exercised.Reads++
	q.exercised.Records += len(o.Records)
	if s.floor != histories.None {
		q.suspectOps(s.setBy, o.Index)
		l.suspect = true
	}
	mark, exact := o.HW, q.exact
	switch o.Kind {
	case histories.Fetch:
		from = o.From
	case histories.Scan:
		from, mark, exact = q.scan(l, o), o.End, true
	}
	if exact && mark != histories.None && mark < o.Start {
		q.suspectOps(o.Index)
		q.suspectRange(l, mark, o.Start)
	}
	if len(o.Records) == 0 {
		q.empty(l, o, from, mark, exact)
		return
	}
	first, last, ok := q.records(l, o, from, sure)
	if !ok {
		return
	}
	if mark != histories.None && last >= mark || o.LSO != histories.None && last >= o.LSO {
		q.suspectOps(o.Index)
		q.suspectRange(l, first, last+1)
	}
	if o.Kind == histories.Scan && mark > last+1 {
		q.pass(l, last+1, mark, true)
	}
	q.pass(l, last+1, o.To, true)
	if mark != histories.None {
		q.end(l, o, mark, exact)
	}
}

// A scanEnd is where a complete scan says that the log ended, and when it began.
type scanEnd struct{ end, call int64 }

// scan takes note of a complete scan and returns where it began.
func (q *quick) scan(l *quickLog, o *histories.Op) int64 {
	q.exercised.Scans++
	l.scanned = true
	if o.End != histories.None {
		l.scans = append(l.scans, scanEnd{o.End, o.Call})
	}
	switch {
	case q.dense:
		return 0
	case len(o.Records) > 0:
		from := lowest(o.Records)
		l.scanFrom = max(l.scanFrom, from)
		return from
	}
	l.scanFrom = max(l.scanFrom, o.End)
	return histories.None
}

// records takes note of an answer's records and of what it passes over: before the
// first of them for sure, or unless that was deleted. It returns the first and the
// last offset that it holds.
func (q *quick) records(l *quickLog, o *histories.Op, from int64, sure bool) (first, last int64, ok bool) {
	first, last = o.Records[0].Offset, o.Records[len(o.Records)-1].Offset
	if !q.reach(l, max(first, last)+1) {
		return first, last, false
	}
	next := first
	if from != histories.None && from < first {
		q.pass(l, from, first, sure)
	}
	for rest := o.Records; len(rest) > 0; {
		at := rest[0].Offset
		if at < next || at > last {
			return q.unsorted(l, o, from)
		}
		if at > next {
			q.pass(l, next, at, true)
		}
		n := q.hold(l, rest[:min(int64(len(rest)), last-at+1)])
		rest, next = rest[n:], at+int64(n)
	}
	l.slots.notAfter(last, o.Return)
	l.limit = max(l.limit, last+1)
	return first, last, true
}

// hold takes note of records that somebody read, as far as they are at offsets of
// one piece with nothing between them, and returns their number.
func (q *quick) hold(l *quickLog, records []histories.Record) int {
	first := records[0].Offset
	p, at := l.slots.at(first)
	n := min(len(records), pieceSize-at)
	if p.hold(at, records[:n]) {
		return n
	}
	for i := range n {
		r := &records[i]
		if r.Offset != first+int64(i) {
			return i
		}
		if !p.held.has(at + i) {
			p.set(at+i, r.Value)
		} else if !p.is(at+i, r.Value) {
			q.doubt(l, r.Offset, r.Value)
		}
		p.held.add(at + i)
		p.seen.add(at + i)
	}
	return n
}

// hold takes note of records of integers that were read and belong into the slots
// from i on, and reports whether that is all there is to say of them.
func (p *piece) hold(i int, records []histories.Record) bool {
	if p.values != nil {
		return false
	}
	integers, first := p.integer[i:][:len(records)], records[0].Offset
	all := slotRun(i, len(records))
	for missing := all &^ p.held; missing != 0; missing &= missing - 1 {
		j := bits.TrailingZeros64(uint64(missing)) - i
		n, ok := records[j].Value.Integer()
		if !ok || records[j].Offset != first+int64(j) {
			return false
		}
		integers[j] = n
		p.held.add(i + j)
	}
	for j, n := range integers {
		if r := &records[j]; r.Offset != first+int64(j) || r.Value != histories.Int(n) {
			return false
		}
	}
	p.seen |= all
	return true
}

// unsorted takes note of an answer whose records are in no order.
func (q *quick) unsorted(l *quickLog, o *histories.Op, from int64) (first, last int64, ok bool) {
	first, last = o.Records[0].Offset, o.Records[0].Offset
	for _, r := range o.Records {
		first, last = min(first, r.Offset), max(last, r.Offset)
	}
	if !q.reach(l, last+1) {
		return first, last, false
	}
	for i := range o.Records {
		q.hold(l, o.Records[i:i+1])
		l.slots.notAfter(o.Records[i].Offset, o.Return)
	}
	if l.limit = max(l.limit, last+1); from != histories.None {
		first = min(first, from)
	}
	q.suspectOps(o.Index)
	q.suspectRange(l, first, last+1)
	return first, last, true
}

// longHole is how many offsets are noted one by one when an answer passes over
// them.
const longHole = 64

// A hole is offsets at which an answer that speaks for them has nothing.
type hole struct {
	model.Span
	sure bool // unless that was deleted
}

// pass takes note that an answer that speaks for these offsets has nothing there,
// for sure or unless that was deleted.
func (q *quick) pass(l *quickLog, from, to int64, sure bool) {
	if to-from > longHole {
		l.holes = append(l.holes, hole{model.Span{From: from, To: to}, sure})
		return
	}
	if q.reach(l, to) {
		for o := from; o < to; o++ {
			p, i := l.slots.at(o)
			p.pass(i, sure)
		}
	}
}

func (p *piece) pass(i int, sure bool) {
	if sure {
		p.passed.add(i)
	} else {
		p.before.add(i)
	}
}

// empty takes note of an answer without records.
func (q *quick) empty(l *quickLog, o *histories.Op, from, mark int64, exact bool) {
	if mark != histories.None {
		q.end(l, o, mark, exact)
	}
	if from != histories.None {
		q.pass(l, from, o.To, false)
	}
	switch {
	case o.Kind == histories.Scan:
		if from != histories.None && mark > from {
			q.pass(l, from, mark, false)
		}
	case exact && from != histories.None && mark > from:
		q.pass(l, from, mark, false)
	case exact && from != histories.None:
		if q.endsBefore(l, o, from); o.Start > 0 && q.reach(l, o.Start+1) {
			p, i := l.slots.at(o.Start)
			p.boundary.add(i) // of a batch across it all or nothing was there
		}
	}
}
