package checker

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// The linear engine decides without a search where every send that took effect
// has a known offset. Then the order of the sends is the order of their
// offsets, and the only question is when each took effect.
//
// Let t(i) be the instant of the i-th send by offset. A read speaks about the
// log at one instant s of its interval: every send up to some index a has taken
// effect by then, and none from some index b on. Because t never decreases,
// such an s exists if and only if a < b, t(a) <= the read's return and t(b) >=
// its call. So every read, and every send's own interval, is a lower and an
// upper bound on single t(i):
//
//	t(i) >= t(i-1), the call of send i, the calls of reads that saw it missing
//	t(i) <= the return of send i if it was acknowledged, and the returns of
//	        reads that saw it there
//
// Taking each t(i) as early as its lower bounds allow satisfies the upper
// bounds if anything does. Intervals are closed, so equal instants are fine.
//
// Sends of unknown outcome that nobody observed can be left out, unless offsets
// are dense and some offset below the highest known one is unexplained: then
// each such offset is filled by one of them. They have no upper bound, so
// exchanging two of them never helps, and the one called earliest goes first.
type linear struct {
	log      *model.Log
	appends  []placed    // by offset
	told     []int64     // ends that answers told, from where tile is on
	floats   []*model.Op // single records that may fill unexplained offsets, by call
	unplaced []*model.Op // sends that could be in more than one place
	refused  *conflict   // why the history fits no order
}

// A placed send is known to be at base <= offset < end. Where offsets may hold
// nothing, the end passing such offsets is an event of its own, without a send.
type placed struct {
	op        *model.Op // nil where the end passes offsets that hold nothing
	base, end int64
	tip       int64 // end of the last record so far

	call     int64     // it took effect no earlier
	late     *model.Op // what says so
	deadline int64     // it took effect no later
	by       *model.Op // what says so
}

// A conflict is two operations that fit no order: one forces the end of the
// log to be at least some offset by some time, the other forbids it.
type conflict struct {
	cause   cause
	offset  int64
	forces  *model.Op
	forbids *model.Op
}

// A cause is the kind of a conflict.
type cause uint8

const (
	tooLate     cause = iota // the end must have reached an offset by a time, and could not
	disagrees                // one answer contradicts all others, or itself
	overlaps                 // two batches take one offset
	splits                   // an end was told inside a batch
	unexplained              // no send explains an offset that holds something
)

// runLinear judges a log. It reports false if the question needs a search:
// repeated values, batches that could fill unexplained offsets in more than
// one way, acknowledged sends that nobody can place.
func runLinear(log *model.Log) (c *conflict, decided bool) {
	if bad := log.Contradicted(); bad != nil {
		return &conflict{cause: disagrees, forces: bad}, true
	}
	l := &linear{log: log}
	if !l.place() || !l.tile() {
		return nil, false
	}
	if l.refused == nil {
		l.bound()
	}
	if l.refused == nil {
		l.schedule()
	}
	return l.refused, true
}

func (l *linear) refuse(c conflict) bool {
	if l.refused == nil {
		l.refused = &c
	}
	return true
}

