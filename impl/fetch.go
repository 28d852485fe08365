package impl

// A delayedFetch waits at the leader until there is something to send (§3.3).
type delayedFetch struct {
	id      int64 // of the timer that ends the wait
	request message
}

// onFetch serves a follower, in the order of §3.3: the mark that is reported
// is read before the fetch counts as progress, so a follower learns of a new
// high watermark one fetch later.
func (b *broker) onFetch(r *replica, m *message) {
	if b.cfg.fetchSessions {
		if err := b.recall(r, m); err != noError {
			b.refuse(m, fetchResponse, err)
			return
		}
	}
	reply := b.draft()
	b.fetched(r, m, &reply.message)
	if reply.err != noError {
		if b.tracing {
			b.sayOf(r, "refuses fetch of broker %d at %d, epoch %d: %v", m.from, m.offset, m.leaderEpoch, reply.err)
		}
		b.post(reply)
		return
	}
	if reply.lastEpoch == none || b.bugs.has(divergingFetchCounts) {
		if !b.noteFetch(r, m) {
			b.queue.release(reply)
			b.refuse(m, fetchResponse, notLeaderOrFollower)
			return
		}
	}
	if len(reply.records) > 0 || reply.lastEpoch != none || r.awaits(m.from) {
		b.post(reply)
		return
	}
	b.queue.release(reply)
	id := b.newID()
	r.fetches = append(r.fetches, delayedFetch{id: id, request: *m})
	b.timer(b.id, fetchWaitTimer, b.cfg.fetchWait, id).partition = r.partition
}

// fetched reads into an empty reply what a follower asked for, and changes nothing
// else. A reply with a last epoch says where the follower's log diverges (KIP-595)
// and has no records.
func (b *broker) fetched(r *replica, m, reply *message) {
	m.answer(fetchResponse, reply)
	if reply.err = b.leaderError(r, m.leaderEpoch); reply.err != noError {
		return
	}
	if !r.hosts(m.from) {
		reply.err = unknownLeaderEpoch
		return
	}
	reply.offset, reply.max, reply.hw, reply.end = m.offset, m.offset, r.hw, r.log.end()
	reply.round, reply.start = r.round, r.log.start
	if m.start < r.log.start {
		reply.deleted = r.log.records[:r.log.start:r.log.start]
	}
	if m.offset < r.log.start {
		reply.err = offsetOutOfRange
		return
	}
	if m.lastEpoch != none {
		epoch, end := r.log.epochs.endOffsetFor(m.lastEpoch, r.log.end())
		if end == none {
			reply.err = offsetOutOfRange
			return
		}
		if epoch < m.lastEpoch || end < m.offset {
			reply.lastEpoch, reply.offset = epoch, end
			return
		}
	}
	if m.offset > r.log.end() {
		reply.err = offsetOutOfRange
		return
	}
	reply.records = r.log.read(m.offset, r.log.end())
}

// leaderError is what is wrong with a request of that leader epoch, if it
// declares one: an older or newer epoch than this broker's, or that this
// broker does not lead (KIP-320).
func (b *broker) leaderError(r *replica, epoch int64) errorCode {
	switch {
	case r.role == noRole:
		return unknownTopicOrPartition
	case epoch == none || b.bugs.has(unfencedFetch):
	case epoch < r.leaderEpoch:
		return fencedLeaderEpoch
	case epoch > r.leaderEpoch:
		return unknownLeaderEpoch
	}
	if r.role != leaderRole {
		return notLeaderOrFollower
	}
	return noError
}

// noteFetch counts a fetch as progress and does what follows from it. It
// reports false if the fetch is from an incarnation that is known to be gone.
func (b *broker) noteFetch(r *replica, m *message) bool {
	if b.image.brokers[m.from].epoch > m.brokerEpoch {
		return false
	}
	p := &r.progress[m.from]
	end := r.log.end()
	if m.offset >= end {
		p.lastCaughtUp = max(p.lastCaughtUp, b.localTime())
	} else if m.offset >= p.leaderEnd {
		p.lastCaughtUp = max(p.lastCaughtUp, p.lastFetch)
	}
	if b.bugs.has(mixedIncarnationsJoin) { // between two looks at the same progress
		p.brokerEpoch = m.brokerEpoch
		b.expand(r, m.from)
	}
	moved := p.end != m.offset
	p.end, p.lastFetch, p.brokerEpoch = m.offset, b.localTime(), m.brokerEpoch
	p.leaderEnd = max(p.leaderEnd, end)
	p.round, p.start = max(p.round, m.round), m.start
	b.expand(r, m.from)
	if moved {
		b.advance(r)
	}
	b.completeReads(r)
	b.completeDeletes(r)
	return true
}

