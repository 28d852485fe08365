package impl

import (
	"fmt"
	"slices"
)

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
