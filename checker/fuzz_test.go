package checker

import (
	"context"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// FuzzVerdict takes bytes all the way to a verdict and its explanation, within
// small budgets: no panic, no contradiction, and every engine that decides
// decides the same.
func FuzzVerdict(f *testing.F) {
	cases, err := histories.Corpus()
	if err != nil {
		f.Fatal(err)
	}
	for i, h := range cases {
		switch {
		case len(h.Ops()) > 40:
		case i%2 == 0:
			f.Add(h.AppendNotation(nil))
		default:
			f.Add(h.AppendEvents(nil))
		}
	}
	for _, shape := range shapes {
		f.Add([]byte("history 1\n" + shape.text(4)))
	}
	budget := Options{Steps: 5_000, Memory: 8 << 20}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4096 {
			return
		}
		h, err := histories.Parse("x", text)
		if err != nil {
			return
		}
		verdicts := map[Verdict]Engine{}
		for _, engine := range []Engine{Auto, Porcupine, Linear, Both} {
			opts := budget
			opts.Engine = engine
			r := Check(context.Background(), h, opts)
			switch r.Verdict {
			case Contradictory, NotRun:
				t.Fatalf("%s: %s: %s\n%s", engine, r.Verdict, r.Reason, h.AppendNotation(nil))
			case Undecided:
				if r.Reason == "" {
					t.Errorf("%s: no reason for the verdict\n%s", engine, h.AppendNotation(nil))
				}
			case Violates:
				explained(t, h, r)
				verdicts[r.Verdict] = engine
			case Conforms:
				verdicts[r.Verdict] = engine
			}
		}
		if len(verdicts) > 1 {
			t.Errorf("ok by %q, a violation by %q:\n%s", verdicts[Conforms], verdicts[Violates], h.AppendNotation(nil))
		}
	})
}

// explained demands that a violation says what it is, with operations and marks
// of the history.
func explained(t *testing.T, h *histories.History, r *Result) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Name == "" || f.Says == "" || len(f.Evidence) == 0 {
			t.Errorf("a finding without name, words or evidence: %+v\n%s", f, h.AppendNotation(nil))
		}
		for _, e := range f.Evidence {
			if e.Text == "" || e.Index < 0 || e.Index >= len(h.Ops())+len(h.Marks()) {
				t.Errorf("%s: evidence that is not in the history: %+v\n%s", f.Name, e, h.AppendNotation(nil))
			}
		}
	}
}
