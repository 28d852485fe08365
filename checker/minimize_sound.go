package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// What minimizing takes away must never be what is wrong with the rest. A named
// rule says in words what is wrong, and these were said of the whole. That no
// order is left says nothing of the kind, and where offsets are dense a record
// is missed by every rule. There a part is tried only if it is legal whenever
// the whole is: this file finds what has to stay for that.

// A batch is a send whose offsets are known. They are its own: no other send can
// have put its values there.
type batch struct{ base, end int64 }

// surroundings are what a history says of the target's partition as a whole.
type surroundings struct {
	start   int64 // the highest log start told, and by which operation first
	startBy int
	copied  []*histories.Op // sends of values that others sent as well
	limit   int64           // nothing is known at or behind it
	batches map[int]batch   // by index of their sends
	held    []int64         // offsets of batches, sorted
	first   int             // the send that was called first, -1 unless any offset may hold a copy of it
	read    map[histories.Value][]int64
	turns   map[int]step // of polls; nil as long as nobody asked
}

// survey looks at the whole, as far as what stays depends on it.
func (m *shortening) survey() {
	m.surroundings = surroundings{startBy: -1, first: -1, batches: map[int]batch{}, read: map[histories.Value][]int64{}}
	dense := m.packed(m.sparse)
	sent := map[histories.Value]int{}
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.On != m.target.Partition {
			continue
		}
		if start := startTold(o); start > m.start {
			m.start, m.startBy = start, o.Index
		}
		for _, v := range o.Values {
			sent[v]++
		}
		if !dense {
			continue
		}
		m.limit = max(m.limit, o.HW, o.End)
		if o.Kind == histories.List {
			m.limit = max(m.limit, o.Offset)
		}
		for _, r := range o.Records {
			m.limit = max(m.limit, r.Offset+1)
			if at := m.read[r.Value]; !slices.Contains(at, r.Offset) {
				m.read[r.Value] = append(at, r.Offset)
			}
		}
	}
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.On == m.target.Partition && slices.ContainsFunc(o.Values, func(v histories.Value) bool { return sent[v] > 1 }) {
			m.copied = append(m.copied, o)
		}
	}
	if dense {
		m.surveySends(sent)
	}
}

func (m *shortening) surveySends(sent map[histories.Value]int) {
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.Kind != histories.Send || o.On != m.target.Partition {
			continue
		}
		if m.first < 0 && mayHaveHappened(o) && mayRepeat(m.config) {
			m.first = o.Index
		}
		if base := m.base(o, sent); base >= 0 {
			b := batch{base, base + int64(len(o.Values))}
			m.batches[o.Index], m.limit = b, max(m.limit, b.end)
			for offset := b.base; offset < b.end; offset++ {
				m.held = append(m.held, offset)
			}
		}
	}
	slices.Sort(m.held)
	m.held = slices.Compact(m.held)
}

// base returns where a send is, None if that is not known.
func (m *shortening) base(o *histories.Op, sent map[histories.Value]int) int64 {
	if promises(o, m.config) && o.Offset != histories.None {
		return o.Offset
	}
	for i, v := range o.Values {
		if at := m.read[v]; mayHaveHappened(o) && sent[v] == 1 && len(at) == 1 {
			return at[0] - int64(i)
		}
	}
	return histories.None
}

// packed reports whether every offset of a part holds a record. Where there are
// transactions, the judge does not count on it.
func (m *shortening) packed(sparse bool) bool {
	return !sparse && !m.thinned && m.config.Get(offsets) == "dense" && m.transactions == nil
}

// sound is a part with what has to stay. It reports false if there is none.
func (m *shortening) sound(k kept) (kept, bool) {
	packed := m.packed(k.sparse)
	k.sparse = !packed
	if m.target.Partition == "" {
		return k, true
	}
	k.gone = slices.Clone(k.gone)
	if m.careful(k.sparse) {
		m.keepStart(k.gone)
		m.keepCopies(k)
	}
	return k, !packed || !(m.strict && m.cut.blind) && m.keepSends(k.gone)
}

