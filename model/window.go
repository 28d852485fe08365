package model

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// Settle returns the log with more records known to be at their offsets.
func (l *Log) Settle(certain []histories.Record) *Log {
	w := *l
	w.slots = firstByOffset(slices.Concat(l.slots, certain))
	return &w
}

// Window returns the log as it goes on from an offset, with other operations to
// be ordered. What is known of offsets stays known.
func (l *Log) Window(from int64, ops []Op) *Log {
	w := *l
	w.from, w.ops, w.bad = Point{End: from, Tip: from}, ops, make([]bool, len(ops))
	return &w
}

// Moment returns a read at one instant, as far as it says how far the log had
// got: it had reached low, it had not passed most. None says nothing.
func Moment(at, low, most int64) Op {
	op := newOp(Read, &histories.Op{Call: at, Return: at})
	op.Source, op.Low, op.Most = nil, low, most
	return op
}

// Certain returns appends that are certain as one operation: it takes the end
// from one offset to another, between two instants.
func Certain(from, to, call, ret int64) Op {
	op := Moment(call, histories.None, histories.None)
	op.Kind, op.Offset, op.To, op.Return = Stretch, from, to, ret
	return op
}