// completeFetches answers the waiting fetches for which there is something to
// say by now: records, a divergence, or that this broker does not lead.
func (b *broker) completeFetches(r *replica) {
	waiting := r.fetches[:0]
	for i := range r.fetches {
		reply := b.draft()
		b.fetched(r, &r.fetches[i].request, &reply.message)
		if reply.err == noError && reply.lastEpoch == none && len(reply.records) == 0 {
			b.queue.release(reply)
			waiting = append(waiting, r.fetches[i])
			continue
		}
		b.post(reply)
	}
	r.fetches = waiting
}

// releaseFetches answers all waiting fetches, that followers may hear of a read.
func (b *broker) releaseFetches(r *replica) {
	for i := range r.fetches {
		b.fetched(r, &r.fetches[i].request, b.write())
	}
	r.fetches = r.fetches[:0]
}

// onFetchWaited answers a fetch that has waited long enough.
func (b *broker) onFetchWaited(r *replica, id int64) {
	for i := range r.fetches {
		if r.fetches[i].id == id {
			b.fetched(r, &r.fetches[i].request, b.write())
			r.fetches = append(r.fetches[:i], r.fetches[i+1:]...)
			return
		}
	}
}

// servesReads reports whether a follower answers consumers (KIP-392).
func (b *broker) servesReads(r *replica) bool {
	return b.cfg.fetchAny && !b.cfg.linearizable && r.role == followerRole
}

// onConsume serves a consumer up to the high watermark (§2.2), a follower up to
// its own, which lags and may go back. A position
// between it and the log's end is not an error: there is nothing yet.
func (b *broker) onConsume(r *replica, m *message) {
	err := b.leaderError(r, m.leaderEpoch)
	if err != noError && !(err == notLeaderOrFollower && b.servesReads(r)) {
		b.refuse(m, consumeResponse, err)
		return
	}
	if b.bugs.has(readLimitSampledTwice) && r.hw == r.log.end() && !m.flag {
		later := *m
		later.flag = true
		b.send(later)
		return
	}
	reply := b.reply(m, consumeResponse)
	reply.hw, reply.start = b.visibleEnd(r), r.log.start
	if m.flag {
		reply.hw = r.log.end()
	}
	if m.offset > r.log.end() || m.offset < r.log.start {
		reply.err = offsetOutOfRange
		return
	}
	to := reply.hw
	if m.max != none {
		to = min(to, m.offset+m.max)
	}
	reply.offset, reply.records = m.offset, r.log.read(m.offset, to)
	if err != noError {
		b.stats.FollowerReads++
	}
	b.ghosts[r.partition].onRead(b.env, r, m.offset, reply.records)
}

// visibleEnd is the end of what clients may see.
func (b *broker) visibleEnd(r *replica) int64 {
	if b.bugs.has(readUncommittedTail) {
		return r.log.end()
	}
	return r.hw
}

// onList answers ListOffsets for a client (§2.3). A new leader does not know
// the end until its high watermark has reached its epoch's start (KIP-207).
func (b *broker) onList(r *replica, m *message) {
	if err := b.leaderError(r, m.leaderEpoch); err != noError {
		b.refuse(m, listResponse, err)
		return
	}
	if m.flag && r.hw < r.epochStart && !b.bugs.has(staleEndOffset) {
		b.refuse(m, listResponse, offsetNotAvailable)
		return
	}
	reply := b.reply(m, listResponse)
	reply.offset = r.log.start
	if m.flag {
		reply.offset = b.visibleEnd(r)
		b.ghosts[r.partition].onLatest(b.env, r.leaderEpoch, reply.offset)
	}
}
