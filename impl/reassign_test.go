package impl

import (
	"strings"
	"testing"
)

// TestReassignment moves partitions between brokers (§3.10).
func TestReassignment(t *testing.T) {
	const settings = "set brokers=4\nset default.replication.factor=3\nset min.insync.replicas=2\n10 P1 send 1\n"
	for _, tt := range []struct {
		name, schedule string
		want, trace    []string
	}{
		{
			name: "the new replica joins, the old one goes, and the leader with it",
			schedule: `
				1000 nemesis reassign to=2,3,4
				9000 P2 send 2`,
			want: []string{"P2 send 2 => ok @1", "scan => ok [0:1 1:2] end=2"},
			trace: []string{"isr {1,2,3}, ar [2 3 4 1] adding {4} removing {1}", "broker 1   proposes isr {1,2,3} -> {1,2,3,4}",
				"leader 1 -> 2, epoch 1, isr {1,2,3} -> {2,3,4}, ar [2 3 4]\n", "broker 1   deletes its log of t/0"},
		},
		{
			name: "fewer replicas need nobody to join: a new leader epoch all the same",
			schedule: `
				1000 nemesis reassign to=1,2`,
			trace: []string{"leader 1, epoch 1, isr {1,2,3} -> {1,2}, ar [1 2]\n", "broker 3   deletes its log of t/0"},
		},
		{
			name: "another order is another preferred leader",
			schedule: `
				1000 nemesis reassign to=3,2,1
				1100 nemesis elect-preferred`,
			trace: []string{"isr {1,2,3}, ar [3 2 1]\n", "leader 1 -> 3, epoch 1"},
		},
		{
			name: "a reassignment that cannot complete is cancelled",
			schedule: `
				1000 nemesis crash broker=4 for=60000
				2000 nemesis reassign to=4,2,3
				20000 P1 send 2
				30000 nemesis cancel-reassignment
				31000 nemesis cancel-reassignment`,
			want: []string{"P1 send 2 => ok @1"},
			trace: []string{"ar [4 2 3 1] adding {4} removing {1}", "leader 1, epoch 1, isr {1,2,3}, ar [2 3 1]\n",
				"cancel-reassignment: does nothing, NO_REASSIGNMENT_IN_PROGRESS"},
		},
		{
			name: "one without which the ISR would be too small stays",
			schedule: `
				1000 nemesis fence broker=2 for=20000
				1000 nemesis fence broker=3 for=20000
				1500 nemesis reassign to=4,1,2
				4000 nemesis cancel-reassignment`,
			trace: []string{"isr {1} -> {1,4}", "cancel-reassignment: does nothing, INVALID_REPLICA_ASSIGNMENT"},
		},
		{
			name: "one that is under way is replaced",
			schedule: `
				1000 nemesis crash broker=4 for=60000
				2000 nemesis reassign to=4,2,3
				3000 nemesis reassign to=2,3`,
			trace: []string{"ar [4 2 3 1] adding {4} removing {1}", "leader 1 -> 2, epoch 1, isr {1,2,3} -> {2,3}, ar [2 3]\n"},
		},
		{
			name: "what makes no sense is refused",
			schedule: `
				1000 nemesis reassign to=1,1
				1001 nemesis reassign to=1,5
				1002 nemesis reassign to=2
				1003 nemesis reassign to=1,2,3
				1004 nemesis reassign to=2,1 partition=3`,
			trace: []string{"reassign to=1,1: does nothing, a replica is named twice", "to=1,5: does nothing, a replica is named twice, or is no broker",
				"to=2: does nothing, the replicas are fewer", "to=1,2,3: does nothing, the partition is assigned so", "does nothing, there is no such partition"},
		},
		{
			name: "a leader that hears of a removal and a return at once trusts no old progress (B5)",
			schedule: `
				1000 nemesis hold-metadata broker=1 for=600
				1000 nemesis cut from=3 to=1 for=3000
				1001 nemesis reassign to=1,2
				1100 nemesis reassign to=1,2,3`,
			trace: []string{"leader 1, epoch 1, isr {1,2,3} -> {1,2}, ar [1 2]\n", "broker 3   deletes its log of t/0", "ar [1 2 3] adding {3} removing {}",
				"broker 1   leads epoch 1: leo=1 hw=1 isr={1,2}", "broker 1   proposes isr {1,2} -> {1,2,3}"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(parseSchedule(t, settings+tt.schedule), Options{Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			trace := strings.Join(r.Trace, "\n") + "\n"
			if len(r.Breaches) > 0 || !r.Stats.Live || len(anomalies(r.History)) > 0 {
				t.Errorf("breaches %v, live %v, clients saw %v", r.Breaches, r.Stats.Live, anomalies(r.History))
			}
			for _, want := range tt.want {
				if !strings.Contains(text(r), want) {
					t.Errorf("no %q in\n%s", want, text(r))
				}
			}
			for rest, i := trace, 0; i < len(tt.trace); i++ {
				_, after, found := strings.Cut(rest, tt.trace[i])
				if !found {
					t.Errorf("no %q, or not in this order, in\n%s", tt.trace[i], trace)
					break
				}
				rest = after
			}
		})
	}
}
