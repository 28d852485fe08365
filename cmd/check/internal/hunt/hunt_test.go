package hunt

import (
	"context"
	"flag"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/gen"
	"pgregory.net/rapid"
)

var safeRuns = flag.Int("safe-runs", 3000, "schedules that TestSafeSettings draws")

// TestSafeSettings runs drawn schedules on the correct cluster: no history is
// a violation, no invariant breaks, and two runs of one schedule are the same.
// A green run means something only if what the protocol is for happened.
func TestSafeSettings(t *testing.T) {
	r, err := Run(context.Background(), Options{Runs: *safeRuns, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != nil {
		report(t, Setup{}, r.Failed)
	}
	t.Logf("%d schedules: %d ok, %d undecided, %d with permitted findings; %s", r.Runs, r.OK, r.Undecided, r.Allowed, r.Exercised)
	t.Logf("%+v %+v", r.Stats, r.Sometimes)
	for what, n := range map[string]int64{
		"elections":                     r.Stats.Elections,
		"truncations":                   r.Stats.Truncations,
		"ISR shrinks":                   r.Stats.IsrShrinks,
		"ISR expansions":                r.Stats.IsrExpansions,
		"NOT_ENOUGH_REPLICAS":           r.Stats.NotEnoughReplicas,
		"unknown sends that happened":   int64(r.Sometimes.UnknownTookEffect),
		"unknown sends that did not":    int64(r.Sometimes.UnknownDidNot),
		"definite verdicts":             int64(r.OK - r.Runs/2),
		"runs with permitted anomalies": int64(r.Allowed),
	} {
		if n <= 0 {
			t.Errorf("%s never happened in %d schedules", what, r.Runs)
		}
	}
	for i, m := range impl.Moments {
		if r.Stats.Moments[i] == 0 {
			t.Errorf("no fault ever waited for a %s and struck", m.Name)
		}
	}
	for i, role := range impl.Roles {
		if r.Stats.Roles[i] == 0 {
			t.Errorf("no fault ever struck the %s", role.Name)
		}
	}
	for i, f := range impl.Faults {
		if r.Stats.Faults[i] == 0 {
			t.Errorf("the fault %s never struck in %d schedules", f.Verb, r.Runs)
		}
	}
	for i, s := range Settings {
		if r.Sometimes.Settings[i] == 0 {
			t.Errorf("%s=%s made no difference in %d schedules", s.Key, s.Value, r.Runs)
		}
	}
}

// TestSafeSettingsWithRapid is the same property for rapid to shrink.
func TestSafeSettingsWithRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gen.Schedule(gen.Options{}).Draw(t, "schedule")
		trial, err := Setup{}.TryTwice(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if trial.Failed() {
			t.Fatalf("%v\n%s", trial.Result.Err(), s)
		}
	})
}

// TestUncleanElections lets committed records be lost by configuration: what
// clients see then is listed as allowed and is no violation.
func TestUncleanElections(t *testing.T) {
	o := Options{Runs: 1500, Seed: 2, Settings: []schedule.Setting{{Key: "unclean.leader.election.enable", Value: "true"}}}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed != nil {
		report(t, Setup{}, r.Failed)
	}
	if r.Stats.UncleanElections == 0 || r.Allowed == 0 {
		t.Errorf("%d unclean elections and %d runs with allowed findings in %d schedules", r.Stats.UncleanElections, r.Allowed, r.Runs)
	}
}

