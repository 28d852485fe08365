package impl

import (
	"fmt"
	"math"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// forever is later than every tick, and more than every count.
const forever = math.MaxInt64

// scanner is the client that reads the whole log when all is calm.
const scanner = "S1"

// A Cluster is a controller, brokers and clients about to perform a schedule.
// Nothing else influences it: clusters of equal schedules perform equal events.
type Cluster struct {
	env
	queue       queue
	net         network
	controller  controller
	brokers     []broker // by number; the first is unused
	clients     []client
	actions     []action
	next        int      // the first action not performed
	waiting     []int    // faults that wait for their moment, in the order of their steps
	said        []string // faults in words, with brokers in the place of roles
	quietAt     int64    // when the last fault is over
	fingerprint uint64
	broken      [invariantCount]bool
	breaches    []Breach
	judging     bool
	watch       func(step int, found View, applied bool) // nil if nobody does
	held        bool                                     // more is to come, though every step is performed
	phase       phase
}

// A phase is how far a run has come.
type phase uint8

const (
	performing phase = iota // steps are left
	settling                // all faults end, the cluster converges
	scanning                // the final reads are under way
	finished
)

// Options of a run. The zero value is a run that judges and does not trace.
type Options struct {
	Trace        bool // collect a line per change of state
	NoInvariants bool // do not judge the invariants

	// Watch, if it is not nil, is told of each step that was performed, by its
	// place in the schedule, and of the state it found, of a fault that waits for its
	// moment each time. applied is false of a fault that did nothing.
	Watch func(step int, found View, applied bool)
}

// A Result is what came of a schedule.
type Result struct {
	History     *histories.History
	Fingerprint string   // 16 hex digits folded over every event
	Breaches    []Breach // invariants that broke, in order
	Unsafe      string   // why a partition left the safe configuration, so that losses are permitted (see [Invariant]); "" if none did
	Stats       Stats
	Trace       []string
}

// Stats count what happened in a run.
type Stats struct {
	Events            int64
	Ticks             int64 // simulated milliseconds
	Elections         int64 // of a leader
	UncleanElections  int64
	Truncations       int64
	RecordsTruncated  int64
	IsrShrinks        int64
	IsrExpansions     int64
	Duplicates        int64   // batches of idempotent producers that were there already
	NotEnoughReplicas int64   // sends refused for too small an ISR
	Eligible          int64   // replicas that left an ISR and stayed eligible (KIP-966)
	FollowerReads     int64   // answered by a broker that does not lead (KIP-392)
	BarrierReads      int64   // answered after the read barrier
	Flushes           int64   // of a log, for the number of its records
	Faults            []int64 // applied, by place in the table
	Moments           []int64 // at which faults that had waited for them were applied, by place in the table
	Roles             []int64 // by which applied faults named brokers, by place in the table
	Live              bool    // the cluster converged after the last fault
}

// Run executes a schedule to its end: until the cluster is calm after the last
// step and fault and everything was read once more, or until it is clear that
// it never will be. The error is about the schedule, never about what happened.
func Run(s schedule.Schedule, opts Options) (*Result, error) {
	return new(Runner).Run(s, opts)
}

// Check reports whether a schedule can be run: whether it names settings,
// bugs, verbs and arguments that exist.
func Check(s schedule.Schedule) error {
	return new(plan).read(s)
}

// A plan is a schedule, read.
type plan struct {
	cfg     config
	bugs    bugSet
	actions []action
}

// read makes it the plan of a schedule. It uses the memory of the one before.
func (p *plan) read(s schedule.Schedule) (err error) {
	if p.cfg, err = configure(s.Settings); err != nil {
		return err
	}
	if p.bugs, err = parseBugs(s.Bugs); err != nil {
		return err
	}
	p.bugs.imply(&p.cfg)
	p.actions = zeroed(p.actions, len(s.Steps))
	if err = readSteps(s.Steps, p.actions); err != nil {
		return err
	}
	for i := range p.actions {
		if r := &p.actions[i].request; p.cfg.idempotent || r.kind == histories.Send && !r.statedAck {
			r.acks, r.statedAck = p.cfg.acks, false
		}
	}
	return nil
}

// New returns a cluster in which every broker is in service and in sync, the
// logs are empty, and no step was performed.
func New(s schedule.Schedule, opts Options) (*Cluster, error) {
	var p plan
	if err := p.read(s); err != nil {
		return nil, err
	}
	c := &Cluster{}
	c.boot(p, opts)
	return c, nil
}

// boot brings a cluster up that is about to perform a plan. Whatever ran in its
// memory before leaves no trace.
func (c *Cluster) boot(p plan, opts Options) {
	c.reset()
	c.cfg, c.bugs, c.actions = p.cfg, p.bugs, p.actions
	c.tracing, c.judging, c.watch = opts.Trace, !opts.NoInvariants, opts.Watch
	c.stats.Faults, c.stats.Moments, c.stats.Roles = make([]int64, len(Faults)), make([]int64, len(Moments)), make([]int64, len(Roles))
	c.net.brokers = node(c.cfg.brokers)
	c.ghosts = resized(c.ghosts, c.cfg.partitions, (*ghost).reset)
	c.bootController()
	c.bootBrokers()
	for i := range c.actions {
		if a := &c.actions[i]; a.fault < 0 {
			c.client(a.client)
		}
	}
	c.client(scanner)
}

// bootController writes the metadata of a cluster that has just come up.
func (c *Cluster) bootController() {
	ctl := &c.controller
	ctl.env, ctl.queue = &c.env, &c.queue
	ctl.image.reset(c.cfg.brokers, c.cfg.partitions)
	ctl.digests = append(ctl.digests, 0)
	ctl.sessions = zeroed(ctl.sessions, c.cfg.brokers+1)
	for b := 1; b <= c.cfg.brokers; b++ {
		ctl.sessions[b] = session{incarnation: 1, leaving: none}
		ctl.write(metaRecord{broker: node(b), state: brokerState{epoch: ctl.image.offset}})
	}
	for p := range c.cfg.partitions {
		var ar []node
		for i := range c.cfg.replicationFactor {
			ar = append(ar, node((p+i)%c.cfg.brokers+1))
		}
		reg := registration{assignment: ar, isr: setOf(ar...), leader: ar[0], lastKnown: nobody}
		ctl.write(metaRecord{broker: nobody, partition: int32(p), reg: reg})
		c.ghosts[p].previous, c.ghosts[p].current = reg, reg
	}
	for b := 1; b <= c.cfg.brokers; b++ {
		ctl.sessions[b].known = ctl.image.offset
		ctl.watch(node(b))
	}
	c.flush(&ctl.outbox)
}

// bootBrokers starts the brokers, which know that metadata already.
func (c *Cluster) bootBrokers() {
	c.brokers = resized(c.brokers, c.cfg.brokers+1, (*broker).reset)
	for i := 1; i < len(c.brokers); i++ {
		b := &c.brokers[i]
		b.env, b.queue, b.id, b.cleanShutdown = &c.env, &c.queue, node(i), none
		b.replicas = resized(b.replicas, c.cfg.partitions, (*replica).reset)
		for p := range b.replicas {
			b.replicas[p].partition, b.replicas[p].log.memory = int32(p), &c.memory.records
			b.replicas[p].progress = zeroed(b.replicas[p].progress, c.cfg.brokers+1)
			b.replicas[p].sessions = zeroed(b.replicas[p].sessions, c.cfg.brokers+1)
			b.replicas[p].forget()
		}
		b.start()
		b.state, b.epoch = running, c.controller.image.brokers[i].epoch
		b.image.offset, b.image.digest = c.controller.image.offset, c.controller.image.digest
		copy(b.image.brokers, c.controller.image.brokers)
		copy(b.image.partitions, c.controller.image.partitions)
		for p := range b.replicas {
			b.applyPartition(&b.replicas[p], &b.image.partitions[p])
		}
	}
	for i := 1; i < len(c.brokers); i++ {
		c.flush(&c.brokers[i].outbox)
	}
}

// client returns the place of the client with that name, which it makes if
// there is none yet.
func (c *Cluster) client(name string) int {
	for i := range c.clients {
		if c.clients[i].name == name {
			return i
		}
	}
	i := len(c.clients)
	c.clients = resized(c.clients, i+1, nil)
	k := &c.clients[i]
	k.reset()
	k.env, k.queue = &c.env, &c.queue
	k.name, k.id, k.bootstrap = name, node(c.cfg.brokers+1+i), 1
	k.views, k.positions, k.seqs = zeroed(k.views, c.cfg.partitions), zeroed(k.positions, c.cfg.partitions), zeroed(k.seqs, c.cfg.partitions)
	for p := range k.views {
		k.views[p] = leaderView{nobody, none}
		k.positions[p] = chosen(none)
	}
	return i
}

// Step performs the next step of the schedule or the next event, whichever is
// due first, and reports whether there was one.
func (c *Cluster) Step() bool {
	due := c.queue.next()
	switch {
	case c.phase == finished:
		return false
	case c.next < len(c.actions) && c.actions[c.next].at <= due:
		a := &c.actions[c.next]
		c.next++
		c.now = max(c.now, a.at)
		if a.args.when != noMoment {
			c.lieInWait(a)
			break
		}
		c.carryOut(a)
	default:
		c.now = due
		s := c.queue.pop(due)
		c.stats.Events++
		c.fold(&s.message)
		c.deliver(&s.message)
		c.queue.release(s)
	}
	if c.dirty != 0 && c.judging {
		c.checkInvariants()
	}
	if c.came != 0 {
		c.spring()
	}
	if c.next == len(c.actions) && !c.held {
		c.conclude()
	}
	return c.phase != finished
}

// carryOut performs a step, and tells who watches what it found and did. It reports
// whether that changed anything.
func (c *Cluster) carryOut(a *action) bool {
	if c.watch == nil {
		return c.perform(a)
	}
	found := c.View()
	done := c.perform(a)
	c.watch(a.args.step, found, done)
	return done
}

// perform does what a step asks, and reports whether that changed anything.
func (c *Cluster) perform(a *action) bool {
	c.fingerprint = fold(c.fingerprint, uint64(c.now)<<16|uint64(a.args.step))
	if a.fault < 0 {
		k := &c.clients[c.client(a.client)]
		if int(a.request.partition) >= c.cfg.partitions || int(a.request.via) > c.cfg.brokers {
			c.notApplied(a.client, "there is no such partition or broker")
			return false
		}
		k.ask(a.request)
		c.flush(&k.outbox)
		return true
	}
	mark := len(c.marks)
	who, why := c.cast(a.args)
	if why == "" {
		c.nemesis(who.text)
		why = Faults[a.fault].apply(c, who)
	}
	if why != "" {
		c.marks = c.marks[:mark]
		c.notApplied(a.args.text, why)
	} else {
		c.stats.Faults[a.fault]++
		if a.args.when != noMoment {
			c.stats.Moments[a.args.when-1]++
		}
		c.countRoles(&a.args)
	}
	c.flushAll()
	return why == ""
}

// deliver hands a message to the node it is for.
func (c *Cluster) deliver(m *message) {
	switch {
	case m.kind == ambushTimer:
		c.giveUp(int(m.id))
	case m.kind == faultTimer:
		if fault := c.endOf(m); fault != "" {
			c.nemesis(histories.EndOf + fault)
		}
	case m.to == controllerNode:
		c.deliverToController(m)
		c.flush(&c.controller.outbox)
	case int(m.to) < len(c.brokers):
		b := &c.brokers[m.to]
		c.deliverTo(b, m)
		c.flush(&b.outbox)
	default:
		k := &c.clients[int(m.to)-len(c.brokers)]
		k.handle(m)
		c.flush(&k.outbox)
	}
}

// deliverToController hands a message to the controller, unless its process is
// not the one the message was for.
func (c *Cluster) deliverToController(m *message) {
	switch {
	case c.controller.former.reaches(m, c.now):
		c.controller.answerAsFormer(m)
	case m.kind.isRequest() && (c.controllerDown() || m.life != c.controller.incarnation):
		if m.awaited() {
			c.controller.send(m.breakOff())
		}
	case c.controllerDown():
		c.queue.push(c.controller.downUntil, m) // a timer
	default:
		c.controller.handle(m)
	}
}

// deliverTo hands a message to a broker, unless it stands still, or its
// process is not the one the message was for.
func (c *Cluster) deliverTo(b *broker, m *message) {
	switch {
	case m.kind == restartTimer:
		b.start()
		c.quietAt = max(c.quietAt, c.now)
		c.comes(restart, b.id)
		c.nemesis("broker " + itoa(int64(b.id)) + " is back")
	case m.kind == resumeTimer:
		if m.id == b.incarnation && b.pausedUntil > 0 {
			c.resume(b)
		}
	case b.state == down || m.life != 0 && m.life != b.incarnation || m.kind.isRequest() && !b.serving():
		if m.awaited() {
			lost := m.breakOff()
			lost.refused = m.life == refusedLife
			b.send(lost)
		}
	case b.pausedUntil > 0:
		b.held = append(b.held, *m)
	case m.kind.usesDisk() && c.now < b.diskSlowUntil && !m.late:
		m.late = true
		c.queue.push(c.now+b.diskDelay, m)
	default:
		b.handle(m)
	}
}

// refusedLife stands for the incarnation of a broker that accepts no connections.
const refusedLife = -1

// resume lets a broker go on with what waited for it, in order.
func (c *Cluster) resume(b *broker) {
	b.pausedUntil = 0
	c.quietAt = max(c.quietAt, c.now)
	for i := range b.held {
		c.queue.push(c.now, &b.held[i])
	}
	b.held = nil
	c.nemesis("broker " + itoa(int64(b.id)) + " goes on")
}

// flush sends what a node left in its outbox.
func (c *Cluster) flush(o *outbox) {
	for _, s := range o.slots {
		c.stamp(&s.message)
		if s.from == s.to {
			c.queue.schedule(c.now+c.after(&s.message), s)
		} else {
			c.net.transmit(c.now, s, &c.queue)
		}
	}
	o.slots = o.slots[:0]
}

// after is how long a timer takes.
func (c *Cluster) after(m *message) int64 {
	if b := c.broker(m.from); b != nil && m.kind.isClocked() {
		return b.clock.wait(c.now, m.after)
	}
	return m.after
}

// stamp notes between which incarnations of brokers a message goes. An answer
// goes back over the connection its request came by.
func (c *Cluster) stamp(m *message) {
	if b := c.broker(m.from); b != nil {
		m.origin = b.incarnation
	}
	if b := c.broker(m.to); b != nil && m.kind != disconnected && !m.kind.isResponse() {
		m.life = b.incarnation
		if m.kind.isRequest() && !b.serving() {
			m.life = refusedLife
		}
	}
	if m.to == controllerNode {
		m.life = c.controller.incarnation
	}
}

func (c *Cluster) flushAll() {
	c.flush(&c.controller.outbox)
	for i := 1; i < len(c.brokers); i++ {
		c.flush(&c.brokers[i].outbox)
	}
	for i := range c.clients {
		c.flush(&c.clients[i].outbox)
	}
}

// later sets a timer of the cluster itself.
func (c *Cluster) later(after int64, m *message) { c.queue.push(c.now+after, m) }

// fold takes an event into the fingerprint. The words of the event are multiplied
// by odd constants side by side, which takes less time than one after the other.
func (c *Cluster) fold(m *message) {
	h := uint64(c.now)*0xD6E8FEB86659FD93 +
		(uint64(m.kind)<<56|uint64(m.err)<<48|uint64(uint16(m.from))<<32|uint64(uint16(m.to))<<16|uint64(m.partition))*0xA0761D6478BD642F +
		(uint64(m.id)<<32^uint64(m.leaderEpoch)<<16^uint64(m.partitionEpoch))*0xE7037ED1A0B428DB +
		(uint64(m.offset)<<32^uint64(m.hw)<<16^uint64(m.isr)<<8^uint64(m.lastEpoch))*0x8EBC6AF09C88C6E3
	if n := len(m.records); n > 0 {
		h ^= m.records[n-1].digest
	}
	c.fingerprint = fold(c.fingerprint, h)
}

// Fingerprint identifies the events performed so far: 16 hex digits.
func (c *Cluster) Fingerprint() string { return fmt.Sprintf("%016x", c.fingerprint) }

// history builds what the clients saw.
func (c *Cluster) history() (*histories.History, error) {
	return histories.New("run", histories.Header{Config: c.promises()}, c.ops, c.marks)
}
