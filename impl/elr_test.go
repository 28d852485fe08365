package impl

import (
	"slices"
	"strings"
	"testing"
)

// TestEligibleLeaderReplicas performs what changes when replicas that left too
// small an ISR stay eligible (KIP-966, §3.12).
func TestEligibleLeaderReplicas(t *testing.T) {
	const settings = "set eligible.leader.replicas.enable=true\nset min.insync.replicas=2\n10 P1 send 1\n"
	for _, tt := range []struct {
		name, schedule string
		want, trace    []string
		unclean        int64
		anomalies      []string // permitted, and seen
	}{
		{
			name: "the ISR becomes empty, and an eligible replica leads (Q1b)",
			schedule: `
				1000 nemesis fence broker=3 for=20000
				1100 nemesis fence broker=2 for=10000
				1190 nemesis drop kind=fetch-response from=1 for=910
				1200 P1 send 2 acks=1
				13000 P2 send 3 acks=1 via=2
				14000 P3 send 4 via=2
				2100 nemesis fence broker=1 for=40000
				15000 C1 fetch from=0 via=2`,
			want: []string{"P1 send 2 acks=1 => ok @1", "P2 send 3 acks=1 => ok @1", "14000-22064 P3 send 4 => ok @2", "C1 fetch from=0 => ok [0:1] hw=1", "scan => ok [0:1 1:3 2:4] end=3"},
			trace: []string{"isr {1,2,3} -> {1,2}\n", "isr {1,2} -> {1}, elr {2}", "leader 1 -> none, epoch 1, isr {1} -> {}, elr {1,2}",
				"leader none -> 2, epoch 2, isr {} -> {2}, elr {1}", "isr {2} -> {2,3}\n", "broker 1   truncates 2 -> 1"},
		},
		{
			name: "a wiped last member of the ISR is not eligible any more",
			schedule: `
				1000 nemesis fence broker=2 for=20000
				1000 nemesis fence broker=3 for=20000
				2000 nemesis wipe broker=1 for=1000`,
			want: []string{"scan => ok [0:1] end=1"},
			trace: []string{"leader 1 -> none, epoch 1, isr {1} -> {}, elr {1,3}", "isr {}, elr {3}",
				"leader none -> 3, epoch 2, isr {} -> {3}"},
		},
		{
			name: "a broker that stopped cleanly stays eligible",
			schedule: `
				1000 nemesis fence broker=2 for=60000
				1000 nemesis fence broker=3 for=60000
				2000 nemesis shutdown broker=1 for=5000`,
			want:  []string{"scan => ok [0:1] end=1"},
			trace: []string{"leader 1 -> none, epoch 1, isr {1} -> {}, elr {1,3}", "leader none -> 1, epoch 2, isr {} -> {1}, elr {3}"},
		},
		{
			name: "when nobody is eligible the last leader leads",
			schedule: `
				1000 nemesis fence broker=2 for=60000
				1000 nemesis crash broker=3 for=40000
				20000 nemesis crash broker=1 for=5000`,
			want:    []string{"scan => ok [0:1] end=1"},
			trace:   []string{"leader 1 -> none, epoch 1, isr {1} -> {}, elr {1,3}", "isr {}, elr {3}", "leader none -> 1, epoch 2, isr {} -> {1}"},
			unclean: 1,
		},
		{
			name: "and then what it lost is lost, which is permitted",
			schedule: `
				1000 nemesis fence broker=2 for=60000
				1000 nemesis crash broker=3 for=40000
				20000 nemesis wipe broker=1 for=5000`,
			want:      []string{"scan => ok [] end=0", "allow=lost-write,"},
			unclean:   1,
			anomalies: []string{"lost-write"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(parseSchedule(t, settings+tt.schedule), Options{Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			trace := strings.Join(r.Trace, "\n") + "\n"
			if len(r.Breaches) > 0 || !r.Stats.Live || r.Stats.UncleanElections != tt.unclean {
				t.Errorf("breaches %v, live %v, %d unclean elections", r.Breaches, r.Stats.Live, r.Stats.UncleanElections)
			}
			for _, want := range tt.want {
				if !strings.Contains(text(r), want) {
					t.Errorf("no %q in\n%s", want, text(r))
				}
			}
			for _, want := range tt.trace {
				if !strings.Contains(trace, want) {
					t.Errorf("no %q in\n%s", want, trace)
				}
			}
			if seen := anomalies(r.History); !slices.Equal(seen, tt.anomalies) {
				t.Errorf("clients saw %v, want %v\n%s", seen, tt.anomalies, text(r))
			}
		})
	}
}
