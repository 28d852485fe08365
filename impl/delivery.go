package impl

import "github.com/isrcheck/isrcheck/histories"

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
