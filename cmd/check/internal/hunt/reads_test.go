package hunt

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// TestReadBarrier judges reads as linearizable: with the barrier no fault makes
// a read stale, neither where replicas outside the ISR are eligible nor where
// uncleanly elected ones are, beyond what they lost.
func TestReadBarrier(t *testing.T) {
	if testing.Short() {
		t.Skip("four thousand schedules")
	}
	for _, tt := range []struct {
		setting string
		faults  []string // that must have happened
	}{
		{"eligible.leader.replicas.enable=false", []string{"isolate", "pause", "move-leader", "depose-controller"}},
		{"eligible.leader.replicas.enable=true", []string{"wipe", "fence", "restart-controller", "depose-controller"}},
		{"unclean.leader.election.enable=true", []string{"power-loss", "hold-metadata", "depose-controller"}},
		{"unclean.leader.election.enable=false", []string{"elect-unclean", "depose-controller"}},
	} {
		t.Run(tt.setting, func(t *testing.T) {
			key, value, _ := strings.Cut(tt.setting, "=")
			r, err := Run(context.Background(), Options{Runs: 1000, Seed: 4,
				Settings: []schedule.Setting{{Key: "reads", Value: "linearizable"}, {Key: key, Value: value}}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Failed != nil {
				report(t, Setup{}, r.Failed)
			}
			if r.Stats.BarrierReads == 0 || r.OK < r.Runs/2 {
				t.Errorf("%d of %d schedules ok; %d reads waited for the barrier", r.OK, r.Runs, r.Stats.BarrierReads)
			}
			for i, f := range impl.Faults {
				if slices.Contains(tt.faults, f.Verb) && r.Stats.Faults[i] == 0 {
					t.Errorf("no %s in %d schedules", f.Verb, r.Runs)
				}
			}
		})
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
