package checker

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// TestTies has operations begin at the same few instants, and judges them in one order
// of the file and in the other: which stands first says nothing.
func TestTies(t *testing.T) {
	tied, wrong := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			opt := drawOptions(t, 9)
			ops := modeltest.Legal(t, opt)
			if draw.OneIn(t, 2, "corrupted") {
				ops = modeltest.Corrupt(t, ops)
			}
			coarse := int64(draw.Int(t, 2, 20, "ticks"))
			ops = slices.Clone(ops)
			for i := range ops {
				ops[i].Call /= coarse
				if ops[i].Return != histories.None {
					ops[i].Return /= coarse
				}
			}
			one, other := asGiven(opt, ops), asGiven(opt, reversed(ops))
			if one == nil || other == nil {
				continue
			}
			a, b := Check(context.Background(), one, Options{}), Check(context.Background(), other, Options{})
			if a.Verdict != b.Verdict || !slices.Equal(a.Names(), b.Names()) {
				t.Fatalf("%v %v, and %v %v in the other order\n%s", a.Verdict, a.Names(), b.Verdict, b.Names(), one.AppendNotation(nil))
			}
			if tied++; a.Verdict == Violates {
				wrong++
			}
		}
	})
	if t.Logf("%d histories, %d of them wrong", tied, wrong); tied == 0 || wrong == 0 || wrong == tied {
		t.Error("of right and wrong histories there are not both")
	}
}

// asGiven is a history of operations in that order, nil if it is none.
func asGiven(opt modeltest.Options, ops []histories.Op) *histories.History {
	h, err := histories.New("ties", histories.Header{Config: opt.Config()}, ops, nil)
	if err != nil {
		return nil
	}
	return h
}

func reversed(ops []histories.Op) []histories.Op {
	ops = slices.Clone(ops)
	slices.Reverse(ops)
	return ops
}
