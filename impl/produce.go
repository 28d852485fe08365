package impl

// A delayedProduce waits at the leader until the high watermark has passed
// its records (§3.2). No timer ends the wait: the client's own patience is as
// long as the broker's, so it always ends first.
type delayedProduce struct {
	request message
	base    int64 // offset of its first record
	needs   int64 // the high watermark it waits for
}

// onProduce appends a batch (§3.1). Produce requests carry no leader epoch:
// what stops a deposed leader is that its high watermark cannot move.
func (b *broker) onProduce(r *replica, m *message) {
	if r.role != leaderRole {
		b.answerProduce(m, notLeaderOrFollower, none)
		return
	}
	if m.acks == acksAll && b.tooFew(r, r.isr) {
		b.stats.NotEnoughReplicas++
		b.answerProduce(m, notEnoughReplicas, none)
		return
	}
	if m.stamp.producer != 0 {
		err, base := r.log.admit(m.stamp, len(m.values))
		if err != noError && !(err == outOfOrderSequenceNumber && b.bugs.has(gapInSequenceLands)) {
			b.answerProduce(m, err, none)
			return
		}
		if base != none && !b.bugs.has(retryLandsTwice) {
			b.sayOf(r, "has %v at %d already", m.values, base)
			b.stats.Duplicates++
			r.produces = append(r.produces, delayedProduce{request: *m, base: base, needs: base + int64(len(m.values))})
			b.completeProduces(r)
			return
		}
	}
	base := r.log.appendBatch(r.leaderEpoch, m.values, m.stamp)
	b.flush(r)
	b.dirty |= logsGrew
	if b.tracing {
		b.sayOf(r, "appends %v at %d, epoch %d", m.values, base, r.leaderEpoch)
	}
	b.ghosts[r.partition].onAppend(b.env, b.id, r, base)
	if m.acks == acksAll {
		r.produces = append(r.produces, delayedProduce{request: *m, base: base, needs: r.log.end()})
	}
	b.advance(r)
	if m.acks == acksOne && b.bugs.has(acksOneMovesWatermark) {
		b.setHW(r, r.log.end())
	}
	if m.acks == acksOne {
		b.answerProduce(m, noError, base)
	}
	b.completeFetches(r)
}

// completeProduces answers the sends whose records are committed.
func (b *broker) completeProduces(r *replica) {
	waiting := r.produces[:0]
	for i := range r.produces {
		p := &r.produces[i]
		tooFew := b.tooFew(r, b.maximalISR(r))
		if r.hw < p.needs && !b.bugs.has(ackBeforeCommit) && !(tooFew && b.cfg.refusePending) {
			waiting = append(waiting, *p)
			continue
		}
		if tooFew && !b.bugs.has(ackBeforeCommit) {
			b.answerProduce(&p.request, notEnoughReplicasAfterAppend, none)
			continue
		}
		b.ghosts[r.partition].onAck(b.env, r, b.maximalISR(r).size(), p)
		b.answerProduce(&p.request, noError, p.base)
	}
	r.produces = waiting
}

// failProduces answers every waiting send: this broker leads no longer, and
// nobody knows what will become of the records.
func (b *broker) failProduces(r *replica) {
	for i := range r.produces {
		b.answerProduce(&r.produces[i].request, notLeaderOrFollower, none)
	}
	r.produces = r.produces[:0]
}

func (b *broker) answerProduce(m *message, err errorCode, base int64) {
	if m.acks == acksZero {
		return
	}
	reply := b.reply(m, produceResponse)
	reply.err, reply.offset = err, base
}

// flush brings a log to stable storage if the settings ask for it.
func (b *broker) flush(r *replica) {
	if n := b.cfg.flushMessages; n > 0 && r.log.end()-r.log.flushed >= n {
		r.log.flushed = r.log.end()
		b.stats.Flushes++
	}
}
