package impl

import (
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestFaultsThatCannotStrike performs faults of the network that no message will ever
// meet: the trace says why, no history tells of them, and none counts.
func TestFaultsThatCannotStrike(t *testing.T) {
	for _, tt := range []struct{ fault, why string }{
		{"isolate node=7 for=10", "there is no broker 7"},
		{"cut from=1 to=1 for=10", "no node sends itself messages"},
		{"cut from=controller to=controller for=10", "no node sends itself messages"},
		{"cut from=leader to=1 for=10", "no node sends itself messages"},
		{"partition a=1 b=1 for=10", "no node sends itself messages"},
		{"partition a=1 b=4 for=10", "there is no broker 4"},
		{"delay from=8 to=9 by=5 for=10", "there is no broker 8"},
		{"delay kind=produce from=1 to=2 by=5 for=10", "no produce comes from there"},
		{"delay kind=produce to=controller by=5 for=10", "no produce goes there"},
		{"drop kind=produce-response to=1", "no produce-response goes there"},
		{"drop kind=fetch from=9", "there is no broker 9"},
		{"drop kind=fetch-response from=controller count=2", "no fetch-response comes from there"},
		{"drop kind=alter-partition to=2", "no alter-partition goes there"},
		{"drop kind=metadata from=1 to=2", "no metadata comes from there"},
		{"duplicate kind=fetch from=2 to=2", "no node sends itself messages"},
		{"duplicate kind=alter-partition-response to=controller", "no alter-partition-response goes there"},
	} {
		r, err := Run(parseSchedule(t, "10 P1 send 1\n20 nemesis "+tt.fault+"\n"), Options{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Join(r.Trace, "\n"); !strings.Contains(says, " step       "+tt.fault+": does nothing, "+tt.why) {
			t.Errorf("%s: no %q in\n%s", tt.fault, tt.why, says)
		}
		if slices.ContainsFunc(r.History.Marks(), func(m histories.Mark) bool { return m.Kind == histories.Nemesis }) || slices.Max(r.Stats.Faults) > 0 {
			t.Errorf("%s: faults %v in\n%s", tt.fault, r.Stats.Faults, text(r))
		}
	}
	r := run(t, parseSchedule(t, "set brokers=1\n20 nemesis drop kind=fetch\n"))
	if slices.Max(r.Stats.Faults) > 0 {
		t.Errorf("a fetch of nobody was dropped:\n%s", text(r))
	}
}

// TestFaultsThatCanStrike performs each fault of the network between the nodes where
// there are such messages.
func TestFaultsThatCanStrike(t *testing.T) {
	for _, kind := range messageKinds {
		r := run(t, parseSchedule(t, "set brokers=2\n20 nemesis drop kind="+kind+"\n20 nemesis drop kind="+kind+" count=2\n"))
		if r.Stats.Faults[faultOf("drop")] != 2 {
			t.Errorf("drop kind=%s: %v", kind, r.Stats.Faults)
		}
	}
	steps := "20 nemesis isolate node=controller for=10\n20 nemesis cut from=leader to=2 for=10\n20 nemesis delay from=3 by=2 for=9\n" +
		"20 nemesis delay kind=alter-partition from=1 to=controller by=2 for=9\n20 nemesis drop kind=fetch from=1 to=3\n20 nemesis drop kind=produce to=3\n"
	r := run(t, parseSchedule(t, steps))
	n := int64(0)
	for _, times := range r.Stats.Faults {
		n += times
	}
	if n != 6 || strings.Count(text(r), "nemesis end of ") != 6 {
		t.Errorf("faults %v in\n%s", r.Stats.Faults, text(r))
	}
}
