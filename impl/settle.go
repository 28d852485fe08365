package impl

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// conclude moves a run whose steps are all performed towards its end: it waits
// for calm, then lets one client read everything. If calm does not come, there
// is nothing exact to read, and the history confesses why.
func (c *Cluster) conclude() {
	switch c.phase {
	case performing:
		c.phase = settling
		c.quietAt = max(c.quietAt, c.now)
		fallthrough
	case settling:
		if c.now < c.quietAt || len(c.waiting) > 0 {
			return // a fault is not over, or may still come
		}
		if c.outage() {
			c.quietAt = c.now
		}
		why := c.unrest()
		switch {
		case why == unrest{}:
			c.stats.Live = true
			c.phase = scanning
			c.scan()
		case c.now > c.quietAt+c.patience():
			c.abandon(why.String())
		}
	case scanning:
		if c.clientsIdle() {
			switch {
			case c.scanFailed() && c.cfg.readTimeout < c.leastPatience():
				c.stats.Live = false
				c.note("the final scan failed, for default.api.timeout.ms is shorter than a read takes")
			case c.scanFailed():
				c.notLive("the final scan failed")
			}
			c.finish()
		} else if c.now > c.quietAt+2*c.patience() {
			c.abandon("the final scan did not end")
		}
	}
}

// outage reports whether some broker is still down or standing still.
func (c *Cluster) outage() bool {
	for i := 1; i < len(c.brokers); i++ {
		if c.brokers[i].state == down || c.brokers[i].pausedUntil > 0 {
			return true
		}
	}
	return false
}

// patience is how long a cluster may take to become calm.
func (c *Cluster) patience() int64 {
	return 20 * max(c.cfg.lagTime, c.cfg.sessionTimeout, c.cfg.requestTimeout, c.cfg.fetchBackoff, c.cfg.heartbeatInterval, c.cfg.retryBackoff)
}

// leastPatience is the time in which a calm cluster tells a client who leads and
// answers its read. That a reader gives up sooner says nothing about the cluster.
// Before an exact answer a leader hears from its followers, and one of them may
// still be waiting for what got lost, or before it asks again.
func (c *Cluster) leastPatience() int64 {
	if c.cfg.linearizable {
		return soon + max(c.cfg.fetchBackoff, c.cfg.requestTimeout)
	}
	return soon
}

// soon is the time in which a read is over that waits for nobody.
const soon = 10

// hopeless is why no cluster with these settings stays calm, "" if there is no reason.
func (c *Cluster) hopeless() string {
	if c.cfg.heartbeatInterval >= c.cfg.sessionTimeout {
		return "broker.heartbeat.interval.ms is not below broker.session.timeout.ms"
	}
	return ""
}

// scan makes the scanner read every partition from its start to its end, by
// the way every client goes.
func (c *Cluster) scan() {
	k := &c.clients[c.client(scanner)]
	for p := range c.ghosts {
		k.ask(request{kind: histories.Scan, partition: int32(p), max: none, via: nobody})
	}
	c.flush(&k.outbox)
}

func (c *Cluster) abandon(why string) {
	c.notLive(why)
	for i := range c.clients {
		c.clients[i].hangUp()
	}
	c.finish()
}

// notLive confesses that the cluster did not converge after the faults ended,
// unless it could not.
func (c *Cluster) notLive(why string) {
	c.stats.Live = false
	if hopeless := c.hopeless(); hopeless != "" {
		c.note("not live, for " + hopeless + ": " + why)
		return
	}
	c.nemesis("not live: " + why)
}

// scanFailed reports whether a final scan did not read its partition.
func (c *Cluster) scanFailed() bool {
	return slices.ContainsFunc(c.ops, func(op histories.Op) bool {
		return op.Kind == histories.Scan && op.Outcome != histories.OK
	})
}

// note tells people something that explains the run as a whole.
func (c *Cluster) note(text string) {
	c.mark(histories.Mark{Kind: histories.Note, Process: scanner, Offset: histories.None, Text: text})
	c.tracef("run", "%s", text)
}

func (c *Cluster) finish() {
	c.phase = finished
	c.stats.Ticks = c.now
}

func (c *Cluster) clientsIdle() bool {
	for i := range c.clients {
		if k := &c.clients[i]; len(k.calls)+len(k.waiting) > 0 {
			return false
		}
	}
	return true
}

// An unrest is why a cluster is not calm. The zero value is none.
type unrest struct {
	broker    node  // it is about, if any
	partition int32 // it is about, if it is about no broker and not about the whole
	whole     bool
	says      string
}

func (u unrest) String() string {
	switch {
	case u.whole:
		return u.says
	case u.broker > 0:
		return "broker " + itoa(int64(u.broker)) + " " + u.says
	}
	return partitionName(u.partition) + " " + u.says
}

// unrest returns why the cluster is not calm, if it is not (§4, liveness): every
// broker is in service and knows what the controller knows, every request was
// answered, every proposal decided and every reassignment done, what is in the log
// is committed, and every replica has it, is in the ISR and goes on fetching.
func (c *Cluster) unrest() unrest {
	if !c.clientsIdle() {
		return unrest{whole: true, says: "a client is waiting"}
	}
	for i := 1; i < len(c.brokers); i++ {
		if why := c.unrestOfBroker(&c.brokers[i]); why != "" {
			return unrest{broker: node(i), says: why}
		}
		// A fault that is over may have kept its heartbeats back until now.
		if c.controller.sessions[i].contact+c.cfg.sessionTimeout < c.now+min(soon, c.cfg.sessionTimeout/2) {
			return unrest{broker: node(i), says: "is about to be fenced"}
		}
	}
	for p := range c.ghosts {
		if why := c.unrestOf(p); why != "" {
			return unrest{partition: int32(p), says: why}
		}
	}
	return unrest{}
}

func (c *Cluster) unrestOfBroker(b *broker) string {
	switch {
	case b.state != running || b.pausedUntil > 0:
		return "is not running"
	case c.controller.image.brokers[b.id].fenced:
		return "is fenced"
	case b.image.offset != c.controller.image.offset || b.image.digest != c.controller.image.digest:
		return "lacks metadata"
	case b.alter != 0:
		return "waits for an answer to its proposal"
	}
	return ""
}

func (c *Cluster) unrestOf(p int) string {
	reg := &c.controller.image.partitions[p]
	b, r := c.currentLeader(p)
	switch {
	case b == nil:
		return "has no leader"
	case reg.adding|reg.removing != 0:
		return "has a reassignment under way"
	case r.hw != r.log.end():
		return "has a high watermark below its end"
	case reg.isr != setOf(reg.assignment...), r.isr != reg.isr:
		return "has an incomplete ISR"
	case r.pending.id != 0:
		return "has a proposal that nobody decides"
	case len(r.produces)+len(r.reads)+len(r.deletes) > 0:
		return "has a request that nobody answers"
	}
	for _, f := range reg.assignment {
		other := &c.brokers[f].replicas[p]
		switch {
		case other.leaderEpoch != reg.leaderEpoch, other.partitionEpoch != reg.partitionEpoch:
			return "has replicas in another epoch"
		case other.log.end() != r.log.end(), !other.log.agrees(&r.log, r.log.end()):
			return "has replicas that differ"
		case f != b.id && other.fetch == 0:
			return "has a follower that does not fetch"
		}
	}
	return ""
}