// careful reports whether a part has to be legal whenever the whole is.
func (m *shortening) careful(sparse bool) bool {
	return m.strict || m.packed(sparse) || m.target.Name == notLinearizable
}

// keepStart keeps what tells the highest log start: without it more offsets
// would be in scope.
func (m *shortening) keepStart(gone []bool) {
	if m.startBy < 0 || m.cut.from > m.start {
		return
	}
	for i := range m.whole.Ops() {
		if o := &m.whole.Ops()[i]; o.On == m.target.Partition && !gone[o.Index] && startTold(o) == m.start {
			return
		}
	}
	gone[m.startBy] = false
}

// keepCopies keeps all sends of a value of which one stays: any of them can have
// put it where it was read, but one that was refused.
func (m *shortening) keepCopies(k kept) {
	for again := len(m.copied) > 0; again; {
		stays := map[histories.Value]bool{}
		for _, o := range m.copied {
			for _, v := range o.Values {
				stays[v] = stays[v] || !k.gone[o.Index] && !k.dropped[v]
			}
		}
		again = false
		for _, o := range m.copied {
			if k.gone[o.Index] && mayHaveHappened(o) && slices.ContainsFunc(o.Values, func(v histories.Value) bool { return stays[v] }) {
				k.gone[o.Index], again = false, true
			}
		}
	}
}

// keepSends keeps the sends within the cut, and no others. It reports false if
// one is within it in part. Those of which nobody knows where they are follow.
func (m *shortening) keepSends(gone []bool) bool {
	var lost []*histories.Op
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		b, known := m.batches[o.Index]
		switch {
		case o.On != m.target.Partition: // another log
			gone[o.Index] = true
		case o.Kind != histories.Send:
		case known && b.base < m.cut.to && b.end > m.cut.from:
			if b.base < m.cut.from || b.end > m.cut.to {
				return false
			}
			gone[o.Index] = false
		case known && slices.ContainsFunc(o.Values, m.readWithin):
			return false // it is in two places
		case known:
			gone[o.Index] = true
		case slices.ContainsFunc(o.Values, m.readWithin):
			if m.mayLandBehind(o) {
				return false
			}
			gone[o.Index] = false
		case mayHaveHappened(o):
			lost = append(lost, o)
		}
	}
	return m.keepLost(gone, lost) && (m.first < 0 || !gone[m.first] || !m.careful(true) || m.explained())
}

// mayLandBehind reports whether a send of which nobody knows where it is would have
// to be within the cut, if it stayed, and may have been behind it.
func (m *shortening) mayLandBehind(o *histories.Op) bool {
	return promises(o, m.config) && m.cut.to != math.MaxInt64
}

func (m *shortening) readWithin(v histories.Value) bool {
	return slices.ContainsFunc(m.read[v], m.cut.holds)
}

// keepLost keeps sends of which nobody knows where they are, and that may be
// within the cut: an offset there is not explained, and they were called before
// all that stays was over. It reports false if one that certainly happened could
// then be behind the cut.
func (m *shortening) keepLost(gone []bool, lost []*histories.Op) bool {
	if m.target.Name != notLinearizable && !m.strict || m.explained() {
		for _, o := range lost {
			gone[o.Index] = gone[o.Index] || m.cut != uncut && (m.strict || !m.isAbout(o))
		}
		return true
	}
	over := histories.None
	for i := range m.whole.Ops() {
		if o := &m.whole.Ops()[i]; !gone[o.Index] && !isCutOff(*o) && (o.Kind != histories.Send || m.batches[o.Index] != batch{}) {
			over = max(over, o.Return)
		}
	}
	slices.SortStableFunc(lost, func(a, b *histories.Op) int { return cmp.Compare(a.Call, b.Call) })
	for _, o := range lost {
		happened := promises(o, m.config)
		switch {
		case o.Call <= over:
			gone[o.Index] = false
			if happened {
				over = max(over, o.Return)
			}
		case m.mayLandBehind(o):
			gone[o.Index] = true
		}
		if !gone[o.Index] && m.mayLandBehind(o) {
			return false
		}
	}
	return true
}

