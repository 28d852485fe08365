package impl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// TestBugs performs the schedule of each seeded bug, with the bug and without.
// With it, the invariant that the table names breaks first and clients see the
// anomaly that it names; without it, the same faults do no harm but what an
// unclean election may do where the settings allow one.
func TestBugs(t *testing.T) {
	for _, bug := range Bugs {
		t.Run(bug.Name, func(t *testing.T) {
			s := readSchedule(t, filepath.Join("testdata", "bugs", bug.Name+".txt"))
			if len(s.Bugs) != 1 || s.Bugs[0] != bug.Name {
				t.Fatalf("the schedule switches on %v", s.Bugs)
			}
			r := run(t, s)
			if first := firstBroken(r); !slices.Contains(first, bug.Invariant) && (bug.Invariant != "" || first != nil) {
				t.Errorf("broken first: %v, want %q", first, bug.Invariant)
			}
			seen := append(anomalies(r.History), "")
			if !r.Stats.Live {
				seen = append(seen, notLive)
			}
			if !slices.Contains(seen, bug.Anomaly) {
				t.Errorf("clients saw %q, want %q\n%s", seen, bug.Anomaly, text(r))
			}
			s.Bugs = nil
			r = run(t, s)
			if len(r.Breaches) > 0 || !r.Stats.Live {
				t.Errorf("without the bug: breaches %v, live %v", r.Breaches, r.Stats.Live)
			}
			if seen = anomalies(r.History); len(seen) > 0 && r.Stats.UncleanElections == 0 {
				t.Errorf("without the bug, clients saw %v\n%s", seen, text(r))
			}
		})
	}
}

