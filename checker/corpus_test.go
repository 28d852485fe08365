package checker

import (
	"context"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestCorpus judges every case and compares with the verdict it documents.
func TestCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		t.Run(h.Name(), func(t *testing.T) {
			want := h.Header().Expect
			got := Check(context.Background(), h, Options{})
			if !got.Meets(want) {
				t.Errorf("verdict %s %v (%s), want %s", got.Verdict, got.Names(), got.Reason, want)
			}
			for _, f := range got.Findings {
				t.Logf("%s [%s] %s", f.Name, f.Allowed, f.Says)
			}
			for _, n := range got.Notes {
				t.Log(n)
			}
		})
	}
}

// TestEveryRuleHasACase keeps the corpus complete: each rule is violated by a
// case that expects it by name.
func TestEveryRuleHasACase(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string]bool{}
	for _, h := range cases {
		for _, name := range h.Header().Expect.Names {
			expected[name] = true
		}
	}
	for _, r := range rules {
		if !expected[r.name] {
			t.Errorf("no case of the corpus expects %s", r.name)
		}
	}
	if !expected[notLinearizable] {
		t.Errorf("no case of the corpus expects %s", notLinearizable)
	}
}
