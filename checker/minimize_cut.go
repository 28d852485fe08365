package checker

import (
	"math"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A cut is the offsets from <= offset < to of the target's partition that are left.
//
// Where every offset holds a record no send between others can go. What can is
// all below an offset, if somebody is told that the log starts there, and all at
// or behind one, if no answer tells a higher end. A legal log stays one: each
// answer of the smaller history is what the larger one's would have been.
//
// A cut may also go through a hole, where nobody knows what batch it goes through.
// That has to be proven by the words of the whole.
type cut struct {
	from, to int64
	blind    bool
}

var uncut = cut{to: math.MaxInt64}

func (c cut) holds(offset int64) bool { return c.from <= offset && offset < c.to }

// minimizer is the process that is told the log start of a smaller history.
const minimizer = "minimized"

// noted where offsets are cut off.
const (
	cutBelow  = "minimized: what is below the log start that process " + minimizer + " is told is left out"
	cutBehind = "minimized: the log is cut off at its end: no answer has or tells more"
)

// narrow cuts off as many offsets as it can: all but a hole and its neighbours, or
// else below, then behind.
func (m *shortening) narrow() {
	if !m.packed(m.sparse) || m.target.Partition == "" {
		return
	}
	froms, tos := m.edges()
	for _, hole := range m.holes() {
		c := around(hole, froms, tos)
		if blind := m.through(c, hole); blind != c && m.tryCut(blind) || m.tryCut(c) {
			break
		}
	}
	m.bisect(len(froms), func(i int) cut { return cut{from: froms[i], to: math.MaxInt64} })
	m.bisect(len(tos), func(i int) cut { return cut{to: tos[len(tos)-1-i]} })
}

// mostHoles is how many holes are tried as the one that the finding is about.
const mostHoles = 8

// holes returns the first offsets at which no send is known to be.
func (m *shortening) holes() []int64 {
	var holes []int64
	next := m.start
	for _, held := range append(slices.Clone(m.held), m.limit) {
		if next < held && len(holes) < mostHoles {
			holes = append(holes, next)
		}
		next = max(next, held+1)
	}
	return holes
}

// around is a cut from the edge below an offset to the one behind it.
func around(offset int64, froms, tos []int64) cut {
	c := uncut
	if i, _ := slices.BinarySearch(froms, offset); i > 0 {
		c.from = froms[i-1]
	}
	if i, _ := slices.BinarySearch(tos, offset+1); i < len(tos) {
		c.to = tos[i]
	}
	return c
}

// through is a cut that ends with a hole, unless that needs what is behind it to
// be seen, or it is the last offset.
func (m *shortening) through(c cut, hole int64) cut {
	if m.target.Name != "gap" && m.target.Name != notLinearizable && hole+1 < m.limit {
		c.to, c.blind = hole+1, true
	}
	return c
}

// bisect tries cuts, of which each takes more away than the one before it.
func (m *shortening) bisect(n int, of func(i int) cut) {
	for lo, hi := -1, n; hi-lo > 1; {
		middle := lo + (hi-lo)/2
		if m.tryCut(of(middle)) {
			lo = middle
		} else {
			hi = middle
		}
	}
}

func (m *shortening) tryCut(c cut) bool {
	if c == uncut {
		return false
	}
	m.cut = c
	if m.try(m.kept) {
		m.rebase()
		return true
	}
	m.cut = uncut
	return false
}

// edges are where the known batches begin and end, in order. What is left
// begins and ends with one, so that a hole has its neighbours.
func (m *shortening) edges() (froms, tos []int64) {
	for _, b := range m.batches {
		if b.base > m.start {
			froms = append(froms, b.base)
		}
		if m.start < b.end && b.end < m.limit {
			tos = append(tos, b.end)
		}
	}
	slices.Sort(froms)
	slices.Sort(tos)
	return slices.Compact(froms), slices.Compact(tos)
}

// clip takes out of an answer what is cut off.
func (c cut) clip(o *histories.Op) {
	if c == uncut {
		return
	}
	o.Records = slices.DeleteFunc(o.Records, func(r histories.Record) bool { return !c.holds(r.Offset) })
	for _, end := range []*int64{&o.HW, &o.LSO, &o.End} {
		*end = min(*end, c.to)
	}
	if o.Kind == histories.List && o.At == "latest" {
		o.Offset = min(o.Offset, c.to)
	}
}

// saysMore reports whether an answer says more with fewer of its records: one
// without any, where reads are exact, says that its client had come to the end.
// It had if the answer told the end and had everything below.
func saysMore(before, after *histories.Op, c histories.Config) bool {
	if after.Kind != histories.Fetch && after.Kind != histories.Poll || model.ReadsOf(c) != model.Linearizable ||
		len(before.Records) == 0 || len(after.Records) > 0 {
		return false
	}
	return before.HW == histories.None || before.Records[len(before.Records)-1].Offset+1 < before.HW
}

// withStartTold adds that the log starts where it is cut off, told at the very
// end: offsets below the start are out of scope, whenever it was told.
func (m *shortening) withStartTold(ops []histories.Op) []histories.Op {
	if m.cut.from <= m.start {
		return ops
	}
	ops = slices.DeleteFunc(ops, isCutOff)
	told := histories.NewOp(minimizer, histories.List)
	told.At, told.On, told.Outcome, told.Offset = "earliest", m.target.Partition, histories.OK, m.cut.from
	for _, o := range ops {
		told.Call = max(told.Call, o.Call+1, o.Return+1)
	}
	told.Return = told.Call
	return append(ops, told)
}

// isCutOff reports whether an operation tells only where a log was cut off.
func isCutOff(o histories.Op) bool {
	return o.Process == minimizer && o.Kind == histories.List && o.At == "earliest"
}

// cutNotes returns the notes that a history with these operations needs.
func (m *shortening) cutNotes(note string) string {
	if slices.ContainsFunc(m.best.Ops(), isCutOff) {
		note = withNote(note, cutBelow)
	}
	if m.cutBehind {
		note = withNote(note, cutBehind)
	}
	return note
}

// withNote adds a line, if it is not there.
func withNote(note, line string) string {
	if strings.Contains(note, line) {
		return note
	}
	return strings.TrimPrefix(note+"\n"+line, "\n")
}
