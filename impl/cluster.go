package impl

import (
	"fmt"
	"math"

	"github.com/isrcheck/isrcheck/histories"
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
