package impl

import (
	"strings"
	"testing"
)

// TestTraceNamesPartitions looks for the partition in lines about one, where there are
// several.
func TestTraceNamesPartitions(t *testing.T) {
	const steps = `10 P1 send 1
1600 nemesis move-leader to=3
1700 A1 delete-records 1
2000 nemesis depose-controller broker=3 for=2300
2001 nemesis fence broker=2 for=100
`
	for _, tt := range []struct{ settings, partition, name string }{
		{"", "", ""},
		{"set partitions=2\n", " partition=1", "t/1: "},
	} {
		text := strings.NewReplacer("send 1", "send 1"+tt.partition, "to=3", "to=3"+tt.partition, "records 1", "records 1"+tt.partition).Replace(steps)
		r, err := Run(parseSchedule(t, tt.settings+text), Options{Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(r.Trace, "\n")
		for _, want := range []string{" $appends [1] at 0", "broker 3   $hw 0 -> 1", "controller $leader ", "broker 3   $leads epoch 1", "controller $isr {1,2,3} -> {1,3}",
			"broker 3   $proposes isr {1,3} -> {1,2,3}", "former     $answers isr", "broker 3   $log start 0 -> 1", "controller broker 2 fenced"} {
			if want = strings.Replace(want, "$", tt.name, 1); !strings.Contains(all, want) {
				t.Errorf("no %q in\n%s", want, all)
			}
		}
		if tt.name == "" && strings.Contains(all, " t/0: ") {
			t.Errorf("the only partition is named in\n%s", all)
		}
	}
}

// TestTraceTellsOfRefusedRegistrationsOnce looks for the reason why a broker is not back
// in service, each time that it comes back too early.
func TestTraceTellsOfRefusedRegistrationsOnce(t *testing.T) {
	r, err := Run(parseSchedule(t, "100 nemesis crash broker=1 for=3000\n30000 nemesis crash broker=1 for=1\n"), Options{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Trace, "\n")
	for _, want := range []string{
		"t=3101   controller refuses broker 1, incarnation 2, while the session of the one before lasts: DUPLICATE_BROKER_REGISTRATION\n",
		"t=30002  controller refuses broker 1, incarnation 3, while the session of the one before lasts: DUPLICATE_BROKER_REGISTRATION\n",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if n := strings.Count(all, "DUPLICATE_BROKER_REGISTRATION"); n != 2 {
		t.Errorf("%d refusals told in\n%s", n, all)
	}
}
