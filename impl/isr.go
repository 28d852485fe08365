package impl

// pending is a proposal to change the ISR that the controller has not decided
// as far as the leader knows. The zero value is none: the ISR is committed.
type pending struct {
	id      int64     // of the proposal, 0 for none
	sent    bool      // on its way; else it waits for the one before it
	decided bool      // answered, in a way that leaves it pending
	isr     brokerSet // as proposed
	epochs  []int64   // broker epochs of the proposed members, by number
	expands bool
}

// maximalISR is every replica that the controller may by now count as in sync:
// the committed ISR and whoever is being added; a replica that is being
// dropped stays until the controller has agreed (§1.3, KIP-497).
func (b *broker) maximalISR(r *replica) brokerSet {
	switch {
	case r.pending.id == 0:
		return r.isr
	case r.pending.expands:
		if b.bugs.has(isrGrowsLate) {
			return r.isr
		}
		return r.isr | r.pending.isr
	case b.bugs.has(isrShrinksEarly):
		return r.pending.isr
	}
	return r.isr
}

// watchFollowers sees to it that a broker that leads looks for followers that lag,
// every half of replica.lag.time.max.ms after its start (§3.5). Kafka's brokers look
// at nothing at these times if they lead nothing.
func (b *broker) watchFollowers() {
	if !b.shrinking {
		b.shrinking = true
		every := max(b.cfg.lagTime/2, 1)
		b.timer(b.id, shrinkTimer, every-(b.now-b.started)%every, 0)
	}
}

// onShrinkTimer looks for followers that lag, and will again.
func (b *broker) onShrinkTimer() {
	b.shrinking = false
	for p := range b.replicas {
		if r := &b.replicas[p]; r.role == leaderRole {
			b.shrinking = true
			b.shrink(r)
		}
	}
	if b.shrinking {
		b.timer(b.id, shrinkTimer, max(b.cfg.lagTime/2, 1), 0)
	}
}

// shrink proposes to drop the followers that lag too far behind from an ISR (§3.5).
func (b *broker) shrink(r *replica) {
	if r.pending.id != 0 {
		return
	}
	out := b.laggards(r)
	b.ghosts[r.partition].onShrink(b, r, out)
	if out != 0 {
		b.propose(r, r.isr.without(out))
		b.advance(r)
	}
}

// laggards are the followers in the ISR that are not caught up. One whose log
// is as long as the leader's is never among them, however silent it is.
func (b *broker) laggards(r *replica) brokerSet {
	var out brokerSet
	for _, f := range r.assignment {
		if f == b.id || !r.isr.has(f) {
			continue
		}
		limit := b.cfg.lagMessages
		if b.bugs.has(burstEvictsFollowers) {
			limit = 2
		}
		behind := limit > 0 && r.log.end()-r.progress[f].end > limit
		if behind || !b.caughtUp(r, f) {
			out = out.with(f)
		}
	}
	return out
}

// expand proposes to add a follower that has just fetched, if it has all that
// may have been committed: up to the high watermark and, since that of a new
// leader is stale, up to where the leader's epoch began (§3.6, KAFKA-7128).
func (b *broker) expand(r *replica, f node) {
	if r.pending.id != 0 || r.isr.has(f) || !b.eligible(r, f) {
		return
	}
	end := r.progress[f].end
	if r.progress[f].start < r.log.start {
		return // below the log start its log may differ: a leader must not bring that back
	}
	if end < r.hw || end < r.epochStart && !b.bugs.has(expandBelowEpochStart) {
		return
	}
	b.propose(r, r.isr.with(f))
}

// propose makes an ISR pending, from now on, and asks the controller for it.
func (b *broker) propose(r *replica, isr brokerSet) {
	epochs := make([]int64, len(r.progress))
	for i := range r.progress {
		epochs[i] = r.progress[i].brokerEpoch // none where it has not fetched from this leader: not checked
	}
	epochs[b.id] = b.epoch
	r.pending = pending{id: b.newID(), isr: isr, epochs: epochs, expands: isr.includes(r.isr)}
	b.dirty |= beliefsChanged
	b.sayOf(r, "proposes isr %v -> %v", r.isr, isr)
	b.proposeNext()
}

// proposeNext sends the next proposal, one at a time for the whole broker. A
// leader that was elected uncleanly has recovered by then: what it has is the
// truth from now on, and others may join it (leader recovery state, §3.8.1).
func (b *broker) proposeNext() {
	if b.alter != 0 {
		return
	}
	for p := range b.replicas {
		r := &b.replicas[p]
		if r.pending.id == 0 || r.pending.sent {
			continue
		}
		r.pending.sent = true
		b.dirty |= beliefsChanged
		b.alter = r.pending.id
		b.send(message{kind: alterPartitionRequest, from: b.id, to: controllerNode, id: r.pending.id,
			partition: r.partition, brokerEpoch: b.epoch, leaderEpoch: r.leaderEpoch,
			partitionEpoch: r.partitionEpoch, isr: r.pending.isr, epochs: r.pending.epochs,
			flag: b.image.partitions[p].recovering && b.bugs.has(recoveryNeverEnds)})
		return
	}
}

// onAlterAnswer takes the controller's decision (§2.5, §3.7). A proposal that
// metadata has overtaken is not pending any more, and its answer means nothing.
func (b *broker) onAlterAnswer(r *replica, m *message) {
	if m.id != b.alter {
		return
	}
	if m.err == staleBrokerEpoch || m.err == notController {
		b.retryAlter()
		return
	}
	b.alter = 0
	if r.pending.id == m.id {
		b.decide(r, m)
	} else if b.bugs.has(answerDropsNextProposal) {
		r.pending.sent = true
		b.dirty |= beliefsChanged
	}
	b.proposeNext()
}

func (b *broker) decide(r *replica, m *message) {
	r.pending.decided = true
	switch m.err {
	case noError:
		if m.leaderEpoch != r.leaderEpoch || m.partitionEpoch < r.partitionEpoch {
			return
		}
		r.isr, r.partitionEpoch, r.pending = m.isr, m.partitionEpoch, pending{}
		b.dirty |= beliefsChanged
		b.advance(r)
	case ineligibleReplica:
		// The controller vouches that the change was not made and never will be.
		r.pending = pending{}
		b.dirty |= beliefsChanged
	}
	// Anything else: the proposal stays pending, on purpose, until metadata
	// replaces the state it was made from.
}

// retryAlter sends the proposal in flight again, a little later.
func (b *broker) retryAlter() {
	for p := range b.replicas {
		if r := &b.replicas[p]; r.pending.id == b.alter {
			r.pending.sent = false
		}
	}
	b.alter = 0
	b.timer(b.id, alterRetryTimer, alterRetryBackoff, 0)
}

// alterRetryBackoff is the wait after a refusal that concerns the whole
// request (§2.5).
const alterRetryBackoff = 50
