package checker

import (
	"fmt"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// dense builds a history with linearizable reads in which every offset holds a
// record.
func dense(t testing.TB, ops []histories.Op) *histories.History {
	t.Helper()
	config := histories.Config{{Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
		{Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"}}
	slices.SortStableFunc(ops, func(a, b histories.Op) int { return int(a.Call - b.Call) })
	h, err := histories.New("windows", histories.Header{Config: config}, ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// unread turns reads that return one of the values into answers that only tell
// the end.
func unread(ops []histories.Op, hidden func(histories.Value) bool) {
	for i, o := range ops {
		if slices.ContainsFunc(o.Records, func(r histories.Record) bool { return hidden(r.Value) }) {
			ops[i].Kind, ops[i].At, ops[i].Offset = histories.List, "latest", o.HW
			ops[i].Records, ops[i].From, ops[i].HW = nil, histories.None, histories.None
		}
	}
}

// halfObserved is a history of 30 clients with about 1,000 sends of unknown
// outcome. Half of those that took effect were read.
func halfObserved(t testing.TB, batch int) *histories.History {
	ops := modeltest.Large(modeltest.Load{Ops: 5_000, Clients: 30, Unknown: 500, Batch: batch, Seed: 5})
	hidden, unknown := map[histories.Value]bool{}, 0
	for _, o := range ops {
		if o.Outcome != histories.Info {
			continue
		}
		if unknown++; unknown%2 == 0 {
			for _, v := range o.Values {
				hidden[v] = true
			}
		}
	}
	if unknown < 900 || unknown > 1100 {
		t.Fatalf("%d sends of unknown outcome, want about 1,000", unknown)
	}
	unread(ops, func(v histories.Value) bool { return hidden[v] })
	return dense(t, ops)
}

// TestHalfObserved judges histories with many sends of unknown outcome.
func TestHalfObserved(t *testing.T) {
	for batch := 1; batch <= 4; batch++ {
		s := searchOf(halfObserved(t, batch))
		if got := s.windows(s.log()); got != porcupine.Ok {
			t.Errorf("batches of up to %d: %s %s, want a legal history", batch, got, s.stopped)
		}
		t.Logf("batches of up to %d: %d operations handed over, %d steps", batch, s.handed, s.steps)
		if s.steps > 1_000_000 {
			t.Errorf("batches of up to %d: %d steps", batch, s.steps)
		}
	}
}

// TestNoCliff hides one record of ever longer histories from their readers. What
// is searched is that record, whatever is around it.
func TestNoCliff(t *testing.T) {
	for _, n := range []int{200, 2_000, 20_000} {
		ops := modeltest.Large(modeltest.Load{Ops: n, Clients: 30, Seed: 7})
		i := n / 2
		for ops[i].Kind != histories.Send {
			i++
		}
		hidden := ops[i].Values[0]
		ops[i].Outcome, ops[i].Offset = histories.Info, histories.None
		unread(ops, func(v histories.Value) bool { return v == hidden })
		late := histories.NewOp("P0", histories.Send)
		late.Call, late.Return, late.Outcome = 0, 1, histories.Info
		late.Values = []histories.Value{histories.Int(-1), histories.Int(-2)}
		s := searchOf(dense(t, append(ops, late)))
		if got := s.linear(); got != porcupine.Unknown {
			t.Errorf("%d operations: the linear engine says %s, want a search", n, got)
		}
		if got := s.windows(s.log()); got != porcupine.Ok || s.handed > 10 || s.steps > 10 {
			t.Errorf("%d operations: %s with %d operations handed over and %d steps", n, got, s.handed, s.steps)
		}
	}
}

// BenchmarkHalfObserved judges 1,000 sends of unknown outcome of 30 clients.
func BenchmarkHalfObserved(b *testing.B) {
	for _, batch := range []int{1, 3} {
		h := halfObserved(b, batch)
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			for b.Loop() {
				if s := searchOf(h); s.windows(s.log()) != porcupine.Ok {
					b.Fatal(s.stopped)
				}
			}
		})
	}
}
