package impl

// leaveSafety updates which brokers lack records they lost, and ends the safe
// configuration when one of them is the last member of the ISR and there is no
// ELR to do without it. One that was let into the ISR after it had registered
// again does not excuse anything.
func (c *Cluster) leaveSafety(p int) {
	g := &c.ghosts[p]
	for b := range g.lossy.each() {
		if c.recovered(p, b) {
			g.lossy = g.lossy.without(setOf(b))
		}
	}
	last := g.current.isr.only()
	if !c.cfg.elr && last != nobody && (g.lossy & g.stricken).has(last) {
		g.permit("last replica standing, §3.12", "broker %d, the last member of the ISR, lost records", last)
	}
	switch {
	case g.unsafe == "":
	case !g.said:
		g.said = true
		c.note(partitionName(int32(p)) + ": from here on losses are permitted " + g.unsafe)
	case c.whole(p):
		c.note(partitionName(int32(p)) + ": all replicas agree again, and from here on nothing may be lost")
		_, r := c.currentLeader(p)
		g.startOver(&r.log)
	}
}

// whole reports whether all brokers are in service and know what the controller
// knows, every replica of a partition has what the others have, all of it committed,
// and nobody keeps anything else of it: what a disk still says of lost records (that
// they were deleted or committed) it would say of new ones, once its broker is back.
func (c *Cluster) whole(p int) bool {
	if c.unrestOf(p) != "" {
		return false
	}
	leader, led := c.currentLeader(p)
	for i := 1; i < len(c.brokers); i++ {
		b := &c.brokers[i]
		r := &b.replicas[p]
		end := r.log.end() // of a replica in the assignment, the leader's
		if c.unrestOfBroker(b) != "" || r.role == leaderRole && b != leader ||
			r.log.start > led.log.start || !led.log.contains(end, r.log.digest(end)) || r.checkpoint > led.hw {
			return false
		}
	}
	return true
}

// registered reports whether a broker's present incarnation is the one the
// controller knows.
func (c *Cluster) registered(b node) bool {
	return c.brokers[b].epoch != none && c.brokers[b].epoch == c.controller.image.brokers[b].epoch
}

// currentLeader is the replica that leads in the controller's present epoch
// and knows it, or nil.
func (c *Cluster) currentLeader(p int) (*broker, *replica) {
	reg := &c.controller.image.partitions[p]
	if reg.leader == nobody {
		return nil, nil
	}
	b := &c.brokers[reg.leader]
	if r := &b.replicas[p]; r.role == leaderRole && r.leaderEpoch == reg.leaderEpoch {
		return b, r
	}
	return nil, nil
}
