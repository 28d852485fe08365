package checker

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// scanned returns a legal history of many operations that ends with a scan.
func scanned(n int) []histories.Op {
	ops := modeltest.Large(modeltest.Load{Ops: n, Clients: 10, Unknown: 1})
	scan := histories.NewOp("S1", histories.Scan)
	scan.Outcome, scan.Call, scan.Return = histories.OK, int64(2*n+10), int64(2*n+20)
	at := map[int64]histories.Value{}
	for _, o := range ops {
		for _, r := range o.Records {
			at[r.Offset] = r.Value
		}
		if o.Kind == histories.Send && o.Outcome == histories.OK {
			at[o.Offset] = o.Values[0]
		}
	}
	for o := range int64(len(at)) {
		scan.Records = append(scan.Records, histories.Record{Offset: o, Value: at[o]})
	}
	scan.End = int64(len(at))
	return append(ops, scan)
}

// TestMinimizeLarge spoils a long history in one place. A handful of its
// operations is left, found without judging the whole again and again.
func TestMinimizeLarge(t *testing.T) {
	const n = 20_000
	read := func(kind histories.Kind, call int64) histories.Op {
		o := histories.NewOp("C99", kind)
		o.Outcome, o.Call, o.Return = histories.OK, call, call+1
		return o
	}
	for _, test := range []struct {
		rule  string
		spoil func(scan *histories.Op, middle int) []histories.Op
	}{
		{"lost-write", func(scan *histories.Op, middle int) []histories.Op {
			scan.Records = slices.Delete(scan.Records, middle, middle+1)
			return nil
		}},
		{"lost-write", func(scan *histories.Op, middle int) []histories.Op {
			a, b := &scan.Records[middle], &scan.Records[middle+1]
			a.Value, b.Value = b.Value, a.Value
			return nil
		}},
		{"duplicate", func(scan *histories.Op, middle int) []histories.Op {
			scan.Records = append(scan.Records, histories.Record{Offset: scan.End, Value: scan.Records[middle].Value})
			scan.End++
			return nil
		}},
		{"stale-read", func(_ *histories.Op, middle int) []histories.Op {
			o := read(histories.List, n*3/2)
			o.At, o.Offset = "latest", int64(middle)
			return []histories.Op{o}
		}},
		{"poll-skip", func(scan *histories.Op, middle int) []histories.Op {
			assign, poll := read(histories.Assign, 2*n+2), read(histories.Poll, 2*n+4)
			assign.From, poll.Records = int64(middle), slices.Clone(scan.Records[middle+1:middle+3])
			return []histories.Op{assign, poll}
		}},
		{"int-poll-skip", func(scan *histories.Op, middle int) []histories.Op {
			assign, poll := read(histories.Assign, 2*n+2), read(histories.Poll, 2*n+4)
			assign.From, poll.Records = int64(middle), slices.Delete(slices.Clone(scan.Records[middle:middle+5]), 2, 3)
			return []histories.Op{assign, poll}
		}},
		{"poll-skip", func(scan *histories.Op, middle int) []histories.Op { // what set the position is far behind
			assign, before := read(histories.Assign, 2*n+2), read(histories.Poll, 2*n+4)
			failed, poll := read(histories.Poll, 2*n+6), read(histories.Poll, 2*n+8)
			failed.Outcome = histories.Fail
			assign.From, before.Records = 0, slices.Clone(scan.Records[:middle])
			poll.Records = slices.Clone(scan.Records[middle+1 : middle+3])
			return []histories.Op{assign, before, failed, poll}
		}},
	} {
		ops := scanned(n)
		scan := &ops[len(ops)-1]
		more := test.spoil(scan, len(scan.Records)/2)
		config := histories.Config(nil).With("reads", "linearizable").With("enable.idempotence", "true")
		h, err := histories.New("large", histories.Header{Config: config}, append(ops, more...), nil)
		if err != nil {
			t.Fatal(err)
		}
		whole := Check(context.Background(), h, Options{})
		if whole.first().Name != test.rule {
			t.Fatalf("%v, want %s first", whole.Names(), test.rule)
		}
		judged := 0
		small, _ := Minimize(context.Background(), h, MinimizeOptions{Known: whole, Progress: func(_, operations int) { judged += operations }})
		if left := len(small.Ops()); left > 6 || judged > 10*len(h.Ops()) {
			t.Errorf("%s: %d operations are left, after judging about %d of %d\n%s", test.rule, left, judged, len(h.Ops()), small.AppendNotation(nil))
		}
	}
}
