package checker

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// TestHeavyHistories judges a history with one lost record by every way under
// budgets that are too small for it, and under one that is not.
func TestHeavyHistories(t *testing.T) {
	config := []histories.Setting{{Key: "acks", Value: "all"}, {Key: idemKey, Value: "true"}}
	h := damaged(t, modeltest.Load{Ops: 2 * sectioned, Clients: 10, Unknown: 10}, "lost record", config...)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := h.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []Engine{Auto, Porcupine, Linear, Both} {
		enough := int64(1 << 20) // for what looks wrong
		if engine != Auto {
			enough = DefaultMemory
		}
		for _, budget := range []int64{4 << 10, enough} {
			opts := Options{Engine: engine, Memory: budget}
			byFile, _, err := CheckFile(context.Background(), path, opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*Result{Check(context.Background(), h, opts), byFile} {
				switch {
				case budget == enough && got.Verdict != Violates:
					t.Errorf("engine %q with %d bytes: %s (%s), want a violation", engine, budget, got.Verdict, got.Reason)
				case budget != enough && (got.Verdict != Undecided || !strings.Contains(got.Reason, "memory budget")):
					t.Errorf("engine %q with %d bytes: %s (%s), want unknown for its memory budget", engine, budget, got.Verdict, got.Reason)
				}
			}
		}
	}
}
