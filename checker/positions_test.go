package checker

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// TestResetToTheStart compares seeks to the log start with resets to it, in logs
// that begin at 0. A reset says no more than such a seek, and in a dense log, or
// where the start is told at the end, no less.
func TestResetToTheStart(t *testing.T) {
	skips := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 300 {
			opt := drawOptions(t, 9)
			opt.Deletes = false
			ops := modeltest.Legal(t, opt)
			if rapid.Bool().Draw(t, "corrupted") {
				ops = modeltest.Corrupt(t, ops)
			}
			told := rapid.Bool().Draw(t, "told")
			ops, marks := resets(ops, told)
			if len(marks) == 0 || !wellFormed(ops) {
				continue
			}
			sought := judged(t, opt, ops, nil)
			kept := slices.DeleteFunc(slices.Clone(ops), func(o histories.Op) bool { return seeks(&o) })
			reset := judged(t, opt, kept, marks)
			exact := (told || opt.Dense) && !slices.ContainsFunc(ops, startsLater)
			if reset.Verdict == Violates && sought.Verdict != Violates || exact && reset.Verdict != sought.Verdict {
				t.Fatalf("%v with seeks, %v with resets\n%v\n%v", sought.Err(), reset.Err(), kept, marks)
			}
			if slices.Contains(reset.Names(), "poll-skip") {
				skips++
			}
		}
	})
	if t.Logf("%d skips behind resets", skips); skips == 0 {
		t.Error("no poll skipped anything behind a reset")
	}
}

func judged(t *rapid.T, opt modeltest.Options, ops []histories.Op, marks []histories.Mark) *Result {
	h, err := histories.New("drawn", histories.Header{Config: opt.Config()}, ops, marks)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Check(context.Background(), h, Options{Engine: Both})
}

// startsLater reports whether an answer, corrupted, says that the log begins behind 0.
// A reset before it may be to there.
func startsLater(o histories.Op) bool { return o.Start > 0 }

func seeks(o *histories.Op) bool { return o.Kind == histories.Seek && o.Outcome == histories.OK }

// resets sends every seek to offset 0, and returns marks that say the same, between
// the operations before and behind it: so times are doubled. If the log start is to be
// told, it is at the end.
func resets(ops []histories.Op, told bool) ([]histories.Op, []histories.Mark) {
	ops = slices.Clone(ops)
	var marks []histories.Mark
	end := int64(0)
	type instant struct {
		process string
		time    int64
	}
	calls := map[instant]int{}
	for i := range ops {
		o := &ops[i]
		if calls[instant{o.Process, o.Call}]++; calls[instant{o.Process, o.Call}] > 1 {
			return ops, nil // a mark there could be before or after
		}
		o.Call *= 2
		if o.Return != histories.None {
			o.Return *= 2
		}
		if end = max(end, o.Call, o.Return); seeks(o) {
			o.To = 0
			marks = append(marks, histories.Mark{Kind: histories.Reset, Process: o.Process, On: o.On, Time: o.Call + 1, To: "earliest", Offset: histories.None})
		}
	}
	if told {
		o := histories.NewOp("L1", histories.List)
		o.At, o.Offset, o.Outcome, o.Call, o.Return = "earliest", 0, histories.OK, end+1, end+2
		ops = append(ops, o)
	}
	return ops, marks
}