// isAbout reports whether the target speaks of a record of a send. It was lost
// wherever it was.
func (m *shortening) isAbout(o *histories.Op) bool {
	return slices.ContainsFunc(o.Values, func(v histories.Value) bool { return slices.Contains(m.target.about, v) })
}

// explained reports whether each offset within the cut is known to hold the
// record of a known send, so that no other can be there.
func (m *shortening) explained() bool {
	from, to := max(m.cut.from, m.start), min(m.cut.to, m.limit)
	lo, _ := slices.BinarySearch(m.held, from)
	hi, _ := slices.BinarySearch(m.held, to)
	return int64(hi-lo) >= to-from
}

// turns returns what the polls that were answered were for their clients' positions.
func turns(h *histories.History) map[int]step {
	at := map[int]step{}
	follow(h, func(o *histories.Op, s step) {
		if o.Kind == histories.Poll && o.Outcome == histories.OK {
			at[o.Index] = s
		}
	})
	return at
}

// moved reports whether a poll of a part speaks for offsets that it did not
// speak for in the whole, since what set its position is gone, or is said to
// have fallen back. polls are the indexes of the part's polls in the whole.
func (m *shortening) moved(h *histories.History, polls []int) bool {
	config := h.Config()
	if len(polls) == 0 || !m.careful(config.Get(offsets) != "dense") {
		return false
	}
	if m.turns == nil {
		m.turns = turns(m.whole)
	}
	moved := false
	holds := m.holds(h)
	follow(h, func(o *histories.Op, is step) {
		if o.Kind != histories.Poll {
			return
		}
		was, ok := m.turns[polls[0]]
		polls = polls[1:]
		if o.Outcome != histories.OK || !ok {
			return
		}
		moved = moved || is.floor != histories.None && was.floor == histories.None
		if is.from != histories.None && is.from != was.from {
			moved = moved || is.from < 0 || was.from < 0 || is.from < was.from && holds(o.On, is.from, was.from)
		}
	})
	return moved
}

// holds returns a function that reports whether an offset of a part may be known
// to hold a record, from one offset to another.
func (m *shortening) holds(h *histories.History) func(on string, from, to int64) bool {
	if config := h.Config(); m.packed(config.Get(offsets) != "dense") {
		start := max(m.start, m.cut.from)
		if m.strict { // a silent reset is about what is below it
			start = m.cut.from
		}
		return func(_ string, from, to int64) bool { return max(from, start) < min(to, m.cut.to) }
	}
	if slices.ContainsFunc(h.Ops(), func(o histories.Op) bool { return promises(&o, m.config) && o.Offset == histories.None }) {
		return func(string, int64, int64) bool { return true } // it may be anywhere
	}
	known, batch := map[string][]int64{}, int64(0)
	return func(on string, from, to int64) bool {
		if known[on] == nil {
			known[on], batch = knownOffsets(h, on)
		}
		next, _ := slices.BinarySearch(known[on], from-batch+1) // the rest of its batch is there as well
		return next < len(known[on]) && known[on][next] < to+batch-1
	}
}

// knownOffsets returns where records of a partition are said to be, sorted, and
// how many the largest batch has.
func knownOffsets(h *histories.History, on string) (known []int64, batch int64) {
	for i := range h.Ops() {
		o := &h.Ops()[i]
		if o.On != on {
			continue
		}
		batch = max(batch, int64(len(o.Values)))
		for _, r := range o.Records {
			known = append(known, r.Offset)
		}
		if o.Kind == histories.Send && o.Offset != histories.None {
			for i := range o.Values {
				known = append(known, o.Offset+int64(i))
			}
		}
	}
	slices.Sort(known)
	return known, batch
}