// TestOtherRules follows what other descriptions of the protocol say instead of
// Kafka's code: that is safe as well.
func TestOtherRules(t *testing.T) {
	if testing.Short() {
		t.Skip("two thousand schedules")
	}
	for _, other := range []schedule.Setting{{Key: "metadata.version", Value: "3.5"}, {Key: "pending.sends", Value: "refuse"}} {
		r, err := Run(context.Background(), Options{Runs: 1000, Seed: 4, Settings: []schedule.Setting{other}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Failed != nil {
			report(t, Setup{}, r.Failed)
		}
		if r.OK < r.Runs/2 || r.Stats.IsrShrinks == 0 {
			t.Errorf("%s=%s: %d of %d schedules ok, %d times an ISR got smaller", other.Key, other.Value, r.OK, r.Runs, r.Stats.IsrShrinks)
		}
	}
}

// TestEveryBugIsFound hunts each seeded bug with the one generator. The finding
// is the one the bug's row names, the case is minimized, replays byte for
// byte, and is fine without the bug. With ISRCHECK_HUNTS=1 this is so for the rare
// ones as well, in a minute, and cases are minimized further.
func TestEveryBugIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("hunts of some seconds")
	}
	bound, tries, missed, mostMissed := 300, 15, atomic.Int32{}, int32(len(impl.Bugs)/4)
	if os.Getenv("ISRCHECK_HUNTS") != "" {
		bound, tries, mostMissed = 20_000, 150, 0
	}
	t.Cleanup(func() {
		if n := missed.Load(); n > mostMissed {
			t.Errorf("%d of %d bugs were not found in %d schedules", n, len(impl.Bugs), bound)
		}
	})
	for _, b := range impl.Bugs {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel() // one is minimized while others are hunted
			ctx := context.Background()
			r, err := Run(ctx, Options{Runs: bound, Seed: 1, Bug: b.Name})
			if err != nil {
				t.Fatal(err)
			}
			if r.Failed == nil {
				missed.Add(1)
				t.Skipf("not found in %d schedules", r.Runs)
			}
			if rule := r.Failed.Rule(); rule != b.Anomaly && rule != "invariant "+b.Invariant {
				t.Errorf("found by %s; the bug's row names the invariant %s and the anomaly %s", rule, b.Invariant, b.Anomaly)
			}
			small, runs, err := Setup{}.Minimize(ctx, r.Failed, tries)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s in schedule %d; %d steps minimized to %d in %d runs", r.Failed.Rule(), r.FailedAt, len(r.Failed.Schedule.Steps), len(small.Schedule.Steps), runs)
			if !small.Has(r.Failed.Rule()) {
				t.Errorf("the minimized case fails by %v, the first one by %s", small.Result.Names(), r.Failed.Rule())
			}
			replaysByteForByte(t, small)
			if c, err := (Setup{}).Try(ctx, cured(small.Schedule)); err != nil || c.Result.Verdict == checker.Violates {
				t.Errorf("without the bug: %v %v", err, c.Result.Err())
			}
		})
	}
}

// replaysByteForByte writes a case, reads it, runs it again and compares.
func replaysByteForByte(t *testing.T, trial *Trial) {
	t.Helper()
	saved, err := trial.Case()
	if err != nil {
		t.Fatal(err)
	}
	text := saved.AppendNotation(nil)
	read, err := histories.Parse("case.hist", text)
	if err != nil {
		t.Fatalf("the case does not parse: %v\n%s", err, text)
	}
	r, err := Setup{}.Replay(context.Background(), read)
	if err != nil {
		t.Fatal(err)
	}
	if r.Stale != "" || r.Wrong != "" {
		t.Errorf("%s %s\n%s", r.Stale, r.Wrong, text)
	}
	again, err := r.Trial.Case()
	if err != nil {
		t.Fatal(err)
	}
	if got := again.AppendNotation(nil); string(got) != string(text) {
		t.Errorf("replayed as\n%s\nsaved as\n%s", got, text)
	}
}

// TestOrderOfRuns checks that a hunt's report does not depend on how many
// runs are under way at once, and that any run can be repeated alone.
func TestOrderOfRuns(t *testing.T) {
	ctx := context.Background()
	whole, err := Run(ctx, Options{Runs: 600, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Run(ctx, Options{Runs: 1, First: 599, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := whole.Last.Run.Fingerprint, alone.Last.Run.Fingerprint; a != b {
		t.Errorf("run 599 has fingerprint %s in a hunt of 600 and %s alone", a, b)
	}
}

// TestSecondRuns checks which schedules of a hunt are run twice.
func TestSecondRuns(t *testing.T) {
	fine, failed := &Trial{Result: &checker.Result{}}, &Trial{Result: &checker.Result{Verdict: checker.Violates}}
	for _, c := range []struct {
		bug    string
		number int
		trial  *Trial
		want   bool
	}{
		{"", 0, fine, true},
		{"", 32, fine, true},
		{"", 33, fine, false},
		{"", 33, failed, true},
		{"read-uncommitted-tail", 32, failed, false},
	} {
		if got := (&Options{Bug: c.bug}).repeats(c.number, c.trial); got != c.want {
			t.Errorf("schedule %d, verdict %s, bug %q: run twice is %v", c.number, c.trial.Result.Verdict, c.bug, got)
		}
	}
}

// report fails a test with the minimized case of a failure.
func report(t *testing.T, u Setup, failed *Trial) {
	t.Helper()
	small, _, err := u.Minimize(context.Background(), failed, 3000)
	if err != nil {
		t.Fatal(err)
	}
	h, err := small.Case()
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("%v\n%s", failed.Result.Err(), h.AppendNotation(nil))
}

// TestReplayIsInterrupted does not wait for a run that nothing ends, and keeps
// its panic.
func TestReplayIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	_, err := unlessOver(ctx, func() (*Trial, error) { cancel(); <-never; return nil, nil })
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
	defer func() {
		if p, _ := recover().(string); !strings.Contains(p, "out of cheese") {
			t.Errorf("the panic became %q", p)
		}
	}()
	unlessOver(t.Context(), func() (*Trial, error) { panic("out of cheese") })
}
