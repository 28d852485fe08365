package impl

import (
	"fmt"
	"slices"
)

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

// A session is what the controller remembers about a broker but does not write down.
type session struct {
	incarnation int64
	contact     int64 // last heartbeat
	known       int64 // metadata offset it reported
	leaving     int64 // metadata offset others must reach before it may stop
	fencedUntil int64 // a fault keeps it fenced until then
	refused     int64 // the latest incarnation of which the trace says that it was not admitted
}

// A wish of an operator is for a leader that cannot lead yet.
type wish struct {
	partition int32
	leader    node
	until     int64
}

// An election is the order of preference in which a leader is chosen (§3.10).
type election uint8

const (
	electOnline election = iota
	electPreferred
	electUnclean // as electOnline, and any replica in service if nobody else can lead
)

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

// change is the only way in which a partition's ISR and leader change (§3.10).
// Brokers that may have lost records with their disk are not eligible. It
// reports whether it elected another leader.
func (c *controller) change(p int32, isr, lost brokerSet, kind election) bool {
	return c.build(p, c.image.partitions[p], isr, lost, kind)
}

// build makes the next state of a partition of its next assignment and of the
// ISR that somebody asks for.
func (c *controller) build(p int32, next registration, isr, lost brokerSet, kind election) bool {
	old := c.image.partitions[p]
	if left := next.completed(isr); !c.bugs.has(removedReplicaStaysInIsr) {
		isr = left
	}
	next.isr = isr
	if c.cfg.elr {
		next.elr = c.eligible(&old, isr, lost) & setOf(next.assignment...)
		if c.bugs.has(removedReplicaStaysEligible) && len(next.assignment) < len(old.assignment) {
			next.elr = old.isr.without(isr)
		}
	}
	var how choice
	next.leader, how = c.elect(&next, kind)
	switch {
	case how == cleanly && next.leader == nobody && isr == 0 && !c.cfg.elr:
		next.isr = old.isr // the last member stays, frozen, with no leader
	case how != cleanly:
		next.isr, next.elr, next.recovering = setOf(next.leader), 0, true
		c.uncleanElection(p, next.leader, how, kind)
	case isr == 0 && next.leader != nobody:
		next.isr, next.elr = setOf(next.leader), next.elr.without(setOf(next.leader))
	}
	if next.leader != nobody {
		next.lastKnown = nobody
	} else if next.isr == 0 && old.isr != 0 {
		next.lastKnown = old.leader
	}
	named := next.leader != old.leader || !setOf(next.assignment...).includes(setOf(old.assignment...)) ||
		c.cfg.shrinkIsEpoch && !next.isr.includes(old.isr)
	return c.install(p, next, named)
}

// eligible is the ELR beside a new ISR: while that is too small to move the
// high watermark, whoever leaves it stays complete (§3.10, KIP-966).
func (c *controller) eligible(old *registration, isr, lost brokerSet) brokerSet {
	if isr.size() >= c.cfg.minIsr && !c.bugs.has(eligibleBesideFullIsr) {
		return 0
	}
	return (old.elr | old.isr).without(isr | lost)
}

func (c *controller) uncleanElection(p int32, leader node, how choice, kind election) {
	c.stats.UncleanElections++
	if how == lastKnown {
		c.ghosts[p].onBalancedRecovery(leader, c.cfg.minIsr)
	} else {
		c.ghosts[p].onUncleanElection(c.cfg.unclean || kind == electUnclean)
	}
}

// install writes a partition's new state. A leader that is named, even if it
// is the same, begins a new leader epoch.
func (c *controller) install(p int32, next registration, named bool) bool {
	old := c.image.partitions[p]
	if !named && next.isr == old.isr && next.elr == old.elr && next.lastKnown == old.lastKnown && slices.Equal(next.assignment, old.assignment) {
		return false
	}
	if !named || !c.bugs.has(partitionEpochStandsStill) {
		next.partitionEpoch++
	}
	if named {
		if !c.keepsEpoch(&old, &next) {
			next.leaderEpoch++
		}
		if next.leader != nobody {
			c.stats.Elections++
		} else {
			c.comes(vacancy, old.leader)
		}
	}
	if c.tracing {
		c.traceChange(p, &old, &next, named)
	}
	if next.isr.size() < old.isr.size() {
		c.stats.IsrShrinks++
		c.comes(isrShrink, old.isr.without(next.isr).first())
	} else if next.isr.size() > old.isr.size() {
		c.stats.IsrExpansions++
		c.comes(isrExpansion, next.isr.without(old.isr).first())
	}
	c.stats.Eligible += int64((next.elr & old.isr).size())
	c.write(metaRecord{broker: nobody, partition: p, reg: next})
	c.ghosts[p].onChange(next, c.cfg.minIsr)
	return named
}

