package impl

// A delayedRead waits at the leader for the read barrier.
type delayedRead struct {
	request message
	round   int64 // that followers must echo
}

// onRead takes a consumer's fetch or list. With reads=committed it is answered
// at once, from what this broker believes: a leader that was deposed without
// knowing tells of an old end (§4.1).
//
// With reads=linearizable it waits for the barrier. The leader numbers its
// reads, tells followers the newest number with every answer, and they echo it
// with the next fetch. So an echo of this read's number, or a later one, was
// sent after the read arrived, by a replica that had not begun to lead then; an
// old fetch that was delayed on its way has an old number.
func (b *broker) onRead(r *replica, m *message) {
	if !b.cfg.linearizable || b.bugs.has(zombieAnswersReads) || b.leaderError(r, m.leaderEpoch) != noError {
		b.answerRead(r, m)
		return
	}
	r.round++
	r.reads = append(r.reads, delayedRead{request: *m, round: r.round})
	b.releaseFetches(r)
	b.completeReads(r)
}

func (b *broker) answerRead(r *replica, m *message) {
	if m.kind == listRequest {
		b.onList(r, m)
	} else {
		b.onConsume(r, m)
	}
}

// completeReads answers the reads for which the barrier is passed.
func (b *broker) completeReads(r *replica) {
	waiting := r.reads[:0]
	for i := range r.reads {
		if !b.passed(r, r.reads[i].round) {
			waiting = append(waiting, r.reads[i])
			continue
		}
		b.stats.BarrierReads++
		b.answerRead(r, &r.reads[i].request)
	}
	r.reads = waiting
}

// passed reports whether this leader's high watermark covers all that was
// acknowledged before a round began. Whoever is elected cleanly after this
// leader is a member of its maximal ISR, and none of them had begun when it
// fetched. With an ISR smaller than min.insync.replicas an eligible replica
// outside of it could have; and before the high watermark has reached the start
// of the epoch it does not cover what earlier leaders acknowledged.
func (b *broker) passed(r *replica, round int64) bool {
	if r.isr.size() < b.cfg.minIsr || r.hw < r.epochStart {
		return false
	}
	for f := range b.maximalISR(r).without(setOf(b.id)).each() {
		if r.progress[f].round < round {
			return false
		}
	}
	return true
}

// awaits reports whether a read waits for a follower to echo its round.
func (r *replica) awaits(f node) bool {
	n := len(r.reads)
	return n > 0 && r.progress[f].round < r.reads[n-1].round
}

// failReads refuses every waiting read: this broker does not lead any more, or
// leads anew and knows nothing of its followers.
func (b *broker) failReads(r *replica) {
	for i := range r.reads {
		m := &r.reads[i].request
		b.refuse(m, m.kind+1, notLeaderOrFollower)
	}
	r.reads = r.reads[:0]
}
