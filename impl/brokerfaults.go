package impl

// applyDown ends a broker's process, after which spoil may damage its disk.
func (c *Cluster) applyDown(a *args, spoil func(*replica) bool) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down {
		return "the broker is not up"
	}
	for p := range b.replicas {
		had := b.replicas[p].log
		if spoil(&b.replicas[p]) {
			c.onLoss(p, b, &had)
		}
	}
	c.disconnectAll(b)
	b.crash()
	b.timer(b.id, restartTimer, a.duration, 0)
	return ""
}

func applyCrash(c *Cluster, a *args) string {
	return c.applyDown(a, func(*replica) bool { return false })
}

func applyPowerLoss(c *Cluster, a *args) string {
	return c.applyDown(a, func(r *replica) bool { return r.log.losePower(a.lose) })
}

func applyWipe(c *Cluster, a *args) string {
	return c.applyDown(a, (*replica).wipe)
}

func applyPause(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down || b.pausedUntil > c.now {
		return "the broker is not up and going"
	}
	b.pausedUntil = c.now + a.duration
	b.timer(b.id, resumeTimer, a.duration, b.incarnation)
	return ""
}

func applyShutdown(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state != running || b.pausedUntil > c.now {
		return "the broker is not running"
	}
	b.shutdown(a.duration)
	return ""
}

func applyHoldMetadata(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down {
		return "the broker is not up"
	}
	b.holdUntil = max(b.holdUntil, c.now+a.duration)
	b.timer(b.id, releaseTimer, a.duration, 0)
	c.endFault(a, a.duration)
	return ""
}

func applyClock(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || a.slower == a.faster {
		return "there is no such broker, or the clock would run as before"
	}
	b.clock.change(c.now, a.duration, max(a.slower, 1), max(a.faster, 1))
	c.endFault(a, a.duration)
	return ""
}

func applySlowDisk(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil {
		return "there is no such broker"
	}
	b.diskDelay, b.diskSlowUntil = a.by, c.now+a.duration
	c.endFault(a, a.duration+a.by)
	return ""
}

// disconnectAll tells everyone who waits for a broker's answer that none
// will come. What is still on its way there is told on arrival.
func (c *Cluster) disconnectAll(b *broker) {
	tell := func(m *message) {
		if m.kind.isRequest() {
			b.send(m.breakOff())
		}
	}
	for p := range b.replicas {
		r := &b.replicas[p]
		for i := range r.produces {
			tell(&r.produces[i].request)
		}
		for i := range r.fetches {
			tell(&r.fetches[i].request)
		}
		for i := range r.deletes {
			tell(&r.deletes[i].request)
		}
		for i := range r.reads {
			tell(&r.reads[i].request)
		}
	}
	for i := range b.held {
		tell(&b.held[i])
	}
	b.held, b.pausedUntil = nil, 0
}