// TestBugSchedulesAreAllUsed refuses a schedule that no bug's name leads to.
func TestBugSchedulesAreAllUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/bugs/*")
	if err != nil || len(files) != len(Bugs) {
		t.Errorf("%d schedules for %d bugs, %v", len(files), len(Bugs), err)
	}
}

// notLive is what clients see of a cluster that never becomes calm.
const notLive = "not-live"

func TestBugTableNamesWhatExists(t *testing.T) {
	for _, bug := range Bugs {
		if bug.Invariant != "" && !slices.ContainsFunc(Invariants, func(i Invariant) bool { return i.Name == bug.Invariant }) {
			t.Errorf("%s: unknown invariant %s", bug.Name, bug.Invariant)
		}
		if bug.Section == "" || bug.Reference == "" || bug.Says == "" || bug.Invariant == "" && bug.Anomaly == "" || bug.Anomaly == "" && bug.BlackBox {
			t.Errorf("%s: the row is incomplete", bug.Name)
		}
	}
}

// TestEveryInvariantIsBrokenByABug says which bug proves that an invariant is
// watched: none holds whatever happens.
func TestEveryInvariantIsBrokenByABug(t *testing.T) {
	var broken []string
	for i := range Bugs {
		for _, b := range run(t, readSchedule(t, "testdata/bugs/"+Bugs[i].Name+".txt")).Breaches {
			broken = append(broken, b.Invariant)
		}
	}
	for _, inv := range Invariants {
		if !slices.Contains(broken, inv.Name) {
			t.Errorf("no bug breaks %s", inv.Name)
		}
	}
}

// readSchedule returns the schedule of a scenario.
func readSchedule(t *testing.T, path string) schedule.Schedule {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseScenario(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return s.schedule
}

func parseSchedule(t *testing.T, text string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s schedule.Schedule) *Result {
	t.Helper()
	r, err := Run(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// firstBroken lists the invariants that broke in the first event that broke any.
func firstBroken(r *Result) (names []string) {
	for _, b := range r.Breaches {
		if b.At == r.Breaches[0].At {
			names = append(names, b.Invariant)
		}
	}
	return names
}

// A delivery is a record that a client was given.
type delivery struct {
	on string
	histories.Record
}

// anomalies is a small judge of its own, for these tests: what clients saw
// against what they were told.
func anomalies(h *histories.History) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var readings []delivery // what was read so far
	ends := map[string]int64{}
	for _, op := range h.Ops() {
		if op.Outcome == histories.Fail && op.Kind == histories.Send && isRead(&op, h) {
			add("aborted-read")
		}
		if op.Outcome != histories.OK {
			continue
		}
		for _, old := range readings {
			if old.on != op.On {
				continue
			}
			for _, rec := range op.Records {
				if old.Offset == rec.Offset && old.Value != rec.Value {
					add("inconsistent-offsets")
				}
			}
			if op.Kind == histories.Scan && !slices.Contains(op.Records, old.Record) {
				add("read-then-lost")
			}
		}
		for _, rec := range op.Records {
			readings = append(readings, delivery{op.On, rec})
		}
		if op.Kind == histories.Scan && h.Config().Get("enable.idempotence") == "true" && repeats(op.Records) {
			add("duplicate")
		}
		if op.Kind == histories.Send && h.Config().Get("enable.idempotence") == "true" && overtakes(&op, h) {
			add("nonmonotonic-send")
		}
		if op.Kind == histories.List {
			if op.Offset < ends[op.Process] {
				add("end-regression")
			}
			ends[op.Process] = op.Offset
			if op.At == "latest" && h.Config().Get("reads") == "linearizable" && misses(&op, h) {
				add("stale-read")
			}
		}
		if op.Kind == histories.Send && op.Acks == "" && lost(&op, h) {
			add("lost-write")
		}
	}
	return names
}

// repeats reports whether some value is there twice.
func repeats(records []histories.Record) bool {
	for i, r := range records {
		if slices.ContainsFunc(records[:i], func(s histories.Record) bool { return s.Value == r.Value }) {
			return true
		}
	}
	return false
}

// overtakes reports whether a send is at a lower offset than one that its
// process sent before.
func overtakes(send *histories.Op, h *histories.History) bool {
	return slices.ContainsFunc(h.Ops(), func(op histories.Op) bool {
		return op.On == send.On && op.Process == send.Process && op.Kind == histories.Send && op.Outcome == histories.OK &&
			op.Call < send.Call && op.Offset > send.Offset
	})
}

// misses reports whether an end lies below what was acknowledged before it was
// asked for.
func misses(list *histories.Op, h *histories.History) bool {
	return slices.ContainsFunc(h.Ops(), func(op histories.Op) bool {
		return op.On == list.On && op.Kind == histories.Send && op.Outcome == histories.OK && op.Acks == "" &&
			op.Return < list.Call && op.Offset >= list.Offset
	})
}

// isRead reports whether a send's first value was read by anybody.
func isRead(send *histories.Op, h *histories.History) bool {
	return slices.ContainsFunc(h.Ops(), func(op histories.Op) bool {
		return op.On == send.On && slices.ContainsFunc(op.Records, func(r histories.Record) bool { return r.Value == send.Values[0] })
	})
}

// lost reports whether an acknowledged send's place holds something else, or
// is behind the end of the final scan.
func lost(send *histories.Op, h *histories.History) bool {
	for _, op := range h.Ops() {
		if op.On != send.On {
			continue
		}
		if op.Kind == histories.Scan && op.Outcome == histories.OK && op.End <= send.Offset {
			return true
		}
		for _, rec := range op.Records {
			if rec.Offset == send.Offset && rec.Value != send.Values[0] {
				return true
			}
		}
	}
	return false
}

func TestAnomaliesAreNotSeenInAHealthyHistory(t *testing.T) {
	steps := "10 P1 send 1\n20 C1 fetch from=0\n30 C1 list latest\n40 P1 send 2,3\n50 C1 list latest\n60 C1 fetch from=1\n"
	r := run(t, parseSchedule(t, steps))
	if seen := anomalies(r.History); len(seen) > 0 {
		t.Errorf("%v in\n%s", seen, text(r))
	}
	if !strings.Contains(text(r), "S1 scan => ok [0:1 1:2 2:3] end=3") {
		t.Errorf("no exact scan in\n%s", text(r))
	}
}

// text is a run's history in the notation.
func text(r *Result) string { return string(r.History.AppendNotation(nil)) }
