package impl

// advance raises the high watermark as far as the rule allows, and completes
// what waited for it. It is called when a follower's progress, the leader's
// log or the ISR changed, never for the mere passage of time (§3.4).
func (b *broker) advance(r *replica) {
	hw := b.nextHW(r)
	if hw > r.hw {
		b.setHW(r, hw)
		b.comes(commit, b.id)
		if !r.committed {
			r.committed = true
			b.comes(firstCommit, b.id)
		}
		b.ghosts[r.partition].onCommit(b.env, b.id, r)
	}
	b.completeProduces(r)
	b.completeReads(r)
	b.completeDeletes(r)
}

// nextHW is the high watermark that a leader may have now: what the leader and
// every follower it must wait for have, and never less than before (§3.4).
//
// With an ISR smaller than min.insync.replicas it does not move (KIP-966,
// KAFKA-15583).
func (b *broker) nextHW(r *replica) int64 {
	if b.bugs.has(highWatermarkByCount) {
		return max(r.hw, b.countedHW(r))
	}
	if b.tooFew(r, r.isr) && !b.bugs.has(watermarkBelowMinIsr) {
		return r.hw
	}
	hw := r.log.end()
	for _, f := range r.assignment {
		if f != b.id && b.waitsFor(r, f) {
			hw = min(hw, r.progress[f].end) // an unknown end is -1 and blocks
		}
	}
	return max(r.hw, hw)
}

// waitsFor reports whether the high watermark waits for a follower: for each
// that could be elected, and for each that is about to join the ISR, lest the
// watermark run away from it.
func (b *broker) waitsFor(r *replica, f node) bool {
	switch {
	case b.bugs.has(isrGrowsLate):
		return r.isr.has(f)
	case b.bugs.has(highWatermarkByConnection):
		return b.localTime()-r.progress[f].lastFetch <= 2*b.cfg.fetchWait
	}
	return b.maximalISR(r).has(f) || b.caughtUp(r, f) && b.eligible(r, f)
}

// caughtUp reports whether a follower has everything, or had recently.
func (b *broker) caughtUp(r *replica, f node) bool {
	p := &r.progress[f]
	if b.bugs.has(slowFollowerStays) {
		return b.localTime()-max(p.lastFetch, p.lastCaughtUp) <= b.cfg.lagTime
	}
	return p.end == r.log.end() || b.localTime()-p.lastCaughtUp <= b.cfg.lagTime
}

// tooFew reports whether an ISR is smaller than min.insync.replicas.
func (b *broker) tooFew(r *replica, isr brokerSet) bool {
	if b.bugs.has(minIsrByAssignment) {
		return len(r.assignment) < b.cfg.minIsr
	}
	return isr.size() < b.cfg.minIsr
}

// eligible reports whether a follower may be in the ISR by what this leader
// knows: the broker is in service, and the incarnation that fetched is the one
// that is registered (KIP-903).
func (b *broker) eligible(r *replica, f node) bool {
	state := b.image.brokers[f]
	return state.active() && r.progress[f].brokerEpoch == state.epoch
}

// countedHW is the wrong rule: what min.insync.replicas replicas have,
// whichever they are.
func (b *broker) countedHW(r *replica) int64 {
	var best int64
	for _, candidate := range r.assignment {
		end := b.endOf(r, candidate)
		have := 0
		for _, f := range r.assignment {
			if b.endOf(r, f) >= end {
				have++
			}
		}
		if have >= b.cfg.minIsr {
			best = max(best, end)
		}
	}
	return best
}

func (b *broker) endOf(r *replica, f node) int64 {
	if f == b.id {
		return r.log.end()
	}
	return r.progress[f].end
}

// checkpoint writes the high watermarks to disk.
func (b *broker) checkpoint() {
	for p := range b.replicas {
		b.replicas[p].checkpoint = b.replicas[p].hw
	}
}
