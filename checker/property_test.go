package checker

import (
	"context"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// drawOptions draws what kind of history to draw.
func drawOptions(t *rapid.T, ops int) modeltest.Options {
	return modeltest.Options{
		Linearizable: draw.Int(t, 0, 1, "linearizable") == 1,
		Dense:        draw.Int(t, 0, 1, "dense") == 1,
		Clients:      draw.Int(t, 1, 4, "clients"),
		Ops:          ops,
		Deletes:      draw.OneIn(t, 4, "deletes"),
		Isolated:     draw.OneIn(t, 4, "isolated"),
		Resend:       draw.OneIn(t, 4, "resend"),
		Retries:      draw.OneIn(t, 4, "retries"),
		Scan:         draw.Int(t, 0, 3, "scan") > 0,
	}
}

func build(t *rapid.T, opt modeltest.Options, ops []histories.Op) *histories.History {
	h, err := histories.New("drawn", histories.Header{Config: opt.Config()}, ops, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return h
}

// TestNoFalseAlarm judges histories that a committed log really produced.
// None may be called a violation.
func TestNoFalseAlarm(t *testing.T) {
	judged, fine, n := 0, 0, drawn(t, 11_000)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := drawOptions(t, 14)
			h := build(t, opt, modeltest.Legal(t, opt))
			got := Check(context.Background(), h, Options{Engine: Both})
			if got.Verdict != Conforms && got.Verdict != Undecided {
				t.Fatalf("%v\n%s", got.Err(), h.AppendNotation(nil))
			}
			judged++
			if got.Verdict == Conforms {
				fine++
			}
		}
	})
	t.Logf("%d of %d legal histories are ok, the others undecided", fine, judged)
	if fine < judged/2 {
		t.Errorf("only %d of %d legal histories are ok", fine, judged)
	}
}

// TestRulesAndModelAgree corrupts histories. Where a rule about the log fires
// the model must reject (a rule that is wrong makes the check contradict
// itself), and where the model rejects there must be a finding.
func TestRulesAndModelAgree(t *testing.T) {
	named := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 60 {
			opt := drawOptions(t, 9)
			ops := modeltest.Legal(t, opt)
			for range draw.Int(t, 1, 3, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			got := Check(context.Background(), h, Options{Engine: Both})
			if got.Verdict == Contradictory {
				t.Fatalf("%s\n%v\n%s", got.Reason, got.Findings, h.AppendNotation(nil))
			}
			for _, n := range got.Names() {
				named[n]++
			}
			rules := Check(context.Background(), h, Options{})
			if rules.Verdict != got.Verdict {
				t.Fatalf("%s with both engines, %s with rules first\n%s", got.Verdict, rules.Verdict, h.AppendNotation(nil))
			}
		}
	})
	t.Log(named)
	for _, r := range []string{"lost-write", "inconsistent-offsets", "duplicate", "aborted-read", "phantom", "early-read", "poll-skip"} {
		if named[r] == 0 {
			t.Errorf("no corrupted history was called %s", r)
		}
	}
}

// wellFormed reports whether a corruption left a history that can be built.
func wellFormed(ops []histories.Op) bool {
	_, err := histories.New("drawn", histories.Header{}, ops, nil)
	return err == nil
}

// TestSameVerdictAsEnumeration compares the whole check with an enumeration of
// all linearizations: a violation if and only if there is none, sessions aside.
func TestSameVerdictAsEnumeration(t *testing.T) {
	session := map[string]bool{}
	for _, r := range rules {
		session[r.name] = session[r.name] || !r.log
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			opt := drawOptions(t, 6)
			if opt.Retries = opt.Retries && draw.OneIn(t, 4, "bounded"); opt.Retries { // the enumeration is exponential in what may land again
				opt.Ops = 4
			}
			ops := modeltest.Legal(t, opt)
			for range draw.Int(t, 0, 2, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			at, _ := positions(h)
			legal, known := modeltest.Linearizable(h.Ops(), opt, func(o *histories.Op) int64 { return asked(h, o, at) }, modeltest.Patient)
			if !known {
				continue
			}
			got := Check(context.Background(), h, Options{})
			onlySession := true
			for _, n := range got.Names() {
				onlySession = onlySession && session[n]
			}
			// What retries may add is bounded in the enumeration and not in the
			// check, which errs on the side of no alarm there.
			if !legal && got.Verdict != Violates && !opt.Retries || legal && got.Verdict == Violates && !onlySession {
				t.Fatalf("enumeration says legal=%v, the check says %s %v\n%s", legal, got.Verdict, got.Names(), h.AppendNotation(nil))
			}
		}
	})
}

// asked returns where a read was asked to begin, as the history format says:
// fetch states it, a scan begins at the log start, a poll at its consumer's
// position.
func asked(h *histories.History, o *histories.Op, at map[*histories.Op]stand) int64 {
	switch o.Kind {
	case histories.Scan:
		if h.Config().Get("offsets") == "dense" || modeltest.StartTold(h.Ops()) {
			return 0
		}
		if len(o.Records) > 0 {
			return lowest(o.Records)
		}
		return max(o.End, 0)
	case histories.Poll:
		if p, ok := at[o]; ok {
			return p.from
		}
		return histories.None
	}
	return o.From
}
