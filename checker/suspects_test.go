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
	return sectionsAsWhole(t, h, handOver(h)) && sectionsAsWhole(t, h, oneByOne(h))
}

func sectionsAsWhole(t interface {
	Helper()
	Fatalf(string, ...any)
}, h *histories.History, again replay) bool {
	t.Helper()
	got, _, ok := judgeSuspects(context.Background(), again, Options{}, 0)
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

// TestSectionBehindTheLogStart judges a log in which a batch of unknown outcome
// would explain what nobody read, if only it reached below the log start.
func TestSectionBehindTheLogStart(t *testing.T) {
	const text = `history 1
config acks=all reads=linearizable offsets=dense enable.idempotence=true
0-0 P1 send 1 => info
0-0 P1 send 2,3,4 => info
2-2 P2 delete-records 5 => ok start=5
3-4 P2 send 7 => ok @5
5-5 P2 send 10 => info
6-6 P2 list latest => ok @7
6-7 P2 send 11 => ok @9
`
	h, err := histories.Parse("straddles", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !suspectsAsWhole(t, h) {
		t.Error("it was not judged by sections")
	}
	if r := Check(context.Background(), h, Options{}); r.Verdict != Violates {
		t.Errorf("verdict %s, want a violation", r.Verdict)
	}
}

// TestSuspectsInCompactedLogs does the same where records have keys, some the same
// one and some none that is told, and answers lack some of the records.
func TestSuspectsInCompactedLogs(t *testing.T) {
	judged, all, verdicts := 0, 0, map[Verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 60 {
			opt := drawOptions(t, 24)
			opt.Dense = false
			ops := compacted(t, modeltest.Legal(t, opt))
			if draw.OneIn(t, 3, "corrupted") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			all++
			header := histories.Header{Config: opt.Config().With("cleanup.policy", "compact")}
			h, err := histories.New("drawn", header, ops, nil)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if suspectsAsWhole(t, h) {
				judged++
				verdicts[Check(context.Background(), h, Options{}).Verdict]++
			}
		}
	})
	t.Logf("%d of %d were judged by sections: %v", judged, all, verdicts)
	if judged < all/20 || verdicts[Conforms] == 0 || verdicts[Violates] == 0 {
		t.Errorf("%d of %d histories were judged by sections: %v", judged, all, verdicts)
	}
}

// compacted gives sends keys, and takes records out of answers: mostly those
// that have a newer one of their key.
func compacted(t *rapid.T, ops []histories.Op) []histories.Op {
	ops = slices.Clone(ops)
	keyOf, newest := map[histories.Value]string{}, map[string]int64{}
	for i := range ops {
		if o := &ops[i]; o.Kind == histories.Send {
			if o.Key = draw.From(t, "key", "1", "2", "3", "4", "5", "6", "7", "8"); draw.OneIn(t, 40, "untold") {
				o.Key = ""
			}
			for _, v := range o.Values {
				keyOf[v] = o.Key
			}
		}
		for _, r := range ops[i].Records {
			newest[keyOf[r.Value]] = max(newest[keyOf[r.Value]], r.Offset)
		}
	}
	for i := range ops {
		ops[i].Records = slices.DeleteFunc(slices.Clone(ops[i].Records), func(r histories.Record) bool {
			return r.Offset < newest[keyOf[r.Value]] && draw.OneIn(t, 3, "removed") || draw.OneIn(t, 200, "lost")
		})
	}
	return ops
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
func damaged(t testing.TB, load modeltest.Load, damage string, deletes bool, config ...histories.Setting) *histories.History {
	t.Helper()
	ops := modeltest.Large(load)
	damages[damage](ops)
	if deletes {
		ops = deleting(ops)
	}
	h, err := histories.New("large", histories.Header{Config: config}, ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// deleting lets somebody delete all but the last 30 records that were there at a
// third of the operations, and others be told so: where an answer has the log
// start, and at the end.
func deleting(ops []histories.Op) []histories.Op {
	third := ops[len(ops)/3]
	end := int64(0)
	for i := range ops[:len(ops)/3] {
		end = max(end, ops[i].HW)
	}
	deletes := histories.NewOp("A1", histories.DeleteRecords)
	deletes.To, deletes.Start, deletes.Outcome, deletes.Call, deletes.Return = end-30, end-30, histories.OK, third.Call, third.Return
	last := histories.NewOp("A1", histories.List)
	last.At, last.Offset, last.Outcome, last.Call, last.Return = "earliest", end-30, histories.OK, int64(2*len(ops)+2), int64(2*len(ops)+4)
	for i := range ops {
		if o := &ops[i]; o.Kind == histories.Fetch && o.Call > third.Return && i%3 == 0 {
			o.Start = end - 30
		}
	}
	return append(ops, deletes, last)
}

// TestSuspectsInLargeHistories damages larger histories in each way, under
// different promises, and asks for the same findings.
func TestSuspectsInLargeHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("many judgements, each of one goroutine")
	}
	all := histories.Setting{Key: "acks", Value: "all"}
	idempotent := histories.Setting{Key: idemKey, Value: "true"}
	exact := histories.Setting{Key: "reads", Value: "linearizable"}
	dense := histories.Setting{Key: "offsets", Value: "dense"}
	unclean := histories.Setting{Key: uncleanKey, Value: "true"}
	for name := range damages {
		for i, config := range []histories.Config{{all, idempotent, exact, dense}, {all}, {all, idempotent, unclean}, {all, exact}} {
			t.Run(fmt.Sprint(name, "/", i), func(t *testing.T) {
				for _, deletes := range []bool{false, true} {
					h := damaged(t, modeltest.Load{Ops: 3000, Clients: 10, Unknown: 10, Seed: uint64(i)}, name, deletes, config...)
					if !suspectsAsWhole(t, h) {
						t.Fatal("it was not judged by sections")
					}
				}
			})
		}
	}
}
