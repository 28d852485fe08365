package impl

import (
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestNotLive does to a quiet cluster what no schedule should be able to: the
// run ends all the same, and confesses why it did not become calm.
func TestNotLive(t *testing.T) {
	for why, damage := range map[string]func(*Cluster){
		"a client is waiting": func(c *Cluster) { c.clients[c.client("C1")].resting = 99 },
		"broker 2 is fenced": func(c *Cluster) {
			c.controller.image.brokers[2].fenced = true
			c.controller.sessions[2].fencedUntil = forever
		},
		"broker 2 lacks metadata":                      func(c *Cluster) { c.brokers[2].image.offset-- },
		"broker 3 lacks metadata":                      func(c *Cluster) { c.brokers[3].image.digest++ },
		"broker 1 waits for an answer to its proposal": func(c *Cluster) { c.brokers[1].alter = 99 },
		"t/0 has no leader":                            func(c *Cluster) { c.controller.image.partitions[0].leader = nobody },
		"t/0 has a reassignment under way":             func(c *Cluster) { c.controller.image.partitions[0].adding = setOf(3) },
		"t/0 has a high watermark below its end":       func(c *Cluster) { c.brokers[1].replicas[0].hw-- },
		"t/0 has an incomplete ISR":                    func(c *Cluster) { c.controller.image.partitions[0].isr = setOf(1, 2) },
		"t/0 has a proposal that nobody decides":       func(c *Cluster) { c.brokers[1].replicas[0].pending = pending{id: 99, sent: true, decided: true} },
		"t/0 has a request that nobody answers": func(c *Cluster) {
			r := &c.brokers[1].replicas[0]
			r.produces = append(r.produces, delayedProduce{needs: 99})
		},
		"t/0 has replicas in another epoch":      func(c *Cluster) { c.brokers[3].replicas[0].partitionEpoch-- },
		"t/0 has replicas that differ":           func(c *Cluster) { c.brokers[2].replicas[0].log.records[0].digest++ },
		"t/0 has a follower that does not fetch": func(c *Cluster) { c.brokers[3].replicas[0].fetch = 0 },
	} {
		c, err := New(parseSchedule(t, "10 P1 send 1\n1400 C1 poll\n2000 C1 poll\n"), Options{NoInvariants: true})
		if err != nil {
			t.Fatal(err)
		}
		for c.now < 1500 {
			c.Step()
		}
		damage(c)
		for c.Step() {
		}
		h, err := c.history()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(h.AppendNotation(nil)); c.stats.Live || !strings.Contains(got, " nemesis not live: "+why) {
			t.Errorf("live %v, want %q in\n%s", c.stats.Live, why, got)
		}
	}
}

// TestNotItsFault runs a correct cluster under settings with which it can't become
// calm, or can't answer in time: that is said, and is no finding.
func TestNotItsFault(t *testing.T) {
	for schedule, note := range map[string]string{
		"set reads=linearizable\nset default.api.timeout.ms=1000\n97 nemesis isolate node=1 for=405\n":                             "shorter than a read takes",
		"set broker.heartbeat.interval.ms=300\nset broker.session.timeout.ms=20\n10 P1 send 1\n50 nemesis crash broker=2 for=10\n": "broker.heartbeat.interval.ms is not below",
	} {
		h := string(run(t, parseSchedule(t, schedule)).History.AppendNotation(nil))
		if !strings.Contains(h, note) || strings.Contains(h, "nemesis not live") {
			t.Errorf("want a note of %q and no finding in\n%s", note, h)
		}
	}
}

// TestCalmLasts waits for a broker that faults kept from the controller: the scan
// does not begin while its leader is about to be fenced, and finds everything.
func TestCalmLasts(t *testing.T) {
	for _, schedule := range []string{`set brokers=2
set min.insync.replicas=2
set broker.heartbeat.interval.ms=10
set broker.session.timeout.ms=30
242 nemesis partition a=1 b=controller for=29
242 P2 send 25
`, `set brokers=2
set min.insync.replicas=2
set broker.heartbeat.interval.ms=30
set broker.session.timeout.ms=90
0 nemesis pause broker=1 for=63
212 P3 send 20
301 nemesis pause broker=1 for=64
`} {
		r := run(t, parseSchedule(t, schedule))
		for _, op := range r.History.Ops() {
			if op.Kind == histories.Scan && (op.End != 1 || len(op.Records) != 1) {
				t.Errorf("the scan does not find the only record:\n%s", text(r))
			}
		}
	}
}
