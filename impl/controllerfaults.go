package impl

func applyElectPreferred(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	reg := &c.controller.image.partitions[a.partition]
	switch {
	case reg.leader == reg.assignment[0]:
		return "ELECTION_NOT_NEEDED: the preferred replica leads already"
	case !c.controller.change(a.partition, reg.isr, 0, electPreferred):
		return "PREFERRED_LEADER_NOT_AVAILABLE"
	}
	c.controller.publish()
	return ""
}

func applyElectUnclean(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	reg := &c.controller.image.partitions[a.partition]
	switch {
	case reg.leader != nobody:
		return "ELECTION_NOT_NEEDED: there is a leader"
	case !c.controller.change(a.partition, reg.isr, 0, electUnclean):
		return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
	}
	c.controller.publish()
	return ""
}

func applyFence(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil {
		return "there is no such broker"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	s := &c.controller.sessions[b.id]
	s.fencedUntil = max(s.fencedUntil, c.now+a.duration)
	c.endFault(a, a.duration)
	if !c.controller.image.brokers[b.id].fenced {
		c.controller.fence(b.id)
		c.controller.publish()
	}
	return ""
}

func applyMoveLeader(c *Cluster, a *args) string {
	if c.broker(a.to) == nil || int(a.partition) >= len(c.ghosts) {
		return "there is no such replica"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	switch {
	case c.controller.move(a.partition, a.to):
		c.controller.publish()
	case a.duration == 0:
		return "the broker is not in the ISR and in service"
	default:
		c.controller.wishes = append(c.controller.wishes, wish{a.partition, a.to, c.now + a.duration})
		c.endFault(a, a.duration)
	}
	return ""
}

func applyRestartController(c *Cluster, a *args) string {
	if c.controllerDown() {
		return controllerIsDown
	}
	c.controller.restart(a.duration)
	c.endFault(a, a.duration)
	return ""
}

// controllerIsDown is why steps that ask something of it do nothing.
const controllerIsDown = "the controller is down"

func (c *Cluster) controllerDown() bool { return c.now < c.controller.downUntil }
