package impl

import (
	"strings"
	"testing"
)

// TestReadBarrier reads from leaders that do not know what their successors
// have acknowledged, with the barrier and without.
func TestReadBarrier(t *testing.T) {
	for _, tt := range []struct{ name, schedule, committed, linearizable string }{
		{
			name: "a calm cluster answers two hops later",
			schedule: `
				10 P1 send 1
				2000 C1 fetch from=0
				2100 C1 list latest`,
			committed:    "2000-2004 C1 fetch from=0 => ok [0:1] hw=1",
			linearizable: "2000-2006 C1 fetch from=0 => ok [0:1] hw=1",
		},
		{
			name: "a zombie leader cannot answer",
			schedule: `
				10 P1 send 1
				1000 nemesis isolate node=1 for=20000
				15000 P2 send 2 via=2
				15010 C1 fetch from=0 via=1`,
			committed:    "C1 fetch from=0 => ok [0:1] hw=1",
			linearizable: "C1 fetch from=0 => ok [0:1 1:2] hw=2",
		},
		{
			name: "a fetch that was sent before the read began does not count",
			schedule: `
				set brokers=2
				set replica.fetch.wait.max.ms=50
				10 P1 send 1
				1000 nemesis delay kind=metadata from=controller to=1 by=2000 for=1500
				1000 nemesis delay kind=fetch from=2 to=1 by=300 for=100
				1110 nemesis fence broker=1 for=3000
				1115 P2 send 2 via=2
				1200 C1 fetch from=0 via=1`,
			committed:    "C1 fetch from=0 => ok [0:1] hw=1",
			linearizable: "C1 fetch from=0 => ok [0:1 1:2] hw=2",
		},
		{
			name: "a new leader does not answer before it knows the end",
			schedule: `
				10 P1 send 1
				100 nemesis delay kind=fetch from=3 to=2 by=700 for=1000
				110 nemesis move-leader to=2
				115 C1 fetch from=0 via=2`,
			committed:    "C1 fetch from=0 => ok [] hw=0",
			linearizable: "C1 fetch from=0 => ok [0:1] hw=1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for setting, want := range map[string]string{"committed": tt.committed, "linearizable": tt.linearizable} {
				r := run(t, parseSchedule(t, "set reads="+setting+"\n"+tt.schedule))
				if len(r.Breaches) > 0 || !r.Stats.Live || !strings.Contains(text(r), want) || !strings.Contains(text(r), "reads="+setting) {
					t.Errorf("reads=%s: breaches %v, live %v, want %q in\n%s", setting, r.Breaches, r.Stats.Live, want, text(r))
				}
			}
		})
	}
}
