package impl

import "slices"

// reassign begins to move a partition to other replicas: until the ISR has all
// of them, the old ones stay as well (§3.10 step A). One that is under way is
// replaced. It returns why it does nothing, or "".
//
// A target smaller than min.insync.replicas is refused, so that the number means
// the same to the controller and to a leader with older metadata.
func (c *controller) reassign(p int32, target []node) string {
	next := c.image.partitions[p]
	from, to := setOf(next.assignment...), setOf(target...)
	switch {
	case to.size() < len(target) || slices.ContainsFunc(target, func(b node) bool { return int(b) >= len(c.image.brokers) }):
		return "a replica is named twice, or is no broker"
	case to.size() < c.cfg.minIsr:
		return "the replicas are fewer than min.insync.replicas"
	case slices.Equal(target, next.assignment):
		return "the partition is assigned so already"
	}
	next.assignment = slices.Clone(target)
	for _, b := range c.image.partitions[p].assignment {
		if !to.has(b) {
			next.assignment = append(next.assignment, b)
		}
	}
	next.adding, next.removing = to.without(from), from.without(to)
	if c.bugs.has(removeBeforeAdd) {
		next.assignment, next.adding, next.removing = target, 0, 0
		next.isr = to
	}
	c.build(p, next, next.isr, 0, electOnline)
	return ""
}

// cancel takes a reassignment back (§3.10). It returns why it does nothing, or "".
//
// Kafka demands only that somebody in the ISR is left. But if the replicas that
// were being added made it large enough, the ELR beside it is gone, and fewer
// than min.insync.replicas might be left that are complete.
func (c *controller) cancel(p int32) string {
	next := c.image.partitions[p]
	switch {
	case next.adding|next.removing == 0:
		return "NO_REASSIGNMENT_IN_PROGRESS"
	case next.isr.without(next.adding).size() < min(c.cfg.minIsr, next.isr.size()):
		return "INVALID_REPLICA_ASSIGNMENT: too small an ISR would be left"
	}
	isr := next.isr.without(next.adding)
	if isr == 0 {
		return "INVALID_REPLICA_ASSIGNMENT: nobody in sync would be left"
	}
	next.assignment = next.without(next.adding)
	next.adding, next.removing = 0, 0
	c.build(p, next, isr, 0, electOnline)
	return ""
}

// completed ends a reassignment once the ISR has every replica that is to stay
// (§3.10 rule 1), and returns what is left of the ISR.
func (r *registration) completed(isr brokerSet) brokerSet {
	stay := r.without(r.removing)
	if r.adding|r.removing == 0 || len(stay) == 0 || !isr.includes(setOf(stay...)) {
		return isr
	}
	isr = isr.without(r.removing)
	r.assignment, r.adding, r.removing = stay, 0, 0
	return isr
}

// without is the assignment without some replicas, in the same order.
func (r *registration) without(out brokerSet) []node {
	return slices.DeleteFunc(slices.Clone(r.assignment), out.has)
}

func applyReassign(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	defer c.controller.publish()
	return c.controller.reassign(a.partition, a.replicas)
}

func applyCancel(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	defer c.controller.publish()
	return c.controller.cancel(a.partition)
}
