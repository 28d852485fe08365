package impl

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
)

// permittedLosses are the anomalies clients may see once a partition has left
// the safe configuration for a reason that no setting states (§5: L, D, O and R).
const permittedLosses = "lost-write,read-then-lost,inconsistent-offsets,realtime-order,end-regression,nonmonotonic-poll,offset-mismatch,stale-read"

// promises are the settings by which a run's history is to be judged, and what
// happened in it that the protocol does not promise to survive.
func (c *Cluster) promises() histories.Config {
	config := histories.Config{
		{Key: "acks", Value: acksNames[c.cfg.acks]},
		{Key: "enable.idempotence", Value: fmt.Sprint(c.cfg.retries == 0)}, // one attempt lands once at most
		{Key: "unclean.leader.election.enable", Value: fmt.Sprint(c.cfg.unclean)},
		{Key: "replication.factor", Value: itoa(int64(c.cfg.replicationFactor))},
		{Key: "min.insync.replicas", Value: itoa(int64(c.cfg.minIsr))},
		{Key: "kip-207", Value: "true"},
		{Key: "offsets", Value: "dense"},
		{Key: "reads", Value: readsNames[bit(c.cfg.linearizable)]},
		{Key: "system", Value: "kafka"},
	}
	for p := range c.ghosts {
		if c.ghosts[p].unsafe != "" && !c.cfg.unclean {
			config = config.With("allow", permittedLosses)
		}
	}
	return config
}
