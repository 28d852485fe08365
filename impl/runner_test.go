package impl

import (
	"bytes"
	"slices"
	"testing"
)

// TestRunnerForgets runs varied schedules in the same memory, clusters of every
// size among them: each run is the one it would be in memory of its own, and
// the runs after it leave what it returned alone.
func TestRunnerForgets(t *testing.T) {
	type saved struct {
		result *Result
		events []byte
	}
	var runner Runner
	var done []saved
	for n := range 60 {
		s := nthSchedule(n, n%4 == 3)
		if n%5 == 4 {
			s = readSchedule(t, "testdata/bugs/"+Bugs[n%len(Bugs)].Name+".txt")
		}
		got, err := runner.Run(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := run(t, s)
		if got.Fingerprint != want.Fingerprint || !slices.Equal(got.Breaches, want.Breaches) {
			t.Errorf("schedule %d: fingerprint %s and breaches %v, want %s and %v", n, got.Fingerprint, got.Breaches, want.Fingerprint, want.Breaches)
		}
		if again := runner.Again(); again != want.Fingerprint {
			t.Errorf("schedule %d: fingerprint %s of the second run, want %s", n, again, want.Fingerprint)
		}
		done = append(done, saved{got, want.History.AppendEvents(nil)})
	}
	for n, d := range done {
		if !bytes.Equal(d.result.History.AppendEvents(nil), d.events) {
			t.Errorf("the history of schedule %d is not the one it would be in memory of its own", n)
		}
	}
}

// TestRunnerKeepsItsPlan refuses a schedule between two that can be run.
func TestRunnerKeepsItsPlan(t *testing.T) {
	var runner Runner
	first, err := runner.Run(nthSchedule(1, false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Run(parseSchedule(t, "1 P1 jump"), Options{}); err == nil {
		t.Error("no error of a step that nobody knows")
	}
	if again := runner.Again(); again != first.Fingerprint {
		t.Errorf("fingerprint %s of the second run, want %s", again, first.Fingerprint)
	}
}
