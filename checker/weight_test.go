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
// a budget that is too small for it, and under one that is not.
func TestHeavyHistories(t *testing.T) {
	config := []histories.Setting{{Key: "acks", Value: "all"}, {Key: idemKey, Value: "true"}}
	h := damaged(t, modeltest.Load{Ops: 2 * sectioned, Clients: 10, Unknown: 10}, "lost record", false, config...)
	path := filepath.Join(t.TempDir(), "run.jsonl")
	if err := h.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	judge := func(engine Engine, budget int64) []*Result {
		opts := Options{Engine: engine, Memory: budget}
		byFile, _, err := CheckFile(context.Background(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		return []*Result{Check(context.Background(), h, opts), byFile}
	}
	for _, engine := range []Engine{Auto, Porcupine, Linear, Both} {
		for _, got := range judge(engine, 4<<10) {
			if got.Verdict != Undecided || !strings.Contains(got.Reason, "memory budget") {
				t.Errorf("engine %q: %s (%s), want unknown for its memory budget", engine, got.Verdict, got.Reason)
			}
		}
	}
	for _, got := range judge(Auto, 1<<20) { // enough for what looks wrong
		if got.Verdict != Violates {
			t.Errorf("%s (%s), want a violation", got.Verdict, got.Reason)
		}
	}
}
