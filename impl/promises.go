package impl

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// permittedLosses are the anomalies clients may see once a partition has left
// the safe configuration for a reason that no setting states (§5: L, D, O and R).
const permittedLosses = "lost-write,read-then-lost,inconsistent-offsets,realtime-order,end-regression,nonmonotonic-poll,nonmonotonic-send,offset-mismatch,stale-read"

// promises are the settings by which a run's history is to be judged, and what
// happened in it that the protocol does not promise to survive.
func (c *Cluster) promises() histories.Config {
	config := histories.Config{
		{Key: "acks", Value: acksNames[c.cfg.acks]},
		{Key: "enable.idempotence", Value: fmt.Sprint(c.cfg.idempotent || c.landOnce())},
		{Key: "unclean.leader.election.enable", Value: fmt.Sprint(c.cfg.unclean)},
		{Key: "replication.factor", Value: itoa(int64(c.cfg.replicationFactor))},
		{Key: "min.insync.replicas", Value: itoa(int64(c.cfg.minIsr))},
		{Key: "kip-207", Value: "true"},
		{Key: "offsets", Value: "dense"},
		{Key: "reads", Value: readsNames[bit(c.cfg.linearizable)]},
		{Key: "system", Value: "kafka"},
	}
	if c.cfg.inFlight > 1 {
		config = config.With("max.in.flight.requests.per.connection", itoa(int64(c.cfg.inFlight)))
	}
	if c.cfg.fetchAny {
		config = config.With("fetch.from", "any")
	}
	if c.unsafe() != "" && !c.cfg.unclean {
		config = config.With("allow", permittedLosses)
	}
	return config
}

// unsafe is why the first partition that ever left the safe configuration did, "" if
// none has.
func (c *Cluster) unsafe() string {
	for p := range c.ghosts {
		if why := c.ghosts[p].left; why != "" {
			return why
		}
	}
	return ""
}

// landOnce reports whether a send of the run lands once at most and in its
// producer's order, which is what idempotence promises: there is one attempt
// of each, and the next waits for its acknowledgement by all replicas.
func (c *Cluster) landOnce() bool {
	weak := func(op histories.Op) bool {
		return op.Kind == histories.Send && (op.Acks != "" && op.Acks != acksNames[acksAll])
	}
	return c.cfg.retries == 0 && c.cfg.inFlight == 1 && c.cfg.acks == acksAll && !slices.ContainsFunc(c.ops, weak)
}