// traceRefused says once that an incarnation has to wait: it asks again and again.
func (c *controller) traceRefused(b node, incarnation int64) {
	if s := &c.sessions[b]; s.refused != incarnation {
		s.refused = incarnation
		c.tracef("controller", "refuses broker %d, incarnation %d, while the session of the one before lasts: %v", b, incarnation, duplicateBrokerRegistration)
	}
}

func (c *controller) traceChange(p int32, old, next *registration, named bool) {
	isr := change(old.isr.String(), next.isr.String())
	if next.adding|next.removing == 0 && (old.adding|old.removing != 0 || !slices.Equal(old.assignment, next.assignment)) {
		isr += fmt.Sprintf(", ar %v", next.assignment) // a reassignment is complete, or taken back
	}
	if named {
		c.traceOf("controller", p, "leader %s, epoch %d, isr %s%s", change(nodeName(old.leader), nodeName(next.leader)), next.leaderEpoch, isr, next.besides())
		return
	}
	c.traceOf("controller", p, "isr %s%s", isr, next.besides())
}

// change says in traces what became of something.
func change(old, next string) string {
	if old == next {
		return next
	}
	return old + " -> " + next
}

// keepsEpoch is a mistake: not to begin a new leader epoch.
func (c *controller) keepsEpoch(old, next *registration) bool {
	vacant := old.leader == nobody || next.leader == nobody
	return vacant && c.bugs.has(epochSurvivesVacancy) || old.leader != next.leader && c.bugs.has(electionWithoutEpoch)
}

// besides says in traces what there is beside leader and ISR: who may lead, too,
// and what a reassignment adds and removes.
func (r *registration) besides() string {
	text := ""
	if r.recovering {
		text += ", recovering"
	}
	if r.elr != 0 {
		text += ", elr " + r.elr.String()
	}
	if r.lastKnown != nobody {
		text += ", last known leader " + nodeName(r.lastKnown)
	}
	if r.adding|r.removing != 0 {
		text += fmt.Sprintf(", ar %v adding %v removing %v", r.assignment, r.adding, r.removing)
	}
	return text
}

// A choice is the ground on which a leader was chosen.
type choice uint8

const (
	cleanly   choice = iota // it has everything that was committed; or nobody was chosen
	lastKnown               // everybody eligible had an unclean shutdown: balanced recovery takes the last leader
	uncleanly               // anybody in service
)

// elect chooses a leader among the members of the new ISR, or of the ELR if
// that is empty, in the order of the assignment.
func (c *controller) elect(reg *registration, kind election) (node, choice) {
	candidates := reg.isr
	if candidates == 0 {
		candidates = reg.elr
	}
	valid := func(b node) bool { return b > 0 && candidates.has(b) && c.image.brokers[b].active() }
	if kind == electPreferred && valid(reg.assignment[0]) {
		return reg.assignment[0], cleanly
	}
	if valid(reg.leader) || reg.leader != nobody && c.bugs.has(leaderOutsideIsr) {
		return reg.leader, cleanly
	}
	for _, b := range reg.assignment {
		if valid(b) {
			return b, cleanly
		}
	}
	if b := reg.lastKnown; candidates == 0 && b != nobody && (c.image.brokers[b].active() || c.bugs.has(fencedLastLeaderElected)) {
		return b, lastKnown
	}
	if c.cfg.unclean || kind == electUnclean || c.bugs.has(uncleanElectionAnyway) {
		for _, b := range reg.assignment {
			if c.image.brokers[b].active() {
				return b, uncleanly
			}
		}
	}
	return nobody, cleanly
}

// move makes a member of the ISR the leader, in a new epoch even if it leads
// already. It reports whether it could.
func (c *controller) move(p int32, to node) bool {
	next := c.image.partitions[p]
	if !next.isr.has(to) || !c.image.brokers[to].active() {
		return false
	}
	next.leader = to
	c.install(p, next, true)
	return true
}

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
