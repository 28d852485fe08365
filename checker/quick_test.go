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

// sameAsThorough compares what the quick judge accepts with the thorough check, and
// with what porcupine confirms, and reports whether it accepted.
func sameAsThorough(t interface {
	Helper()
	Fatalf(string, ...any)
}, h *histories.History) bool {
	t.Helper()
	quickly, ok := checkQuickly(h)
	singly, _, same := judgeSuspects(context.Background(), oneByOne(h), Options{}, never)
	if ok != same {
		t.Fatalf("the quick judge accepts %t, and %t if it is given one operation at a time\n%s", ok, same, h.AppendNotation(nil))
	}
	if !ok {
		return false
	}
	thoroughly := checkThoroughly(context.Background(), h, Options{Engine: Both})
	confirmed := Confirm(context.Background(), h, Options{})
	for _, r := range []*Result{quickly, singly, thoroughly, confirmed} {
		r.Engine, r.Exercised.Steps = "", 0
	}
	if !reflect.DeepEqual(quickly, singly) {
		t.Fatalf("quickly:\n%+v\none operation at a time:\n%+v\n%s", quickly, singly, h.AppendNotation(nil))
	}
	if !reflect.DeepEqual(quickly, thoroughly) || !reflect.DeepEqual(confirmed, thoroughly) {
		t.Fatalf("quickly:\n%+v\nthoroughly:\n%+v\nconfirmed:\n%+v\n%s", quickly, thoroughly, confirmed, h.AppendNotation(nil))
	}
	if c := h.Config(); retries(c) == "" && c.Get("cleanup.policy") != "compact" && !ordered(context.Background(), h, Options{}, quickly) {
		t.Fatalf("porcupine finds no order of what the quick judge accepts\n%s", h.AppendNotation(nil))
	}
	return true
}

// oneByOne hands a history in memory to a sink as if it was read: no operation of it
// is plain.
func oneByOne(h *histories.History) replay {
	return replay{inOrder: true, to: func(sink histories.Sink) bool {
		return handOver(h).to(struct{ histories.Sink }{sink})
	}}
}

// TestQuickJudgeIsNeverWrong compares the quick judge with the thorough check
// on legal and corrupted histories: what it accepts, with what it says, is what
// the thorough check concludes.
func TestQuickJudgeIsNeverWrong(t *testing.T) {
	accepted, legalDense := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 60 {
			opt := drawOptions(t, 12)
			ops := modeltest.Legal(t, opt)
			corruptions := draw.Int(t, 0, 2, "corruptions")
			for range corruptions {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			if sameAsThorough(t, h) {
				accepted++
			}
			if corruptions == 0 && opt.Dense {
				legalDense++
			}
		}
	})
	t.Logf("%d accepted; %d were legal with dense offsets", accepted, legalDense)
	if accepted < legalDense/2 {
		t.Errorf("only %d histories were accepted, of %d that are legal with dense offsets alone", accepted, legalDense)
	}
}

// TestQuickJudgeOnTheCorpus compares both on every case.
func TestQuickJudgeOnTheCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, h := range cases {
		if sameAsThorough(t, h) {
			accepted++
		}
	}
	if accepted < 5 {
		t.Errorf("the quick judge accepts only %d cases of the corpus", accepted)
	}
}

// TestAnswerThatRunsPastItsEnd judges answers whose records run, in order, past
// their last one: the table of slots may end there.
func TestAnswerThatRunsPastItsEnd(t *testing.T) {
	for at := range 70 {
		text := fmt.Sprintf("history 1\n1-2 P1 send 1 => ok @%d\n3-4 P1 send 2 => info\n5-6 C1 fetch from=%[1]d => ok [%[1]d:1 %d:2 %[1]d:1]\n", at, at+1)
		h, err := histories.Parse("backwards", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, want := Check(context.Background(), h, Options{}), checkThoroughly(context.Background(), h, Options{})
		if got.Verdict != Violates || !slices.Equal(got.Names(), want.Names()) {
			t.Errorf("at offset %d: %s %v, want a violation %v", at, got.Verdict, got.Names(), want.Names())
		}
	}
}
