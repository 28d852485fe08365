package impl

// A truncation is a way in which a new follower finds out how much of its log
// its leader does not share (§3.8.3).
type truncation uint8

const (
	truncateOnFetch truncation = iota // the leader says so in answer to a fetch (2.7)
	truncateHW                        // not at all: cut to the own high watermark (0.10)
	truncateKIP101                    // ask once where the last epoch ended (0.11)
	truncateKIP279                    // ask until the epochs agree (2.0)
)

var truncationNames = []string{"fetch", "hw", "kip101", "kip279"}

// beginFetching starts over with a new leader or a new leader epoch.
func (b *broker) beginFetching(r *replica) {
	r.fetch, r.asking = 0, false
	if r.leader == nobody {
		return
	}
	switch b.cfg.truncation {
	case truncateOnFetch:
		b.fetchNext(r)
	case truncateHW:
		b.truncate(r, r.hw)
		b.fetchNext(r)
	case truncateKIP101, truncateKIP279:
		b.askEpochEnd(r)
	}
}

// fetchNext asks the leader for what comes after the log's end.
func (b *broker) fetchNext(r *replica) {
	r.fetch = b.newID()
	m := b.write()
	m.kind, m.from, m.to, m.id, m.partition = fetchRequest, b.id, r.leader, r.fetch, r.partition
	m.leaderEpoch, m.brokerEpoch, m.lastEpoch = r.leaderEpoch, b.epoch, none
	m.offset, m.start, m.round = r.log.end(), r.log.start, r.echo
	if b.cfg.truncation == truncateOnFetch {
		m.lastEpoch = r.log.lastEpoch()
	}
	if b.cfg.fetchSessions {
		b.goOn(r, m)
	}
}

// backOff fetches again after a while.
func (b *broker) backOff(r *replica) {
	r.fetch = b.newID()
	b.timer(b.id, fetchRetryTimer, b.cfg.fetchBackoff, r.fetch).partition = r.partition
}

func (b *broker) onFetchRetry(r *replica, id int64) {
	if r.fetch != id || r.role != followerRole {
		return
	}
	if r.asking {
		b.askEpochEnd(r)
		return
	}
	b.fetchNext(r)
}

// onFetchAnswer takes a leader's answer, if it is the one being waited for:
// any change of leader, epoch or log since then made another the one.
func (b *broker) onFetchAnswer(r *replica, m *message) {
	if r.role == leaderRole && m.err == noError && m.lastEpoch != none && b.bugs.has(formerFollowerCuts) {
		b.truncateToDivergence(r, m.lastEpoch, m.offset)
		return
	}
	if r.role != followerRole || r.fetch != m.id && !b.heedsStale(r, m) {
		return
	}
	r.echo = m.round
	switch {
	case m.err == noError && m.lastEpoch != none && !m.flag && b.bugs.has(watermarkBeforeTruncation):
		b.setHW(r, min(m.hw, r.log.end()))
		cut := *m
		cut.flag, cut.from, cut.after = true, b.id, b.cfg.fetchBackoff
		b.send(cut)
	case m.err == noError && m.lastEpoch != none:
		b.truncateToDivergence(r, m.lastEpoch, m.offset)
		b.fetchNext(r)
	case m.err == noError:
		b.appendFetched(r, m)
		b.fetchNext(r)
	case m.err == fetchSessionIDNotFound, m.err == invalidFetchSessionEpoch:
		r.session = fetchSession{}
		b.fetchNext(r)
	case m.err == fencedLeaderEpoch:
		r.fetch = 0 // metadata with the newer epoch is on its way
	case m.err == offsetOutOfRange && m.end < r.log.end():
		// The leader's log is shorter. Its end came with the error, which
		// saves the ListOffsets request of §3.8.4.
		b.truncate(r, m.end)
		b.fetchNext(r)
	case m.err == offsetOutOfRange && m.start > r.log.end():
		r.log.restartAt(m.deleted)
		b.dirty |= logsCut
		b.setHW(r, m.start)
		b.fetchNext(r)
	default:
		b.backOff(r)
	}
}

// heedsStale is a mistake: to heed the answer to a fetch that is not the one
// in flight.
func (b *broker) heedsStale(r *replica, m *message) bool {
	switch {
	case r.leader == nobody:
		return false
	case m.err == fencedLeaderEpoch:
		return b.bugs.has(lateFenceStopsFetching)
	case m.err != noError:
		return false
	case m.lastEpoch != none:
		return b.bugs.has(staleDivergenceCuts) && m.max == r.log.end()
	case b.bugs.has(staleFetchAnswerCuts) && len(m.records) > 0 && m.offset < r.log.end():
		b.truncate(r, m.offset)
		return true
	}
	return false
}

// appendFetched appends what the leader sent and takes its high watermark,
// which may be lower than the one known before (§3.9).
func (b *broker) appendFetched(r *replica, m *message) {
	if m.start > r.log.start {
		r.log.adopt(m.deleted)
		b.deleteTo(r, m.start)
	}
	if len(m.records) > 0 {
		for _, rec := range m.records {
			r.log.append(rec)
		}
		b.flush(r)
		b.dirty |= logsGrew
	}
	b.setHW(r, max(min(m.hw, r.log.end()), r.log.start))
}

// truncateToDivergence cuts what the leader does not share, given the largest
// epoch it knows that is not above this log's last one, and where that ended
// there. Another round may be needed: the next fetch will tell (KIP-279).
func (b *broker) truncateToDivergence(r *replica, epoch, end int64) {
	_, cut := r.log.epochs.divergence(epoch, end, r.log.end())
	b.truncate(r, cut)
}

// askEpochEnd asks the leader where this log's last epoch ended in its log
// (OffsetsForLeaderEpoch, §2.4). An empty log has nothing to ask about.
func (b *broker) askEpochEnd(r *replica) {
	if r.log.lastEpoch() == none {
		r.asking = false
		b.fetchNext(r)
		return
	}
	r.asking = true
	r.fetch = b.newID()
	b.send(message{kind: epochEndRequest, from: b.id, to: r.leader, id: r.fetch, partition: r.partition,
		leaderEpoch: r.leaderEpoch, lastEpoch: r.log.lastEpoch()})
}

// onEpochEnd answers where an epoch ended in the leader's log.
func (b *broker) onEpochEnd(r *replica, m *message) {
	if err := b.leaderError(r, m.leaderEpoch); err != noError {
		b.refuse(m, epochEndResponse, err)
		return
	}
	reply := b.reply(m, epochEndResponse)
	reply.lastEpoch, reply.offset = r.log.epochs.endOffsetFor(m.lastEpoch, r.log.end())
	if b.bugs.has(undefinedEpochAsLogEnd) {
		reply.lastEpoch, reply.offset = none, r.log.end()
	}
}

func (b *broker) onEpochEndAnswer(r *replica, m *message) {
	if r.fetch != m.id || r.role != followerRole {
		return
	}
	if m.err == fencedLeaderEpoch {
		r.fetch = 0
		return
	}
	if m.err != noError {
		b.backOff(r)
		return
	}
	agreed, cut := true, r.hw // the leader cannot say: fall back to the own high watermark
	switch {
	case m.offset == none:
	case b.cfg.truncation == truncateKIP101:
		cut = m.offset
	default:
		agreed, cut = r.log.epochs.divergence(m.lastEpoch, m.offset, r.log.end())
	}
	if b.bugs.has(keepBelowHighWatermark) {
		agreed, cut = true, max(cut, r.hw)
	}
	b.truncate(r, cut)
	if !agreed {
		b.askEpochEnd(r)
		return
	}
	r.asking = false
	b.fetchNext(r)
}
