package impl

import (
	"strings"
	"testing"
)

// TestNotLive does to a quiet cluster what no schedule should be able to: the
// run ends all the same, and confesses why it did not become calm.
func TestNotLive(t *testing.T) {
	for why, damage := range map[string]func(*Cluster){
		"broker 1 waits for an answer to its proposal": func(c *Cluster) { c.brokers[1].alter = 99 },
		"t/0 has replicas that differ":                 func(c *Cluster) { c.brokers[2].replicas[0].log.records[0].digest++ },
		"broker 2 lacks metadata":                      func(c *Cluster) { c.brokers[2].image.offset-- },
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
