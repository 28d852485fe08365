package hunt

import (
	"context"
	"testing"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// TestReadBarrier judges reads as linearizable: with the barrier no fault makes
// a read stale.
func TestReadBarrier(t *testing.T) {
	barrier := []schedule.Setting{{Key: "reads", Value: "linearizable"}}
	r, err := Run(context.Background(), Options{Runs: 3000, Seed: 3, Settings: barrier})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != nil {
		report(t, Setup{}, r.Failed)
	}
	if r.Exercised.Reads == 0 || r.OK < r.Runs/2 {
		t.Errorf("%d of %d schedules ok; %s", r.OK, r.Runs, r.Exercised)
	}
}

// TestWithoutReadBarrier judges the same schedules without the barrier in the
// same way: a leader that was deposed without knowing answers a read that
// misses what its successor has acknowledged.
func TestWithoutReadBarrier(t *testing.T) {
	r, err := Run(context.Background(), Options{Runs: 3000, Seed: 3, Setup: Setup{Reads: "linearizable"},
		Settings: []schedule.Setting{{Key: "reads", Value: "committed"}}, Rules: []string{"stale-read"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed == nil {
		t.Fatalf("no stale read in %d schedules", r.Runs)
	}
	small, _, err := Setup{Reads: "linearizable"}.Minimize(context.Background(), r.Failed, 2000)
	if err != nil {
		t.Fatal(err)
	}
	h, err := small.Case()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("schedule %d\n%s", r.FailedAt, h.AppendNotation(nil))
}
