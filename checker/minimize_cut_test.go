package checker

import (
	"context"
	"fmt"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// sendsBut returns a history of n sends, one behind the other, of which one is missing
// (none if hole is negative), and of some more operations.
func sendsBut(t *testing.T, n, hole int, more ...histories.Op) *histories.History {
	var ops []histories.Op
	for i := range n {
		o := histories.NewOp(fmt.Sprint("P", i%10), histories.Send)
		o.Outcome, o.Call, o.Return, o.Offset = histories.OK, int64(2*i), int64(2*i+1), int64(i)
		if o.Values = []histories.Value{histories.Int(int64(i))}; i != hole {
			ops = append(ops, o)
		}
	}
	config := histories.Config(nil).With("reads", "linearizable").With("enable.idempotence", "true").With(offsets, "dense")
	h, err := histories.New("dense", histories.Header{Config: config}, append(ops, more...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestMinimizeDense makes long histories short in which every offset holds a record.
func TestMinimizeDense(t *testing.T) {
	const n, hole = 20_000, 13_000
	answer := func(kind histories.Kind, at string, offset, end int64, but int) histories.Op {
		o := histories.NewOp("C", kind)
		o.Outcome, o.Call, o.Return, o.At, o.Offset, o.End = histories.OK, 2*n+2, 2*n+3, at, offset, end
		for i := range end {
			if i != int64(but) {
				o.Records = append(o.Records, histories.Record{Offset: i, Value: histories.Int(i)})
			}
		}
		return o
	}
	late := histories.NewOp("U", histories.Send)
	late.Outcome, late.Call, late.Return, late.Values = histories.Info, 2*n, 2*n+1, []histories.Value{histories.Int(n)}
	early := histories.NewOp("E", histories.Fetch)
	early.Outcome, early.Call, early.Return, early.From, early.HW = histories.OK, hole, hole+1, hole, hole+1
	early.Records = []histories.Record{{Offset: hole, Value: histories.Int(hole)}}
	for _, test := range []struct {
		rule string
		h    *histories.History
	}{
		{"gap", sendsBut(t, n, hole, answer(histories.Scan, "", histories.None, n, hole))},
		{"gap", sendsBut(t, n, hole, late, answer(histories.Scan, "", histories.None, n, hole))},
		{notLinearizable, sendsBut(t, n, hole)},
		{notLinearizable, sendsBut(t, n, hole, late)},
		{notLinearizable, sendsBut(t, n, hole, answer(histories.List, "latest", n, histories.None, 0))},
		{notLinearizable, sendsBut(t, n, -1, answer(histories.List, "latest", n+1, histories.None, 0))},
		{"stale-read", sendsBut(t, n, -1, answer(histories.List, "latest", n-1, histories.None, 0))},
		{"lost-write", sendsBut(t, n, -1, answer(histories.Scan, "", histories.None, n, hole))},
		{"lost-write", sendsBut(t, n, -1, answer(histories.Scan, "", histories.None, hole, -1))},
		{"early-read", sendsBut(t, n, -1, answer(histories.Scan, "", histories.None, n, -1), early)},
	} {
		whole := Check(context.Background(), test.h, Options{})
		if whole.first().Name != test.rule {
			t.Fatalf("%v, want %s first", whole.Names(), test.rule)
		}
		judged := 0
		small, _ := Minimize(context.Background(), test.h, MinimizeOptions{Known: whole, Progress: func(_, operations int) { judged += operations }})
		if left := len(small.Ops()); left > 4 || judged > 10*n {
			t.Errorf("%s: %d operations are left, after judging about %d\n%s", test.rule, left, judged, small.AppendNotation(nil))
		}
		if again, _ := Minimize(context.Background(), small, MinimizeOptions{}); !histories.Equal(small, again) {
			t.Errorf("%s: minimized again, it is\n%sinstead of\n%s", test.rule, again.AppendNotation(nil), small.AppendNotation(nil))
		}
	}
}

// TestMinimizeKeepsLegalTwin minimizes histories whose twin is legal: in it a send of
// unknown outcome began early enough to fill the hole. Where that is what is left of
// the finding, the same change makes what is left legal.
func TestMinimizeKeepsLegalTwin(t *testing.T) {
	const before = "history 1\nconfig enable.idempotence=true offsets=dense\n" +
		"1-2 P1 send 0 => ok @0\n3-4 P1 send 1 => ok @1\n"
	for _, after := range []string{
		"5-6 P1 send 3 => ok @3\n",
		"5-6 P1 send 3 => ok @3\n9-10 C1 fetch from=0 => ok [0:0 1:1]\n11-12 C1 fetch from=3 => ok [3:3]\n",
		"5-6 C1 list latest => ok @3\n9-10 C1 fetch from=0 => ok [0:0 1:1]\n",
	} {
		twin, err := histories.Parse("twin", []byte(before+"4- U send 99\n"+after))
		if err != nil {
			t.Fatal(err)
		}
		if r := Check(context.Background(), twin, Options{}); r.Verdict == Violates {
			t.Fatalf("the twin is no longer legal: %v", r.Err())
		}
		h, err := histories.Parse("late", []byte(before+"7-8 U send 99 => info\n"+after))
		if err != nil {
			t.Fatal(err)
		}
		small, _ := Minimize(context.Background(), h, MinimizeOptions{})
		if first := Check(context.Background(), small, Options{}).first().Name; first != notLinearizable {
			t.Fatalf("%q is left of\n%s", first, h.AppendNotation(nil))
		}
		filler := histories.NewOp("U", histories.Send)
		filler.Call, filler.Values = 4, []histories.Value{histories.Int(98)}
		filled, err := histories.New("filled", small.Header(), append(small.Ops(), filler), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := Check(context.Background(), filled, Options{}); r.Verdict == Violates {
			t.Errorf("not the hole is wrong: %v\n%s", r.Err(), filled.AppendNotation(nil))
		}
	}
}
