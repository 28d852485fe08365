package impl

import "slices"

// A controller holds the truth about brokers and partitions. It is one, its
// log is totally ordered, and what it wrote is committed (§1.4).
type controller struct {
	outbox
	*env
	log      []metaRecord // written once, never changed
	image    image
	digests  []uint64  // of the log's prefixes, by length
	sessions []session // by broker
	expiries brokerSet // brokers whose session timer runs
	wishes   []wish

	incarnation int64 // counts process starts
	downUntil   int64
	former      formerController
}

// A wish of an operator is for a leader that cannot lead yet.
type wish struct {
	partition int32
	leader    node
	until     int64
}

func (c *controller) handle(m *message) {
	switch m.kind {
	case alterPartitionRequest:
		c.onAlterPartition(m)
	case heartbeatRequest:
		c.onHeartbeat(m)
	case registrationRequest:
		c.onRegistration(m)
	case sessionTimer:
		c.onSessionTimer(node(m.id))
	}
}

// restart begins a new process some time from now. Whoever takes over has the
// log, gives every broker a full session, and does not know what anybody was
// told: a broker in controlled shutdown waits for all others again.
func (c *controller) restart(after int64) {
	c.incarnation++
	c.downUntil = c.now + after
	for b := range c.sessions {
		s := &c.sessions[b]
		s.contact, s.known, s.leaving = c.downUntil, 0, none
		if c.image.brokers[b].shuttingDown {
			s.leaving = c.image.offset
		}
	}
	c.tracef("controller", "restarts")
}

// write appends a record to the log. Records of one event are published together.
func (c *controller) write(r metaRecord) {
	r.sum = r.fold()
	c.log = append(c.log, r)
	c.image.apply(&r)
	c.digests = append(c.digests, c.image.digest)
	c.dirty |= metadataChanged
}

// publish sends every registered broker the records it has not reported yet.
// What it has in flight already it gets again, so one lost update heals with
// the next, and several may be applied as one delta.
func (c *controller) publish() {
	c.wishes = slices.DeleteFunc(c.wishes, func(w wish) bool {
		return c.now > w.until || c.move(w.partition, w.leader)
	})
	for b := node(1); int(b) < len(c.sessions); b++ {
		c.update(b)
	}
}

func (c *controller) update(b node) {
	s := &c.sessions[b]
	if c.image.brokers[b].epoch == none || s.known >= c.image.offset {
		return
	}
	m := c.outbox.write()
	m.kind, m.from, m.to = metadataUpdate, controllerNode, b
	m.offset, m.brokerEpoch, m.updates = s.known, c.image.brokers[b].epoch, c.log[s.known:len(c.log):len(c.log)]
}
