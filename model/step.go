package model

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A Point is one log that agrees with everything seen so far: its end, and the
// end of its last record. The two differ where offsets below the end hold
// nothing that clients can see.
type Point struct{ End, Tip int64 }

// A State is the set of logs that could be there. It is never modified: Step
// returns a new one.
type State struct {
	Points []Point // sorted, without repetition
	Closed bool    // no uncertain send takes effect any more
	landed []int32 // how many of each kind of twins did; follows from which operations were applied
}

// Initial is the log before its first operation.
func (l *Log) Initial() State { return State{Points: []Point{l.from}} }

// Equal reports whether two states are the same set.
func (s State) Equal(t State) bool { return s.Closed == t.Closed && slices.Equal(s.Points, t.Points) }

// is reports whether two states share their memory.
func (s State) is(t State) bool {
	return s.Closed == t.Closed && len(s.Points) == len(t.Points) && &s.Points[0] == &t.Points[0]
}

// Bytes returns what the state takes in memory beside a fixed part.
func (s State) Bytes() int64 { return int64(16*cap(s.Points) + 4*cap(s.landed)) }

// Hash returns a hash of the state. Equal states have equal hashes.
func (s State) Hash() uint64 {
	h := uint64(14695981039346656037)
	for _, p := range s.Points {
		h = (h ^ uint64(p.End)) * 1099511628211
		h = (h ^ uint64(p.Tip)) * 1099511628211
	}
	if s.Closed {
		h++
	}
	return h
}

// Step returns every log that could follow the i-th operation with the answer
// its client got: no points if that answer is impossible.
//
// A send that nobody knows the outcome of either takes effect at this instant
// or, once the state is closed, never.
func (l *Log) Step(s State, i int) State {
	op := &l.ops[i]
	out := State{Closed: s.Closed, landed: s.landed}
	if l.bad[i] {
		return out
	}
	if op.Kind == Append && !op.Must && s.Closed {
		return s
	}
	if op.Twins != 0 {
		if out.landed = s.landing(op); out.landed == nil {
			return out
		}
	}
	if op.Kind == Read && l.sees(s, op) {
		return s
	}
	for _, p := range s.Points {
		switch op.Kind {
		case Read:
			if q, ok := l.read(p, op); ok {
				out.Points = append(out.Points, q)
			}
		case Stretch:
			if p.End <= op.Offset && l.skips(p.End, op.Offset) {
				out.Points = append(out.Points, Point{End: op.To, Tip: op.To})
			}
		case Append:
			n := int64(len(op.Values))
			for _, at := range l.landings(p, op) {
				out.Points = append(out.Points, Point{End: at + n, Tip: at + n})
			}
		}
	}
	if len(out.Points) > 1 {
		slices.SortFunc(out.Points, comparePoints)
		out.Points = slices.Compact(out.Points)
	}
	return out
}

// landing counts a twin that takes effect, and returns nil if it is not its
// turn: those that were called earlier go first.
func (s State) landing(op *Op) []int32 {
	var landed int32
	if op.Twins < len(s.landed) {
		landed = s.landed[op.Twins]
	}
	if int(landed) != op.Before {
		return nil
	}
	out := make([]int32, max(len(s.landed), op.Twins+1))
	copy(out, s.landed)
	out[op.Twins]++
	return out
}

func comparePoints(a, b Point) int {
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Tip, b.Tip))
}

// read returns the log behind a read, which moves the end only where offsets
// may hold nothing that clients can see.
func (l *Log) read(p Point, op *Op) (Point, bool) {
	for _, r := range op.Records {
		if r.Offset >= p.End {
			return p, false
		}
	}
	end := p.End
	if op.Exact != histories.None {
		if op.Exact < end {
			return p, false
		}
		end = op.Exact
	}
	if op.Most != histories.None && end > op.Most {
		return p, false
	}
	end = max(end, op.Low)
	if op.Beyond != histories.None && p.Tip > op.Beyond || !l.skips(p.End, end) {
		return p, false
	}
	return Point{End: end, Tip: p.Tip}, true
}

// sees reports whether a read fits every log of a state as it is.
func (l *Log) sees(s State, op *Op) bool {
	for _, p := range s.Points {
		if q, ok := l.read(p, op); !ok || q != p {
			return false
		}
	}
	return true
}

// landings returns the offsets at which a batch may be appended to this log.
// Of offsets about which nothing is known the first is enough: whatever could
// follow a later choice could follow the first as well.
func (l *Log) landings(p Point, op *Op) []int64 {
	if op.Offset != histories.None {
		if op.Offset < p.End || !l.skips(p.End, op.Offset) || !l.lands(op.Values, op.Offset) {
			return nil
		}
		return []int64{op.Offset}
	}
	n, known := int64(len(op.Values)), l.next(p.End).Offset
	var at []int64
	// Over the next known record, from a batch that ends with it to one that
	// begins with it.
	for o := max(p.End, known-n+1); known != endless && o <= known; o++ {
		if l.skips(p.End, o) && l.lands(op.Values, o) {
			at = append(at, o)
		}
	}
	if free, ok := l.free(p.End, n, known); ok && l.mayUse(op, free) {
		at = append(at, free)
	}
	// Where offsets are dense, those below the log start may hold nothing, so
	// each place that reaches into scope is a choice of its own.
	for o := max(p.End+1, l.start-n+1); l.tight && o <= l.start; o++ {
		if free, ok := l.free(o, n, known); ok && free == o && l.mayUse(op, o) {
			at = append(at, o)
		}
	}
	return at
}

// mayUse reports whether it matters that a batch lands where nothing is known:
// a send of unknown outcome may as well not have happened there, unless it
// fills an offset that has to hold something.
func (l *Log) mayUse(op *Op, offset int64) bool { return op.Must || l.tight && offset < l.limit }

// free returns the first place before known where n records fit unseen.
func (l *Log) free(from, n, known int64) (int64, bool) {
	for o := from; o <= known-n && l.skips(from, o); {
		blocked := o
		if end, cut := l.cut(o, n); cut {
			blocked = end
		}
		for i := int64(0); i < n && blocked == o; i++ {
			if to := l.emptyUntil(o + i); to != o+i {
				blocked = to
			}
		}
		if blocked == o {
			return o, true
		}
		o = blocked
	}
	return 0, false
}
