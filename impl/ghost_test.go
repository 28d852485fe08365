package impl

import (
	"strings"
	"testing"
)

// A bug that loses record 3, in a cluster whose first leader lost its disk half a
// minute before.
const lossAfterLoss = `
set min.insync.replicas=MINISR
1 nemesis fence broker=2 for=3000
1 nemesis fence broker=3 for=3000
1 nemesis drop kind=fetch-response for=3000
5 P1 send 1 acks=1
20 nemesis wipe broker=1 for=10
30000 P1 send 2
31000 P1 send 3
31005 nemesis move-leader to=2
31005 nemesis move-leader to=3
40000 P2 send 4
`

// TestExcuses compares what is permitted with what was lost: nothing where that was
// never committed, and nothing any more once all replicas agree again.
func TestExcuses(t *testing.T) {
	const permitted, over = "from here on losses are permitted", "from here on nothing may be lost"
	for _, test := range []struct {
		name, schedule  string
		excused, breaks bool
	}{
		{"what is lost nobody else has", with(lossAfterLoss, "2"), false, false},
		{"and the bug is not excused", "bug truncate-to-high-watermark" + with(lossAfterLoss, "2"), false, true},
		{"what is lost was committed", with(lossAfterLoss, "1"), true, false},
		{"and the bug is not excused any more", "bug truncate-to-high-watermark" + with(lossAfterLoss, "1"), true, true},
		{"logs that agree but for what one of them deleted", `
			set broker.heartbeat.interval.ms=20
			set broker.session.timeout.ms=100
			set retry.backoff.ms=2
			0 P1 send 1
			3 A1 delete-records 1
			5 nemesis wipe broker=2 for=1
			8 nemesis power-loss broker=3 for=123
			21 nemesis wipe broker=1 for=1
			21 P1 send 3`, true, false},
		{"a log out of service that deleted what is lost", `
			set broker.heartbeat.interval.ms=10
			set broker.session.timeout.ms=20
			0 P2 send 1
			3 A1 delete-records 1
			7 nemesis power-loss broker=1 for=128
			7 nemesis wipe broker=2 for=1
			20 nemesis reassign to=2
			33 nemesis reassign to=3,1
			33 P3 send 2`, true, false},
		{"what is lost was not committed yet", `
			set brokers=2
			set replica.fetch.wait.max.ms=4
			set broker.heartbeat.interval.ms=30
			set broker.session.timeout.ms=90
			14 nemesis delay by=33 for=58
			14 nemesis delay by=20 for=58
			37 P1 send 1
			126 nemesis pause broker=leader for=96
			127 nemesis power-loss broker=2 for=2`, true, false},
		{"what is lost was not committed yet, with an ELR", `
			set brokers=2
			set replica.fetch.wait.max.ms=4
			set broker.heartbeat.interval.ms=30
			set broker.session.timeout.ms=90
			set eligible.leader.replicas.enable=true
			14 nemesis delay by=33 for=58
			14 nemesis delay by=20 for=58
			37 P1 send 1
			126 nemesis pause broker=leader for=96
			127 nemesis power-loss broker=2 for=2`, true, false},
		{"a broker that is late to hear that it led", `
			set brokers=2
			set broker.heartbeat.interval.ms=30
			set broker.session.timeout.ms=60
			set unclean.leader.election.enable=true
			0 nemesis pause broker=2 for=69
			0 nemesis shutdown broker=leader for=1
			2 P1 send 1
			67 nemesis reassign to=1`, true, false},
		{"an eligible replica is taken out, and the other loses its disk", `
			set brokers=4
			set min.insync.replicas=2
			set broker.heartbeat.interval.ms=10
			set broker.session.timeout.ms=50
			set retry.backoff.ms=5
			set eligible.leader.replicas.enable=true
			33 nemesis crash broker=3 for=1
			71 nemesis crash broker=1 for=91
			81 nemesis shutdown broker=2 for=22
			106 P1 send 1
			107 nemesis reassign to=3,4
			145 nemesis crash broker=3 for=1
			175 nemesis shutdown broker=4 for=1
			177 nemesis power-loss broker=2 for=1
			177 nemesis cancel-reassignment`, true, false},
		{"a checkpoint of what is lost", `
			set broker.heartbeat.interval.ms=10
			set broker.session.timeout.ms=50
			set log.flush.interval.messages=2
			set enable.idempotence=true
			0 P3 send 2,3
			5 nemesis crash broker=3 for=1
			7 nemesis shutdown broker=1 for=1
			34 nemesis wipe broker=2 for=1
			61 nemesis move-leader to=1 for=32
			83 P3 send 18
			216 nemesis pause broker=3 for=41
			216 P3 send 27,28
			218 nemesis power-loss broker=1 for=1
			218 nemesis fence broker=2 for=1`, true, false},
	} {
		r := run(t, parseSchedule(t, strings.ReplaceAll(test.schedule, "\t", "")))
		if (len(r.Breaches) > 0) != test.breaks || (r.Unsafe != "") != test.excused {
			t.Errorf("%s: breaches %v, excused %q", test.name, r.Breaches, r.Unsafe)
		}
		h := string(r.History.AppendNotation(nil))
		if strings.Contains(h, permitted) != test.excused {
			t.Errorf("%s: the note %q is in it, or is not:\n%s", test.name, permitted, h)
		}
		if test.breaks && test.excused && !strings.Contains(h, over) {
			t.Errorf("%s: no note %q in\n%s", test.name, over, h)
		}
	}
}

func with(schedule, minIsr string) string { return strings.ReplaceAll(schedule, "MINISR", minIsr) }
