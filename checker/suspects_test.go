package checker

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// suspectsAsWhole compares the judgement of sections with that of the whole
// history and reports whether there was one.
func suspectsAsWhole(t interface {
	Helper()
	Fatalf(string, ...any)
}, h *histories.History) bool {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%v\n%s", p, h.AppendNotation(nil))
		}
	}()
	got, _, ok := judgeSuspects(context.Background(), handOver(h), Options{}, 0)
	if !ok {
		return false
	}
	want := checkThoroughly(context.Background(), h, Options{})
	got.Exercised.Steps, want.Exercised.Steps = 0, 0
	got.Engine, want.Engine = "", ""
	// Of a history that fits no order, several operations may be the witness.
	for i, f := range want.Findings {
		if f.Name == notLinearizable && i < len(got.Findings) {
			got.Findings[i].Says, got.Findings[i].Evidence = f.Says, f.Evidence
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("by sections:\n%+v\nas a whole:\n%+v\n%s", got, want, h.AppendNotation(nil))
	}
	return true
}

// TestSuspects compares sections with the whole on legal and corrupted histories.
func TestSuspects(t *testing.T) {
	judged, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 60 {
			opt := drawOptions(t, 24)
			opt.Deletes = false // a log that starts above 0 is judged as a whole
			ops := modeltest.Legal(t, opt)
			for range draw.Int(t, 0, 3, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			all++
			if suspectsAsWhole(t, build(t, opt, ops)) {
				judged++
			}
		}
	})
	t.Logf("%d of %d were judged by sections", judged, all)
	if judged < all/4 {
		t.Errorf("only %d of %d histories were judged by sections", judged, all)
	}
}

// TestSuspectsOnTheCorpus compares both on every case.
func TestSuspectsOnTheCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, h := range cases {
		t.Run(h.Name(), func(t *testing.T) {
			if suspectsAsWhole(t, h) {
				judged++
			}
		})
	}
	t.Logf("%d of %d cases were judged by sections", judged, len(cases))
	if judged < len(cases)/3 {
		t.Errorf("only %d of %d cases were judged by sections", judged, len(cases))
	}
}

// damages are single ways to spoil a large legal history. Each changes one
// operation behind the middle.
var damages = map[string]func(ops []histories.Op){
	"none": func([]histories.Op) {},
	"lost record": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return len(o.Records) > 4 })
		o.Records = slices.Delete(slices.Clone(o.Records), 2, 3)
	},
	"stale read": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return len(o.Records) > 0 && o.HW > 40 })
		o.HW, o.From, o.Records = o.HW-30, o.HW-30, nil
	},
	"stale end": func(ops []histories.Op) {
		after(ops, func(o *histories.Op) bool { return o.Kind == histories.List }).Offset -= 30
	},
	"duplicate": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return len(o.Records) > 4 })
		o.Records = slices.Clone(o.Records)
		o.Records[3].Value = o.Records[2].Value
	},
	"reordered records": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return len(o.Records) > 4 })
		o.Records = slices.Clone(o.Records)
		o.Records[2], o.Records[3] = o.Records[3], o.Records[2]
	},
	"phantom": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return len(o.Records) > 4 })
		o.Records = slices.Clone(o.Records)
		o.Records[1].Value = histories.String("nobody")
	},
	"refused and read": func(ops []histories.Op) {
		o := after(ops, func(o *histories.Op) bool { return o.Kind == histories.Send && o.Outcome == histories.OK })
		o.Outcome, o.Offset = histories.Fail, histories.None
	},
	"told another offset": func(ops []histories.Op) {
		after(ops, func(o *histories.Op) bool { return o.Kind == histories.Send && o.Outcome == histories.OK }).Offset += 3
	},
	"above its mark": func(ops []histories.Op) {
		after(ops, func(o *histories.Op) bool { return len(o.Records) > 4 }).HW -= 5
	},
}

// after returns the first operation behind the middle that a damage can be done to.
func after(ops []histories.Op, fits func(*histories.Op) bool) *histories.Op {
	for i := len(ops) / 2; i < len(ops); i++ {
		if fits(&ops[i]) {
			return &ops[i]
		}
	}
	return nil
}

// damaged returns a large history with one damage.
func damaged(t testing.TB, load modeltest.Load, damage string, config ...histories.Setting) *histories.History {
	t.Helper()
	ops := modeltest.Large(load)
	damages[damage](ops)
	h, err := histories.New("large", histories.Header{Config: config}, ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestSuspectsInLargeHistories damages larger histories in each way, under
// different promises, and asks for the same findings.
func TestSuspectsInLargeHistories(t *testing.T) {
	all := histories.Setting{Key: "acks", Value: "all"}
	idempotent := histories.Setting{Key: idemKey, Value: "true"}
	exact := histories.Setting{Key: "reads", Value: "linearizable"}
	dense := histories.Setting{Key: "offsets", Value: "dense"}
	unclean := histories.Setting{Key: uncleanKey, Value: "true"}
	for name := range damages {
		for i, config := range []histories.Config{{all, idempotent, exact, dense}, {all}, {all, idempotent, unclean}, {all, exact}} {
			t.Run(fmt.Sprint(name, "/", i), func(t *testing.T) {
				h := damaged(t, modeltest.Load{Ops: 3000, Clients: 10, Unknown: 10, Seed: uint64(i)}, name, config...)
				if !suspectsAsWhole(t, h) {
					t.Fatal("it was not judged by sections")
				}
			})
		}
	}
}
