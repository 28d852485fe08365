package impl

// onAlterPartition decides on a leader's proposal, checks in the order of §2.5.
func (c *controller) onAlterPartition(m *message) {
	reply := c.reply(m, alterPartitionResponse)
	reply.err = c.refusal(&c.image, m)
	if reply.err == noError {
		next := c.image.partitions[m.partition]
		old := next.leader
		next.recovering = m.flag
		c.build(m.partition, next, m.isr, 0, electOnline)
		reg := &c.image.partitions[m.partition]
		if reg.leader != old {
			reply.err = newLeaderElected
		}
		reply.leaderEpoch, reply.partitionEpoch, reply.isr = reg.leaderEpoch, reg.partitionEpoch, reg.isr
	} else {
		c.traceOf("controller", m.partition, "refuses isr %v of broker %d: %v", m.isr, m.from, reply.err)
	}
	c.publish()
}

// refusal is what is wrong with a proposal, by what a controller knows.
func (c *controller) refusal(known *image, m *message) errorCode {
	if known.brokers[m.from].epoch != m.brokerEpoch {
		return staleBrokerEpoch
	}
	reg := &known.partitions[m.partition]
	if !c.bugs.has(unfencedAlterPartition) {
		switch {
		case m.leaderEpoch > reg.leaderEpoch, m.partitionEpoch > reg.partitionEpoch:
			if c.bugs.has(formerControllerFences) {
				return fencedLeaderEpoch
			}
			return notController
		case m.leaderEpoch < reg.leaderEpoch:
			return fencedLeaderEpoch
		case m.from != reg.leader:
			return invalidRequest
		case m.partitionEpoch < reg.partitionEpoch:
			return invalidUpdateVersion
		case !m.isr.has(reg.leader), m.flag && (m.isr.size() > 1 || !reg.recovering):
			return invalidRequest
		}
	}
	if !setOf(reg.assignment...).includes(m.isr) {
		return invalidRequest
	}
	for _, b := range reg.assignment {
		if !m.isr.has(b) {
			continue
		}
		state, fetched := known.brokers[b], m.epochs[b]
		stale := fetched != none && fetched != state.epoch && !c.bugs.has(staleBrokerEpochJoins)
		if stale || !state.active() && !c.bugs.has(fencedMemberJoins) {
			return ineligibleReplica
		}
	}
	return noError
}
