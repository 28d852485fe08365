package checker

import (
	"context"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories/draw"
)

// longestLegal judges every prefix.
func longestLegal(t interface{ Fatal(...any) }, h *histories.History) int {
	n := len(h.Moments()) - 1
	for !legalUpTo(t, h, n) {
		n--
	}
	return n
}

func legalUpTo(t interface{ Fatal(...any) }, h *histories.History, n int) bool {
	part, err := h.Prefix(h.Moments()[:n])
	if err != nil {
		t.Fatal(err)
	}
	return Check(context.Background(), part, Options{}).Verdict != Violates
}

// TestLegalPrefixOfCorpus compares the search with judging every prefix.
func TestLegalPrefixOfCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		r := Check(context.Background(), h, Options{})
		if r.Verdict != Violates {
			continue
		}
		got, want := LegalPrefix(context.Background(), h, r, Options{}), longestLegal(t, h)
		if got.Skipped != "" || got.Events != want || got.Of != len(h.Moments()) {
			t.Errorf("%s: %+v, want %d events", h.Name(), got, want)
		}
	}
}

// TestLegalPrefix corrupts histories and compares the search with judging every
// prefix.
func TestLegalPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 4 {
			h := drawCorrupted(t, 10)
			if h == nil {
				continue
			}
			r := Check(context.Background(), h, Options{})
			if r.Verdict != Violates {
				continue
			}
			got := LegalPrefix(context.Background(), h, r, Options{})
			if again := hasHindsight(h) && legalUpTo(t, h, got.Events) && !legalUpTo(t, h, got.Events+1); again {
				continue // a longer one may be legal again
			}
			if want := longestLegal(t, h); got.Skipped != "" || got.Events != want {
				t.Fatalf("%+v, want %d events of\n%s", got, want, h.AppendEvents(nil))
			}
		}
	})
}

// TestLegalPrefixOfWhatIsCutOff asks for the prefix of a minimized history, in which
// the log start is told at the end and holds from the beginning.
func TestLegalPrefixOfWhatIsCutOff(t *testing.T) {
	h, err := histories.Parse("cut", []byte(`history 1
config acks=all enable.idempotence=true offsets=dense reads=linearizable
note `+cutBelow+`
1-2 P1 send 29 => ok @29
3-4 U send 100,101 => info @-
5-6 L list latest => ok @31
7-7 minimized list earliest => ok @29
`))
	if err != nil {
		t.Fatal(err)
	}
	got := LegalPrefix(context.Background(), h, Check(context.Background(), h, Options{}), Options{})
	if got.Breaks.Line != 6 || !got.Answer || got.Line != 5 || got.Time != 5 || got.Events != 7 || got.Of != 8 {
		t.Errorf("%+v, want the answer in line 6", got)
	}
}

// drawCorrupted draws a history that is likely illegal, nil if none came of it.
func drawCorrupted(t *rapid.T, size int) *histories.History {
	opt := drawOptions(t, size)
	ops := modeltest.Legal(t, opt)
	for range draw.Int(t, 1, 3, "corruptions") {
		ops = modeltest.Corrupt(t, ops)
	}
	if !wellFormed(ops) {
		return nil
	}
	return build(t, opt, ops)
}

// TestLegalPrefixWithinBudgets asks for a prefix where there is no room for the
// history, or no step for an engine.
func TestLegalPrefixWithinBudgets(t *testing.T) {
	h, err := histories.Parse("repeated", []byte(`history 1
config acks=all offsets=dense reads=linearizable enable.idempotence=true
1-9 P1 send 1,2 => info
1-9 P2 send 1,3 => info
2-3 C1 list latest => ok @3
`))
	if err != nil {
		t.Fatal(err)
	}
	r := Check(context.Background(), h, Options{})
	if r.Verdict != Violates || r.Exercised.Steps == 0 {
		t.Fatalf("%s after %d steps, want a violation that only a search finds", r.Verdict, r.Exercised.Steps)
	}
	for _, limits := range []struct {
		opts Options
		why  string
	}{
		{Options{Memory: 1}, "memory budget"},
		{Options{Steps: 1}, "model steps"},
		{Options{}, ""},
	} {
		if got := LegalPrefix(context.Background(), h, r, limits.opts); !strings.Contains(got.Skipped, limits.why) || limits.why == "" && got.Skipped != "" {
			t.Errorf("with %+v: %+v, want %q", limits.opts, got, limits.why)
		}
	}
}
