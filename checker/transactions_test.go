package checker

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

func drawTransactional(t *rapid.T, fault modeltest.Fault) (h *histories.History, shown bool) {
	ops, config, shown := modeltest.Transactional(t, fault, draw.Int(t, 4, 30, "ops"))
	h, err := histories.New("drawn", histories.Header{Config: config}, ops, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h, shown
}

// TestTransactionsRaiseNoFalseAlarm judges what clients of a log saw that isolates
// transactions as it should.
func TestTransactionsRaiseNoFalseAlarm(t *testing.T) {
	judged, fine := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			h, _ := drawTransactional(t, modeltest.Sound)
			got := Check(context.Background(), h, Options{Engine: Both})
			if judged++; got.Verdict == Conforms {
				fine++
			} else if got.Verdict != Undecided {
				t.Fatalf("%v\n%s", got.Err(), h.AppendNotation(nil))
			}
		}
	})
	if t.Logf("%d of %d legal histories are ok, the others undecided", fine, judged); fine < judged/2 {
		t.Errorf("only %d of %d legal histories are ok", fine, judged)
	}
}

// TestBrokenTransactionsAreFound judges what clients of logs saw that break their
// transactions in one way each. Where it is certain that a client was shown the
// fault, there is a violation, and each name is found at least once.
func TestBrokenTransactionsAreFound(t *testing.T) {
	for _, c := range []struct {
		fault modeltest.Fault
		names []string
	}{
		{modeltest.ShowsOpen, []string{"early-read", "precommitted-read"}},
		{modeltest.ShowsAborted, []string{"aborted-read"}},
		{modeltest.TearsCommits, []string{"lost-write", "torn-transaction"}},
	} {
		found, shown, findings, more := map[string]int{}, 0, 0, 0
		rapid.Check(t, func(t *rapid.T) {
			for range 30 {
				h, certain := drawTransactional(t, c.fault)
				got := Check(context.Background(), h, Options{Engine: Both})
				for _, name := range got.Names() {
					found[name]++
				}
				findings += len(got.Findings)
				more += len(unproven(h, got))
				if certain && c.fault != modeltest.TearsCommits {
					shown++
					if got.Verdict != Violates {
						t.Fatalf("%s: %s\n%s", got.Verdict, got.Reason, h.AppendNotation(nil))
					}
				}
			}
		})
		t.Logf("fault %d: certainly shown in %d, found %v; %d findings, %d of which need more than what they name", c.fault, shown, found, findings, more)
		if more > max(findings/100, 1) { // whether other transactions are over decides what a scan says
			t.Errorf("fault %d: of %d findings %d need more than what they name", c.fault, findings, more)
		}
		for _, name := range c.names {
			if found[name] == 0 {
				t.Errorf("fault %d: no %s", c.fault, name)
			}
		}
	}
}

// TestProjectionsAgree judges projections, whose answers may speak for more than
// their records show, by sections and quickly, and compares that with the thorough
// judgement of the whole.
func TestProjectionsAgree(t *testing.T) {
	sections, quick, all := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			ops, config, _ := modeltest.Transactional(t, draw.From(t, "fault", modeltest.Sound, modeltest.Sound, modeltest.TearsCommits), draw.Int(t, 4, 30, "ops"))
			for range draw.Int(t, 0, 2, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			h, err := histories.New("drawn", histories.Header{Config: config}, ops, nil)
			if err != nil {
				continue // a corruption of this kind is refused
			}
			ts := findTransactions(h)
			if ts == nil {
				continue
			}
			p := ts.project().history
			if !slices.ContainsFunc(p.Ops(), func(o histories.Op) bool { return o.IsRead() && o.To != histories.None }) {
				continue
			}
			all++
			if suspectsAsWhole(t, p) {
				sections++
			}
			if sameAsThorough(t, p) {
				quick++
			}
		}
	})
	if t.Logf("%d projections: %d judged by sections, %d quickly", all, sections, quick); sections < all/4 || quick < all/4 {
		t.Errorf("of %d projections only %d were judged by sections, %d quickly", all, sections, quick)
	}
}
