package impl

import (
	"slices"
	"strings"
	"testing"
)

// TestScenarios performs small schedules from the protocol reference. Each
// says what clients must see, which anomalies they may, and that nothing else
// breaks.
func TestScenarios(t *testing.T) {
	for _, tt := range []struct {
		name      string
		schedule  string
		want      []string // lines of the history, or parts of them
		trace     []string // parts of the trace
		anomalies []string // permitted, and seen
	}{
		{
			name: "acks=0 is never answered, acks=1 by the leader alone",
			schedule: `
				set brokers=2
				10 P1 send 1 acks=0
				1000 nemesis drop kind=fetch-response from=1 to=2 count=1
				1001 P1 send 2 acks=1
				1002 P2 send 3`,
			want: []string{"P1 send 1 acks=0 => ok @-", "1001-1003 P1 send 2 acks=1 => ok @1", "1002-2007 P2 send 3 => ok @2", "scan => ok [0:1 1:2 2:3] end=3"},
		},
		{
			name: "acks=1 does not survive a planned move of the leader (D8)",
			schedule: `
				set brokers=2
				10 P1 send 1
				1000 nemesis drop kind=fetch-response from=1 to=2 count=1
				1001 P1 send 2 acks=1
				1010 nemesis move-leader to=2
				1020 P2 send 3 via=2`,
			want:  []string{"send 2 acks=1 => ok @1", "send 3 => ok @1", "scan => ok [0:1 1:3] end=2"},
			trace: []string{"broker 1   truncates 2 -> 1"},
		},
		{
			name: "the ISR is never empty, and its last member comes back with everything (Q1a)",
			schedule: `
				set min.insync.replicas=2
				10 P1 send 1
				1000 nemesis fence broker=2 for=40000
				1000 nemesis fence broker=3 for=40000
				1100 P1 send 2 acks=1
				1200 P2 send 3
				2000 C1 fetch from=0
				2100 nemesis fence broker=1 for=60000
				2200 P1 send 4 via=2
				2200 P2 send 5 via=1`,
			want: []string{"P1 send 2 acks=1 => ok @1", "C1 fetch from=0 => ok [0:1] hw=1", "P1 send 4 => ok @2",
				"P2 send 3 => info code=NOT_LEADER_OR_FOLLOWER", "P2 send 5 => ok @3", "scan => ok [0:1 1:2 2:4 3:5] end=4"},
			trace: []string{"leader 1 -> none, epoch 1, isr {1}", "leader none -> 1, epoch 2, isr {1}"},
		},
		{
			name: "too small an ISR refuses acks=all for certain",
			schedule: `
				set min.insync.replicas=2
				set brokers=2
				set delivery.timeout.ms=500
				10 P1 send 1
				100 nemesis fence broker=2 for=30000
				200 P1 send 2`,
			want: []string{"P1 send 2 => fail code=NOT_ENOUGH_REPLICAS", "scan => ok [0:1] end=1"},
		},
		{
			name: "a send that waits is refused when the ISR becomes too small, if the settings say so",
			schedule: `
				set min.insync.replicas=2
				set brokers=2
				set pending.sends=refuse
				10 nemesis drop kind=fetch from=2 to=1 for=5000
				1200 P1 send 1
				1300 nemesis fence broker=2 for=3000`,
			want: []string{"1200-1302 P1 send 1 => info code=NOT_ENOUGH_REPLICAS_AFTER_APPEND", "scan => ok [0:1] end=1"},
		},
		{
			name: "before metadata.version 3.6 a smaller ISR is a new leader epoch",
			schedule: `
				set metadata.version=3.5
				10 P1 send 1
				1000 nemesis fence broker=3 for=1000
				1100 P1 send 2`,
			want:  []string{"P1 send 2 => ok @1", "scan => ok [0:1 1:2] end=2"},
			trace: []string{"leader 1, epoch 1, isr {1,2,3} -> {1,2}", "broker 1   leads epoch 1", "isr {1,2} -> {1,2,3}"},
		},
		{
			name: "a zombie leader answers acks=1 and old reads, never acks=all",
			schedule: `
				10 P1 send 1
				1000 nemesis isolate node=1 for=20000
				15000 P2 send 2 via=2
				15010 P1 send 3 acks=1 via=1
				15020 C1 fetch from=0 via=1
				15030 P1 send 4 via=1
				15040 C2 fetch from=0 via=2`,
			want: []string{"P2 send 2 => ok @1", "P1 send 3 acks=1 => ok @1", "C1 fetch from=0 => ok [0:1] hw=1",
				"P1 send 4 => info code=NOT_LEADER_OR_FOLLOWER", "C2 fetch from=0 => ok [0:1 1:2] hw=2", "scan => ok [0:1 1:2] end=2"},
		},
		{
			name: "a paused leader is fenced, and follows when it wakes",
			schedule: `
				10 P1 send 1
				100 nemesis pause broker=1 for=20000
				200 P1 send 2
				12000 P2 send 3 via=2`,
			want:  []string{"P2 send 3 => ok @1", "P1 send 2 => ", "20100 nemesis broker 1 goes on", "scan => "},
			trace: []string{"controller leader 1 -> 2, epoch 1, isr {1,2,3} -> {2,3}", "controller isr {2,3} -> {1,2,3}"},
		},
		{
			name: "a controlled shutdown moves the leader first and loses nothing",
			schedule: `
				10 P1 send 1
				100 nemesis shutdown broker=1 for=5000
				200 P1 send 2
				9000 C1 fetch from=0`,
			want:  []string{"P1 send 1 => ok @0", "P1 send 2 => ", "C1 fetch from=0 => ok [0:1", "broker 1 is back"},
			trace: []string{"controller leader 1 -> 2, epoch 1, isr {1,2,3} -> {2,3}", "broker 1   stops", "controller isr {2,3} -> {1,2,3}"},
		},
		{
			name: "a follower that lags is dropped, and comes back when it has caught up",
			schedule: `
				set replica.lag.time.max.ms=1000
				10 nemesis drop kind=fetch-response from=1 to=3 for=6000
				100 P1 send 1`,
			want:  []string{"P1 send 1 => ok @0"},
			trace: []string{"broker 1   proposes isr {1,2,3} -> {1,2}", "controller isr {1,2,3} -> {1,2}", "controller isr {1,2} -> {1,2,3}"},
		},
		{
			name: "Kafka 0.8 drops a follower for a burst of records",
			schedule: `
				set replica.lag.max.messages=2
				set replica.lag.time.max.ms=1000
				496 P1 send 1,2,3`,
			trace: []string{"broker 1   proposes isr {1,2,3} -> {1}"},
		},
		{
			name: "the last replica standing loses what it lost, and that is permitted (D1)",
			schedule: `
				set min.insync.replicas=2
				10 P1 send 1
				1000 nemesis fence broker=2 for=20000
				1000 nemesis fence broker=3 for=20000
				2000 nemesis wipe broker=1 for=1000`,
			want:      []string{"losses are permitted", "scan => ok [] end=0"},
			anomalies: []string{"lost-write"},
		},
		{
			name: "an unclean election loses what the ISR had (Q3)",
			schedule: `
				set brokers=2
				set unclean.leader.election.enable=true
				10 P1 send 1
				1000 nemesis drop kind=fetch-response from=1 to=2 for=20000
				1001 nemesis fence broker=2 for=1000
				1100 P1 send 2
				1200 C1 assign from=2
				3000 nemesis crash broker=1 for=60000
				20000 C1 poll
				21000 P1 send 3
				22000 C1 poll`,
			want: []string{"P1 send 2 => ok @1", "C1 poll => fail code=OFFSET_OUT_OF_RANGE", "client C1 reset 0",
				"P1 send 3 => ok @1", "C1 poll => ok [0:1 1:3] hw=2"},
			anomalies: []string{"lost-write"},
		},
		{
			name: "a client that gives up does not know",
			schedule: `
				set brokers=2
				10 nemesis drop kind=fetch-response from=1 to=2 for=1000
				20 P1 send 1
				100 nemesis timeout client=P1
				5000 nemesis timeout client=P1`,
			want:  []string{"20-100 P1 send 1 => info code=REQUEST_TIMED_OUT", "scan => ok [0:1] end=1"},
			trace: []string{"timeout client=P1: does nothing, the client is not waiting for anything"},
		},
		{
			name: "a retry after an unknown outcome may land twice",
			schedule: `
				set retries=1
				10 nemesis drop kind=produce-response count=1
				20 P1 send 1`,
			want: []string{"P1 send 1 => ok @1", "scan => ok [0:1 1:1] end=2"},
		},
		{
			name: "without retries an unknown outcome stays unknown",
			schedule: `
				10 nemesis drop kind=produce-response count=1
				20 P1 send 1`,
			want: []string{"P1 send 1 => info code=NETWORK_EXCEPTION", "scan => ok [0:1] end=1"},
		},
		{
			name: "a refused connection has no effect and is retried",
			schedule: `
				10 P1 send 1
				100 nemesis crash broker=1 for=30000
				200 P1 send 2`,
			want: []string{"P1 send 2 => ok @1", "scan => ok [0:1 1:2] end=2"},
		},
		{
			name: "reads: positions, limits, ends",
			schedule: `
				10 P1 send 1,2,3
				600 C1 poll max=2
				700 C1 poll
				800 C1 seek 1
				810 C1 poll max=1
				900 C1 fetch from=3
				950 C1 fetch from=9
				1000 C1 list earliest
				1100 C1 list latest`,
			want: []string{"600-600 C1 assign from=0 => ok", "C1 poll => ok [0:1 1:2] hw=3", "C1 poll => ok [2:3] hw=3", "C1 seek 1 => ok", "C1 poll => ok [1:2] hw=3",
				"C1 fetch from=3 => ok [] hw=3", "C1 fetch from=9 => fail code=OFFSET_OUT_OF_RANGE", "list earliest => ok @0", "list latest => ok @3"},
		},
		{
			name: "a leader that missed an epoch does not trust what it knew of its followers",
			schedule: `
				10 P1 send 1
				1000 nemesis drop kind=fetch-response from=1 to=3 count=1
				1001 P1 send 2 acks=1
				1010 nemesis drop kind=metadata from=controller to=1 for=20
				1011 nemesis move-leader to=3
				1014 P2 send 3 via=3 acks=1
				1040 nemesis delay kind=metadata from=controller to=2 by=100 for=20
				1041 nemesis move-leader to=1
				1043 P3 send 4 via=1
				1060 nemesis crash broker=1 for=60000`,
			want: []string{"P1 send 2 acks=1 => ok @1", "P2 send 3 acks=1 => ok @1", "P3 send 4 => info", "scan => ok [0:1 1:3] end=2"},
		},
		{
			name: "a leader keeps its proposal when metadata says what it knows already",
			schedule: `
				10 nemesis fence broker=2 for=100
				10 nemesis fence broker=3 for=100
				2010 nemesis delay kind=metadata from=controller to=1 by=600 for=2000
				2011 nemesis delay kind=alter-partition from=1 to=controller by=300 for=5000`,
			trace: []string{"t=2010   controller isr {1} -> {1,2}", "t=2511   broker 1   proposes isr {1,2} -> {1,2,3}", "t=2812   controller isr {1,2} -> {1,2,3}"},
		},
		{
			name: "a broker that is down for long is waited for",
			schedule: `
				set brokers=1
				10 P1 send 1
				20 nemesis crash broker=1 for=3000000`,
			want: []string{"3000020 nemesis broker 1 is back", "scan => ok [0:1] end=1"},
		},
		{
			name: "held metadata is applied as one delta: the epochs in between are never seen",
			schedule: `
				10 P1 send 1
				1000 nemesis hold-metadata broker=3 for=1000
				1100 nemesis move-leader to=2
				1200 nemesis move-leader to=1
				2100 P1 send 2`,
			want:  []string{"P1 send 2 => ok @1", "scan => ok [0:1 1:2] end=2"},
			trace: []string{"broker 2   leads epoch 1", "broker 1   leads epoch 2: leo=1 hw=1"},
		},
		{
			name: "held metadata is applied at the instant the fault ends, not with the next heartbeat",
			schedule: `
				set broker.heartbeat.interval.ms=3000
				10 P1 send 1
				1000 nemesis hold-metadata broker=2 for=700
				1100 nemesis move-leader to=2`,
			want:  []string{"P1 send 1 => ok @0"},
			trace: []string{"t=1700   broker 2   leads epoch 1"},
		},
		{
			name: "metadata that is held past the end of a process is fetched again by the next",
			schedule: `
				10 P1 send 1
				1000 nemesis hold-metadata broker=2 for=30000
				2000 nemesis crash broker=2 for=20000
				40000 P1 send 2`,
			want: []string{"22000 nemesis broker 2 is back", "P1 send 2 => ok @1"},
		},
		{
			name: "a controller that restarts loses what is on its way, and fences nobody for its own silence",
			schedule: `
				set replica.lag.time.max.ms=1000
				10 nemesis drop kind=fetch-response from=1 to=3 for=3000
				100 P1 send 1
				1501 nemesis restart-controller for=20000`,
			want:  []string{"P1 send 1 => ok @0", "21501 nemesis end of restart-controller for=20000"},
			trace: []string{"t=1500   broker 1   proposes isr {1,2,3} -> {1,2}", "controller restarts", "controller isr {1,2,3} -> {1,2}", "controller isr {1,2} -> {1,2,3}"},
		},
		{
			name: "a controller that is down does nothing",
			schedule: `
				10 nemesis restart-controller for=1000
				20 nemesis fence broker=2 for=10
				30 nemesis move-leader to=2
				40 nemesis elect-preferred
				50 nemesis restart-controller for=1000
				60 P1 send 1`,
			want: []string{"P1 send 1 => ok @0"},
			trace: []string{"fence broker=2 for=10: does nothing, the controller is down", "move-leader to=2: does nothing, the controller is down",
				"elect-preferred: does nothing, the controller is down", "restart-controller for=1000: does nothing, the controller is down"},
		},
		{
			name: "a controlled shutdown survives a restart of the controller",
			schedule: `
				10 P1 send 1
				2001 nemesis shutdown broker=1 for=5000
				2003 nemesis restart-controller for=3000`,
			want:  []string{"broker 1 is back", "scan => ok [0:1] end=1"},
			trace: []string{"controller leader 1 -> 2, epoch 1, isr {1,2,3} -> {2,3}", "broker 1   stops"},
		},
		{
			name: "a leader with a fast clock drops a follower early",
			schedule: `
				10 nemesis clock broker=1 faster=10 for=20000
				20 nemesis drop kind=fetch-response from=1 to=3 for=16000
				100 P1 send 1`,
			want:  []string{"P1 send 1 => ok @0"},
			trace: []string{"broker 1   proposes isr {1,2,3} -> {1,2}", "controller isr {1,2} -> {1,2,3}"},
		},
		{
			name: "a broker with a slow clock misses its session",
			schedule: `
				10 nemesis clock broker=2 slower=6 for=30000
				20 nemesis clock broker=3 for=10`,
			trace: []string{"controller broker 2 fenced", "controller broker 2 unfenced", "clock broker=3 for=10: does nothing", "t=30010  nemesis    end of clock broker=2"},
		},
		{
			name: "a slow disk delays who must append",
			schedule: `
				10 nemesis slow-disk broker=1 by=100 for=300
				20 P1 send 1
				400 P1 send 2
				1000 nemesis slow-disk broker=3 by=2000 for=5000
				1100 P1 send 3`,
			want: []string{"20-226 P1 send 1 => ok @0", "400-404 P1 send 2 => ok @1", "1100-3104 P1 send 3 => ok @2"},
		},
		{
			name: "the log start moves on every replica before anybody is told",
			schedule: `
				10 P1 send 1,2,3
				100 A1 delete-records 4
				1000 A1 delete-records 2
				1100 C1 list earliest
				1200 C1 fetch from=1
				1300 C1 poll
				1400 C1 poll
				2000 nemesis move-leader to=2
				3000 C1 list earliest via=2`,
			want: []string{"A1 delete-records 4 => fail code=OFFSET_OUT_OF_RANGE", "1000-1004 A1 delete-records 2 => ok start=2", "list earliest => ok @2",
				"C1 fetch from=1 => fail code=OFFSET_OUT_OF_RANGE", "C1 poll => fail code=OFFSET_OUT_OF_RANGE", "client C1 reset 2",
				"C1 poll => ok [2:3] hw=3", "3000-3004 C1 list earliest => ok @2", "scan => ok [2:3] end=3"},
			anomalies: nil,
		},
		{
			name: "a follower whose log ends before the leader's begins starts over there (§3.8.4, KAFKA-9491)",
			schedule: `
				10 P1 send 1,2,3
				1000 A1 delete-records 2
				1100 P1 send 4
				2000 nemesis wipe broker=3 for=20000
				40000 nemesis move-leader to=3
				41000 P2 send 5 via=3`,
			want:  []string{"P2 send 5 => ok @4", "scan => ok [2:3 3:4 4:5] end=5"},
			trace: []string{"controller isr {1,2} -> {1,2,3}", "broker 3   leads epoch 1: leo=4"},
		},
		{
			name: "where logs differ only below the leader's start, nobody finds out",
			schedule: `
				set min.insync.replicas=1
				10 P1 send 1
				999 nemesis isolate node=1 for=3000
				1000 nemesis fence broker=1 for=4000
				1001 P2 send 2 acks=1 via=1
				1500 P3 send 3 via=2
				2000 A1 delete-records 2 via=2`,
			want: []string{"P2 send 2 acks=1 => ok @1", "P3 send 3 => ok @1", "delete-records 2 => ok start=2", "scan => ok [] end=2"},
		},
		{
			name: "a follower answers reads up to its own high watermark, and sends who knows more to the leader (KIP-392)",
			schedule: `
				set fetch.from=any
				10 P1 send 1
				20 C1 fetch from=0 via=2
				1000 C1 fetch from=0 via=2
				1100 nemesis cut from=1 to=2 for=5000
				1110 P1 send 2 acks=1
				1200 C1 fetch from=2 via=2
				1300 C1 list latest via=2`,
			want: []string{"20-22 C1 fetch from=0 => ok [] hw=0", "1000-1002 C1 fetch from=0 => ok [0:1] hw=1", "C1 fetch from=2 => ok [] hw=1", "C1 list latest => ok @1", "fetch.from=any"},
		},
		{
			name: "partitions are independent",
			schedule: `
				set partitions=3
				10 P1 send 1
				20 P1 send 2 partition=1
				100 nemesis crash broker=2 for=30000
				20000 P1 send 3 partition=1
				20000 P2 send 4 partition=2`,
			want: []string{"P1 send 2 on=t/1 => ok @0", "P1 send 3 on=t/1 => ok @1", "S1 scan on=t/1 => ok [0:2 1:3] end=2", "S1 scan on=t/2 => ok [0:4] end=1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := parseSchedule(t, tt.schedule)
			r, err := Run(s, Options{Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			trace := strings.Join(r.Trace, "\n")
			if len(r.Breaches) > 0 || !r.Stats.Live {
				t.Errorf("breaches %v, live %v\n%s\n%s", r.Breaches, r.Stats.Live, trace, text(r))
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

// TestView follows a cluster through a view of its state.
func TestView(t *testing.T) {
	c, err := New(parseSchedule(t, "10 P1 send 1\n80 C1 list latest\n100 nemesis crash broker=1 for=60000\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	until := func(ms int64) View {
		for c.now < ms && c.Step() {
		}
		return c.View()
	}
	v := until(80).Partitions[0]
	if v.Leader != 1 || v.LeaderEpoch != 0 || !slices.Equal(v.ISR, []int{1, 2, 3}) || v.Replicas[1].Role != "leader" ||
		v.Replicas[1].HW != 1 || v.Replicas[2].LEO != 1 || v.Replicas[2].HW != 0 || !slices.Equal(v.Replicas[3].Values, []int64{1}) {
		t.Errorf("before the crash: %+v", v)
	}
	whole := until(20_000)
	v = whole.Partitions[0]
	if v.Leader != 2 || v.LeaderEpoch != 1 || !slices.Equal(v.ISR, []int{2, 3}) || v.Replicas[1].Role != "none" ||
		whole.Brokers[1].State != "down" || !whole.Brokers[1].Fenced || v.Replicas[3].Leader != 2 {
		t.Errorf("after the crash: %+v", whole)
	}
}
