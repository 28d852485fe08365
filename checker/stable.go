package checker

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A reader of what is committed is held up at the last stable offset: the first
// record of an open transaction, or the end of the log. It never goes back.

// stability is what a partition's operations say of its last stable offset.
type stability struct {
	told  *highest      // how far it had come, by those who were told
	taken []model.Span  // offsets of sends that were told them, sorted
	ended map[int]int64 // how far the log had come before each send of a transaction, by the index of that
}

// stableIn looks a partition through. It is asked of scans in order of their calls.
func (ts *transactions) stableIn(on string) *stability {
	if s := ts.stability[on]; s != nil {
		return s
	}
	var ops []*histories.Op
	for i := range ts.whole.Ops() {
		if o := &ts.whole.Ops()[i]; o.On == on {
			ops = append(ops, o)
		}
	}
	s := &stability{told: highestOf(ops, ts.stableTold), ended: map[int]int64{}}
	ts.stability[on] = s
	ends := highestOf(ops, ts.endTold)
	for _, o := range ops {
		if o.Kind != histories.Send {
			continue
		}
		if ts.of[o.Index] != nil {
			s.ended[o.Index] = ends.before(o.Call).end
		}
		if ts.binds(o) {
			s.taken = append(s.taken, model.Span{From: o.Offset, To: o.Offset + int64(len(o.Values))})
		}
	}
	slices.SortFunc(s.taken, func(a, b model.Span) int { return cmp.Compare(a.From, b.From) })
	return s
}

// stableTold is how far the last stable offset was by an answer.
func (ts *transactions) stableTold(o *histories.Op) int64 {
	switch {
	case o.Outcome != histories.OK:
		return histories.None
	case ts.readers[o.Process]:
		return max(o.LSO, endOf(o.Records))
	}
	return o.LSO
}

// endTold is how far the log was by an answer.
func (ts *transactions) endTold(o *histories.Op) int64 {
	if ts.binds(o) && o.Kind == histories.Send {
		return o.Offset + int64(len(o.Values))
	}
	return max(toldAny(o), endOf(o.Records))
}

// binds reports whether a send is where it was told for certain.
func (ts *transactions) binds(o *histories.Op) bool {
	return ts.keeps && o.Outcome == histories.OK && o.Offset != histories.None && model.AcksOf(o, ts.whole.Config()) == "all"
}

// stable is how far the last stable offset certainly was when a scan was called that
// these transactions may hold up. Whoever was told is one to say so; and no open
// transaction begins where the log had come before its sends, or others have theirs.
func (ts *transactions) stable(scan *histories.Op, by []*transaction) int64 {
	stable := endOf(scan.Records)
	if !ts.keeps {
		return stable
	}
	s := ts.stableIn(scan.On)
	if told := s.told.before(scan.Call); told.op != nil {
		stable = max(stable, told.end)
	}
	first := int64(forever)
	for _, t := range by {
		for _, o := range t.sends {
			if o.On == scan.On && o.Call <= scan.Return {
				first = min(first, ts.from(s, o))
			}
		}
	}
	return max(stable, first)
}

// from is the first offset at which a send of a transaction may be.
func (ts *transactions) from(s *stability, o *histories.Op) int64 {
	if ts.binds(o) && !ts.copies {
		return o.Offset
	}
	from := s.ended[o.Index]
	for _, t := range s.taken {
		if t.From <= from {
			from = max(from, t.To)
		}
	}
	if ts.binds(o) {
		return min(from, o.Offset)
	}
	return from
}
