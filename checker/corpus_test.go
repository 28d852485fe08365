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
