package modeltest

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"pgregory.net/rapid"
)

// Corrupt returns the operations with one thing changed: a record lost,
// swapped, moved or replaced, a number off by one, a time moved, an answer
// turned into another. The result is well formed; it may still be legal.
func Corrupt(t *rapid.T, ops []histories.Op) []histories.Op {
	out := make([]histories.Op, len(ops))
	for i, o := range ops {
		o.Records, o.Values = slices.Clone(o.Records), slices.Clone(o.Values)
		out[i] = o
	}
	if len(out) == 0 {
		return out
	}
	o := &out[draw.Int(t, 0, len(out)-1, "corrupted")]
	delta := draw.From[int64](t, "delta", -1, 1, 2)
	switch kind := draw.Int(t, 0, 8, "corruption"); {
	case kind <= 3 && len(o.Records) > 0:
		corruptRecords(t, o, kind, delta)
	case kind == 4:
		o.Call = max(0, min(o.Call+delta, o.Return))
	case kind == 5 && o.Return != histories.None:
		o.Return = max(o.Call, o.Return+delta)
	case kind == 6 && o.Kind == histories.Send && o.Outcome != histories.Open:
		o.Outcome = draw.From(t, "outcome", histories.OK, histories.Fail, histories.Info)
		if o.Outcome != histories.OK {
			o.Offset = histories.None
		}
	case o.Offset != histories.None:
		o.Offset = max(0, o.Offset+delta)
	case o.End != histories.None:
		o.End = max(0, o.End+delta)
	case o.HW != histories.None:
		o.HW = max(0, o.HW+delta)
	}
	return out
}

func corruptRecords(t *rapid.T, o *histories.Op, kind int, delta int64) {
	i := draw.Int(t, 0, len(o.Records)-1, "record")
	switch kind {
	case 0:
		o.Records = slices.Delete(o.Records, i, i+1)
	case 1:
		o.Records[i].Value = histories.Int(int64(draw.Int(t, 1, 6, "value")))
	case 2:
		j := draw.Int(t, 0, len(o.Records)-1, "other record")
		o.Records[i].Value, o.Records[j].Value = o.Records[j].Value, o.Records[i].Value
	case 3:
		moved := max(0, o.Records[i].Offset+delta)
		if (i == 0 || o.Records[i-1].Offset < moved) && (i == len(o.Records)-1 || moved < o.Records[i+1].Offset) {
			o.Records[i].Offset = moved
		}
	}
}