// place finds where each send is. It reports false if a send could be in more
// than one place.
func (l *linear) place() bool {
	var sent map[histories.Value]int // counted when a send does not know its offset
	var at map[histories.Value]int64
	ops := l.log.Ops()
	for i := range ops {
		op := &ops[i]
		if op.Kind != model.Append {
			continue
		}
		if sent == nil && !(op.Must && op.Offset != histories.None) {
			sent, at = l.countValues()
		}
		base, ok := l.find(op, sent, at)
		if !ok {
			l.unplaced = append(l.unplaced, op)
		}
		if base == histories.None {
			continue
		}
		l.appends = append(l.appends, placed{op: op, base: base, end: base + int64(len(op.Values)), call: op.Call, late: op, deadline: math.MaxInt64})
	}
	slices.SortStableFunc(l.floats, func(a, b *model.Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortStableFunc(l.appends, func(a, b placed) int { return cmp.Compare(a.base, b.base) })
	return len(l.unplaced) == 0
}

// countValues returns how often each value was sent, and where those that are
// at one offset only are.
func (l *linear) countValues() (sent map[histories.Value]int, at map[histories.Value]int64) {
	sent, at = map[histories.Value]int{}, make(map[histories.Value]int64, len(l.log.Known()))
	for _, r := range l.log.Known() {
		if _, twice := at[r.Value]; twice {
			at[r.Value] = ambiguous
			continue
		}
		at[r.Value] = r.Offset
	}
	for _, op := range l.log.Ops() {
		for _, v := range op.Values {
			sent[v]++
		}
	}
	return sent, at
}

const ambiguous = int64(-2)

// find returns the offset of a send's first record, None if it did not take
// effect or is a float, and false if it could be in more than one place.
func (l *linear) find(op *model.Op, sent map[histories.Value]int, at map[histories.Value]int64) (int64, bool) {
	if op.Must && op.Offset != histories.None {
		return op.Offset, true
	}
	if op.Must && l.log.Again() {
		return histories.None, false // what was read may be another landing
	}
	base, seen := histories.None, false
	for i, v := range op.Values {
		offset, known := at[v]
		if !known {
			continue
		}
		if sent[v] > 1 || offset == ambiguous {
			return histories.None, false
		}
		if !seen {
			base, seen = offset-int64(i), true
		}
	}
	switch {
	case seen && base >= 0 && (op.Offset == histories.None || op.Offset == base) && l.log.Fits(op.Values, base):
		return base, true
	case seen && op.Must:
		l.refuse(conflict{cause: disagrees, forces: op})
		return histories.None, true
	case seen:
		return histories.None, true // it cannot be where its value was read
	case op.Must, op.Offset != histories.None && l.log.Tight(), len(op.Values) > 1 && l.log.Tight():
		return histories.None, false
	}
	l.floats = append(l.floats, op)
	return histories.None, true
}

// tile checks that the sends lie side by side and explain every known record,
// and accounts for the offsets between them.
func (l *linear) tile() bool {
	known := l.log.Known()
	l.told = l.toldEnds()
	var tiles []placed
	next := int64(0)
	for _, a := range l.appends {
		if a.base < next {
			return l.refuse(conflict{cause: overlaps, offset: a.base, forces: a.op, forbids: tiles[len(tiles)-1].op})
		}
		tiles = l.between(tiles, next, a.base)
		for len(known) > 0 && known[0].Offset < a.end {
			if known[0].Offset < a.base {
				return l.refuse(conflict{cause: unexplained, offset: known[0].Offset})
			}
			known = known[1:]
		}
		tiles, next = append(tiles, a), a.end
	}
	if len(known) > 0 {
		return l.refuse(conflict{cause: unexplained, offset: known[0].Offset})
	}
	l.appends = l.between(tiles, next, l.log.Limit())
	tip := int64(0)
	for i := range l.appends {
		if a := &l.appends[i]; a.op != nil {
			tip = a.end
		}
		l.appends[i].tip = tip
	}
	return true
}

// toldEnds returns the ends that answers told, sorted.
func (l *linear) toldEnds() []int64 {
	var ends []int64
	ops := l.log.Ops()
	for i := range ops {
		if end := max(ops[i].Low, ops[i].Exact); ops[i].Kind == model.Read && end > 0 {
			ends = append(ends, end)
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// between accounts for the offsets from <= offset < to, where no send is known
// to be. Offsets that must hold something are filled by sends of unknown
// outcome. Those that may hold nothing matter only as far as somebody was told
// that the end had passed them.
func (l *linear) between(tiles []placed, from, to int64) []placed {
	free := to
	if l.log.Tight() {
		free = min(to, l.log.Start())
	}
	for len(l.told) > 0 && l.told[0] <= from {
		l.told = l.told[1:]
	}
	for ; len(l.told) > 0 && l.told[0] <= free; l.told = l.told[1:] {
		tiles = append(tiles, placed{base: from, end: l.told[0], call: math.MinInt64, deadline: math.MaxInt64})
		from = l.told[0]
	}
	for o := max(from, free); o < to; o++ {
		if len(l.floats) == 0 {
			l.refuse(conflict{cause: unexplained, offset: o})
			return tiles
		}
		f := l.floats[0]
		l.floats = l.floats[1:]
		tiles = append(tiles, placed{op: f, base: o, end: o + 1, call: f.Call, late: f, deadline: math.MaxInt64})
	}
	return tiles
}

// bound turns every interval and every read into bounds on single sends.
func (l *linear) bound() {
	for i := range l.appends {
		if a := &l.appends[i]; a.op != nil && a.op.Must {
			l.notAfter(i, a.op)
		}
	}
	ops := l.log.Ops()
	for i := range ops {
		if ops[i].Kind == model.Read {
			l.boundRead(&ops[i])
		}
	}
}

// boundRead finds the last send that was there at the read's instant and the
// first that was not.
func (l *linear) boundRead(op *model.Op) {
	there, missing := -1, len(l.appends)
	for _, r := range op.Records {
		there = max(there, l.firstFrom(r.Offset+1)-1)
	}
	there = max(there, l.firstFrom(max(op.Low, op.Exact))-1)
	if op.Exact != histories.None {
		missing = l.firstFrom(op.Exact)
		if missing > 0 && l.appends[missing-1].end > op.Exact {
			l.refuse(conflict{cause: splits, offset: op.Exact, forces: l.appends[missing-1].op, forbids: op})
		}
	}
	if op.Beyond != histories.None {
		missing = min(missing, sort.Search(len(l.appends), func(i int) bool { return l.appends[i].tip > op.Beyond }))
	}
	if there >= missing {
		l.refuse(conflict{cause: disagrees, forces: op})
		return
	}
	if there >= 0 {
		l.notAfter(there, op)
	}
	if missing < len(l.appends) {
		l.notBefore(missing, op)
	}
}

// firstFrom returns the index of the first send at or behind an offset.
func (l *linear) firstFrom(offset int64) int {
	return sort.Search(len(l.appends), func(i int) bool { return l.appends[i].base >= offset })
}

func (l *linear) notAfter(i int, by *model.Op) {
	if a := &l.appends[i]; by.Return < a.deadline {
		a.deadline, a.by = by.Return, by
	}
}

func (l *linear) notBefore(i int, by *model.Op) {
	if a := &l.appends[i]; by.Call > a.call {
		a.call, a.late = by.Call, by
	}
}

// schedule lets each send take effect as early as it may.
func (l *linear) schedule() {
	now, late := int64(math.MinInt64), (*model.Op)(nil)
	for i := range l.appends {
		a := &l.appends[i]
		if a.call > now {
			now, late = a.call, a.late
		}
		if now > a.deadline {
			l.refuse(conflict{offset: a.end, forces: a.by, forbids: late})
			return
		}
	}
}
