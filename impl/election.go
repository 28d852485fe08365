package impl

// An election is the order of preference in which a leader is chosen (§3.10).
type election uint8

const (
	electOnline election = iota
	electPreferred
	electUnclean // as electOnline, and any replica in service if nobody else can lead
)

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

func (c *controller) uncleanElection(p int32, leader node, how choice, kind election) {
	c.stats.UncleanElections++
	if how == lastKnown {
		c.ghosts[p].onBalancedRecovery(leader, c.cfg.minIsr)
	} else {
		c.ghosts[p].onUncleanElection(c.cfg.unclean || kind == electUnclean)
	}
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

// keepsEpoch is a mistake: not to begin a new leader epoch.
func (c *controller) keepsEpoch(old, next *registration) bool {
	vacant := old.leader == nobody || next.leader == nobody
	return vacant && c.bugs.has(epochSurvivesVacancy) || old.leader != next.leader && c.bugs.has(electionWithoutEpoch)
}
