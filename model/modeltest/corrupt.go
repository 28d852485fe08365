package modeltest

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"pgregory.net/rapid"
)

// A Corruption is one way to spoil a history.
type Corruption struct {
	Name string
	// Idle says that nobody is promised what it changes: no verdict depends on it.
	Idle bool
	// spoil changes one operation, or reports false where it has nothing to change.
	spoil func(t *rapid.T, ops []histories.Op, o *histories.Op) bool
}

// Corruptions is the list of them.
var Corruptions = []Corruption{
	{Name: "lost", spoil: onRecord(func(_ *rapid.T, o *histories.Op, i int) bool {
		o.Records = slices.Delete(o.Records, i, i+1)
		return true
	})},
	{Name: "replaced", spoil: onRecord(func(t *rapid.T, o *histories.Op, i int) bool {
		o.Records[i].Value = histories.Int(int64(draw.Int(t, 1, 6, "value")))
		return true
	})},
	{Name: "swapped", spoil: onRecord(func(t *rapid.T, o *histories.Op, i int) bool {
		j := draw.Int(t, 0, len(o.Records)-1, "other record")
		o.Records[i].Value, o.Records[j].Value = o.Records[j].Value, o.Records[i].Value
		return i != j
	})},
	{Name: "duplicated", spoil: onRecord(func(_ *rapid.T, o *histories.Op, i int) bool {
		o.Records = slices.Insert(o.Records, i, o.Records[i])
		return true
	})},
	{Name: "copied", spoil: onRecord(func(t *rapid.T, o *histories.Op, i int) bool {
		last := o.Records[len(o.Records)-1].Offset
		o.Records = append(o.Records, histories.Record{Offset: last + 1, Value: o.Records[i].Value})
		return true
	})},
	{Name: "moved", spoil: onRecord(func(t *rapid.T, o *histories.Op, i int) bool {
		return shift(t, &o.Records[i].Offset, -1, 1, 2) &&
			(i == 0 || o.Records[i-1].Offset < o.Records[i].Offset) &&
			(i == len(o.Records)-1 || o.Records[i].Offset < o.Records[i+1].Offset)
	})},
	{Name: "reordered", spoil: onRecord(func(_ *rapid.T, o *histories.Op, i int) bool {
		if i == 0 {
			return false
		}
		o.Records[i-1], o.Records[i] = o.Records[i], o.Records[i-1]
		return true
	})},
	{Name: "stale", spoil: answerAgain},
	{Name: "outcome", spoil: func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		if o.Kind != histories.Send || o.Outcome == histories.Open {
			return false
		}
		o.Outcome = draw.From(t, "outcome", histories.OK, histories.Fail, histories.Info)
		if o.Outcome != histories.OK {
			o.Offset = histories.None
		}
		return true
	}},
	{Name: "promise", spoil: func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		before := o.Acks
		o.Acks = draw.From(t, "acks", "all", "1", "0")
		return o.Kind == histories.Send && o.Acks != before
	}},
	{Name: "value", spoil: func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		if o.Kind != histories.Send {
			return false
		}
		o.Values[draw.Int(t, 0, len(o.Values)-1, "place")] = histories.Int(int64(draw.Int(t, 1, 6, "value")))
		return true
	}},
	{Name: "call", spoil: func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		return shift(t, &o.Call, -1, 1) && (o.Outcome == histories.Open || o.Call <= o.Return)
	}},
	{Name: "return", spoil: func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		return shift(t, &o.Return, -1, 1) && o.Call <= o.Return
	}},
	{Name: "offset", spoil: onNumber(func(o *histories.Op) *int64 { return &o.Offset })},
	{Name: "from", spoil: onNumber(func(o *histories.Op) *int64 { return &o.From })},
	{Name: "to", spoil: onNumber(func(o *histories.Op) *int64 { return &o.To })},
	{Name: "hw", spoil: onNumber(func(o *histories.Op) *int64 { return &o.HW })},
	{Name: "lso", spoil: onNumber(func(o *histories.Op) *int64 { return &o.LSO })},
	{Name: "start", spoil: onNumber(func(o *histories.Op) *int64 { return &o.Start })},
	{Name: "end", spoil: onNumber(func(o *histories.Op) *int64 { return &o.End })},
	{Name: "max", Idle: true, spoil: onNumber(func(o *histories.Op) *int64 { return &o.Max })},
	{Name: "timestamp", Idle: true, spoil: onNumber(func(o *histories.Op) *int64 { return &o.TS })},
}

// Corrupt returns the operations with one thing changed. The result may still
// be legal, and a changed time may leave a process with two operations at once.
func Corrupt(t *rapid.T, ops []histories.Op) []histories.Op {
	first := draw.Int(t, 0, len(Corruptions)-1, "corruption")
	for n := range Corruptions {
		if out, ok := Corruptions[(first+n)%len(Corruptions)].Apply(t, ops); ok {
			return out
		}
	}
	return ops
}

// Apply spoils one operation, and reports false if there is none to spoil that
// way.
func (c Corruption) Apply(t *rapid.T, ops []histories.Op) ([]histories.Op, bool) {
	first := 0
	if len(ops) > 0 {
		first = draw.Int(t, 0, len(ops)-1, "corrupted")
	}
	for n := range ops {
		i := (first + n) % len(ops)
		o := ops[i]
		o.Records, o.Values = slices.Clone(o.Records), slices.Clone(o.Values)
		if c.spoil(t, ops[:i], &o) {
			out := slices.Clone(ops)
			out[i] = o
			return out, true
		}
	}
	return ops, false
}

// onRecord spoils one of an answer's records.
func onRecord(spoil func(t *rapid.T, o *histories.Op, i int) bool) func(*rapid.T, []histories.Op, *histories.Op) bool {
	return func(t *rapid.T, _ []histories.Op, o *histories.Op) bool {
		return len(o.Records) > 0 && spoil(t, o, draw.Int(t, 0, len(o.Records)-1, "record"))
	}
}

// onNumber shifts a number.
func onNumber(of func(o *histories.Op) *int64) func(*rapid.T, []histories.Op, *histories.Op) bool {
	return func(t *rapid.T, _ []histories.Op, o *histories.Op) bool { return shift(t, of(o), -1, 1, 2) }
}

// shift moves a number that is stated by one of the deltas.
func shift(t *rapid.T, n *int64, deltas ...int64) bool {
	if *n == histories.None {
		return false
	}
	*n += draw.From(t, "delta", deltas...)
	return *n >= 0
}

// answerAgain gives a client the answer that an earlier operation of its kind
// got.
func answerAgain(_ *rapid.T, before []histories.Op, o *histories.Op) bool {
	for i := len(before) - 1; i >= 0; i-- {
		old := &before[i]
		if old.Kind == o.Kind && old.At == o.At && old.Outcome == histories.OK && o.Outcome == histories.OK && o.Kind != histories.Send {
			o.Records = slices.Clone(old.Records)
			o.Offset, o.HW, o.LSO, o.Start, o.End = old.Offset, old.HW, old.LSO, old.Start, old.End
			return true
		}
	}
	return false
}
