package impl

// A session is what the controller remembers about a broker but does not write down.
type session struct {
	incarnation int64
	contact     int64 // last heartbeat
	known       int64 // metadata offset it reported
	leaving     int64 // metadata offset others must reach before it may stop
	fencedUntil int64 // a fault keeps it fenced until then
	refused     int64 // the latest incarnation of which the trace says that it was not admitted
}

// onRegistration admits a new incarnation, fenced, unless another one still
// has a valid session (§2.6).
func (c *controller) onRegistration(m *message) {
	b := m.from
	s, state := &c.sessions[b], c.image.brokers[b]
	if m.offset < s.incarnation {
		return // from a process that is gone: so is its connection
	}
	reply := c.reply(m, registrationResponse)
	switch {
	case s.incarnation == m.offset:
		reply.brokerEpoch = state.epoch // the answer was lost
	case !state.fenced && s.contact+c.cfg.sessionTimeout >= c.now:
		reply.err = duplicateBrokerRegistration
		c.traceRefused(b, m.offset)
	default:
		if !state.fenced {
			c.fence(b)
		}
		if c.cfg.elr {
			c.distrust(b, m.brokerEpoch == state.epoch)
		}
		s.incarnation, s.contact, s.known, s.leaving = m.offset, c.now, 0, none
		reply.brokerEpoch = c.image.offset
		c.write(metaRecord{broker: b, state: brokerState{epoch: c.image.offset, fenced: true}})
		for p := range c.ghosts {
			c.ghosts[p].onRegistration(b)
		}
	}
	c.publish()
}

// onHeartbeat renews a session, unfences a broker that has caught up with its
// own registration, and leads it through a controlled shutdown (§2.7). Of the
// answers only the leave to stop is sent: brokers do nothing with the others.
func (c *controller) onHeartbeat(m *message) {
	b := m.from
	s, state := &c.sessions[b], &c.image.brokers[b]
	if m.brokerEpoch != state.epoch {
		return
	}
	s.contact, s.known = c.now, max(s.known, m.offset)
	leave := false
	switch {
	case m.flag:
		leave = c.letGo(b)
	case state.fenced && c.now >= s.fencedUntil && m.offset >= state.epoch:
		c.unfence(b)
	default:
		c.update(b)
	}
	if !state.fenced {
		c.watch(b)
	}
	if leave {
		c.reply(m, heartbeatResponse).flag = true
	}
}

// letGo moves leadership away from a broker that wants to stop, and reports
// whether it may: it leads nothing, and every active broker knows (§3.10).
func (c *controller) letGo(b node) bool {
	s, state := &c.sessions[b], c.image.brokers[b]
	if state.fenced {
		return true
	}
	if !state.shuttingDown {
		state.shuttingDown = true
		c.write(metaRecord{broker: b, state: state})
		if c.bugs.has(shutdownWithoutHandover) {
			state.fenced = true
			c.write(metaRecord{broker: b, state: state})
			c.publish()
			return true
		}
		c.leave(b)
		c.publish()
		s.leaving = c.image.offset
	}
	for other := node(1); int(other) < len(c.sessions); other++ {
		if other != b && c.image.brokers[other].active() && c.sessions[other].known < s.leaving {
			return false
		}
	}
	c.fence(b)
	c.publish()
	return true
}

// watch makes sure that the end of a broker's session will be noticed.
func (c *controller) watch(b node) {
	if !c.expiries.has(b) {
		c.expiries = c.expiries.with(b)
		c.timer(controllerNode, sessionTimer, c.sessions[b].contact+c.cfg.sessionTimeout+1-c.now, int64(b))
	}
}

func (c *controller) onSessionTimer(b node) {
	c.expiries = c.expiries.without(setOf(b))
	switch {
	case c.image.brokers[b].fenced:
	case c.sessions[b].contact+c.cfg.sessionTimeout >= c.now:
		c.watch(b)
	default:
		c.fence(b)
		c.publish()
	}
}

// fence takes a broker out of service: out of every ISR but one it is alone
// in, and out of leadership.
func (c *controller) fence(b node) {
	state := c.image.brokers[b]
	state.fenced, state.shuttingDown = true, false
	c.write(metaRecord{broker: b, state: state})
	c.tracef("controller", "broker %d fenced", b)
	c.leave(b)
}

// leave drops a broker that is no longer active from every ISR.
func (c *controller) leave(b node) {
	for p := range c.image.partitions {
		if reg := &c.image.partitions[p]; reg.isr.has(b) {
			c.change(int32(p), reg.isr.without(setOf(b)), 0, electOnline)
		}
	}
}

// distrust takes a broker out of every ISR and ELR unless its last process
// stopped cleanly: its disk may lack what it had (§3.11).
func (c *controller) distrust(b node, clean bool) {
	if clean && !c.bugs.has(everyRestartIsUnclean) || !clean && c.bugs.has(lostDiskStaysEligible) {
		return
	}
	for p := range c.image.partitions {
		if reg := &c.image.partitions[p]; (reg.isr | reg.elr).has(b) {
			c.ghosts[p].onDistrust(b, clean)
			c.change(int32(p), reg.isr.without(setOf(b)), setOf(b), electOnline)
		}
	}
}

// unfence puts a broker into service and lets it lead what nobody leads.
func (c *controller) unfence(b node) {
	state := c.image.brokers[b]
	state.fenced = false
	c.write(metaRecord{broker: b, state: state})
	c.tracef("controller", "broker %d unfenced", b)
	for p := range c.image.partitions {
		if reg := &c.image.partitions[p]; reg.leader == nobody && !c.bugs.has(leaderlessStaysLeaderless) {
			c.change(int32(p), reg.isr, 0, electOnline)
		}
	}
	c.publish()
}

// traceRefused says once that an incarnation has to wait: it asks again and again.
func (c *controller) traceRefused(b node, incarnation int64) {
	if s := &c.sessions[b]; s.refused != incarnation {
		s.refused = incarnation
		c.tracef("controller", "refuses broker %d, incarnation %d, while the session of the one before lasts: %v", b, incarnation, duplicateBrokerRegistration)
	}
}
