package impl

// A role is what a broker believes its replica to be.
type role uint8

const (
	noRole role = iota // before the first metadata of an incarnation
	leaderRole
	followerRole
)

var roleNames = [...]string{"none", "leader", "follower"}

func (r role) String() string { return roleNames[r] }

// A replica is one broker's copy of a partition and what it believes about
// the others (§1.2, §1.3).
type replica struct {
	partition  int32
	log        log
	hw         int64 // high watermark, exclusive
	checkpoint int64 // the high watermark on disk

	role           role
	leader         node
	leaderEpoch    int64
	partitionEpoch int64
	assignment     []node
	isr            brokerSet // committed, as far as this leader knows; empty on followers

	// On a leader.
	epochStart int64 // LESO: its log end when it became leader in this epoch
	committed  bool  // its high watermark has risen in this epoch
	pending    pending
	progress   []progress // by broker
	produces   []delayedProduce
	fetches    []delayedFetch
	reads      []delayedRead // with reads=linearizable
	deletes    []delayedDelete
	round      int64          // of the last read that arrived
	sessions   []fetchSession // by follower, whoever leads

	// On a follower.
	fetch   int64        // id of the request in flight, or of the timer that will retry it; 0 if none
	asking  bool         // the request is for the end of an epoch, not yet a fetch
	session fetchSession // with the leader
	echo    int64        // the leader's round by its last answer in this epoch
}

// progress is what a leader knows about a follower (§1.3).
type progress struct {
	end          int64 // log end offset by its last fetch, none if unknown
	start        int64 // log start offset by its last fetch
	brokerEpoch  int64 // by its last fetch, none if unknown
	leaderEnd    int64 // the leader's log end at that fetch
	lastFetch    int64 // time of that fetch
	lastCaughtUp int64 // time at which it last had everything
	round        int64 // the latest it echoed in this epoch
}

// longAgo is a time at which a replica caught up that never did.
const longAgo int64 = -1 << 60

// forget loses what the process had in memory, and leaves what the disk has
// (§3.11).
func (r *replica) forget() {
	r.role, r.leader, r.leaderEpoch, r.partitionEpoch = noRole, nobody, none, none
	r.isr, r.pending, r.round = 0, pending{}, 0
	r.produces, r.fetches, r.reads, r.deletes = r.produces[:0], r.fetches[:0], r.reads[:0], r.deletes[:0]
	r.fetch, r.asking, r.echo, r.session = 0, false, 0, fetchSession{}
	clear(r.sessions)
	r.log.epochs = r.log.epochs.truncateFromEnd(r.log.end())
	r.hw = max(min(r.checkpoint, r.log.end()), r.log.start)
}

// hosts reports whether the broker is assigned the partition.
func (r *replica) hosts(b node) bool {
	for _, a := range r.assignment {
		if a == b {
			return true
		}
	}
	return false
}

// applyPartition takes a newer state of the partition (§3.8). A state of the
// same partition epoch is nothing new: it came with an AlterPartition answer,
// and applying it again would forget a proposal that is in flight.
func (b *broker) applyPartition(r *replica, reg *registration) {
	r.assignment = reg.assignment
	b.dirty |= beliefsChanged
	if !r.hosts(b.id) {
		b.drop(r)
		r.partitionEpoch = reg.partitionEpoch
		return
	}
	if reg.leader == b.id {
		b.becomeLeader(r, reg)
	} else {
		b.becomeFollower(r, reg)
	}
}

// drop deletes a replica that the broker is not assigned (any more), and
// refuses what waits for it (§3.8.5).
func (b *broker) drop(r *replica) {
	if r.log.end() > 0 {
		b.say("deletes its log of %s", partitionName(r.partition))
		b.dirty = allChanged
	}
	b.failProduces(r)
	b.failReads(r)
	b.failDeletes(r)
	r.role = noRole
	b.completeFetches(r)
	r.wipe()
	r.forget()
}

// becomeLeader becomes or stays leader (§3.8.1).
func (b *broker) becomeLeader(r *replica, reg *registration) {
	newEpoch, led := reg.leaderEpoch > r.leaderEpoch, r.role == leaderRole
	b.watchFollowers()
	r.role, r.leader, r.fetch = leaderRole, b.id, 0
	r.isr, r.pending, r.partitionEpoch = reg.isr, pending{}, reg.partitionEpoch
	if newEpoch {
		r.leaderEpoch, r.epochStart, r.committed = reg.leaderEpoch, r.log.end(), false
		if !b.bugs.has(epochUnrecordedAtElection) {
			r.log.epochs = r.log.epochs.assign(r.leaderEpoch, r.epochStart)
			b.dirty |= logsGrew
		}
		for i := range r.progress {
			r.progress[i] = b.initialProgress(r, node(i), led)
		}
		b.failReads(r)
		b.failDeletes(r)
		b.comes(leadership, b.id)
		b.sayOf(r, "leads epoch %d: leo=%d hw=%d isr=%v", r.leaderEpoch, r.log.end(), r.hw, r.isr)
		b.ghosts[r.partition].onLeader(b.env, b.id, r)
	}
	for _, f := range r.assignment {
		if led && b.bugs.has(readdedReplicaKeepsProgress) {
			b.expand(r, f)
		}
	}
	b.advance(r)
	b.completeFetches(r)
}

// initialProgress is what a leader assumes about a follower as its epoch
// begins: nothing.
//
// Kafka lets a broker that led before keep what it knew (§3.8.1). But it may
// have missed an epoch in which another led and the follower's log was cut, and
// then count records that are gone towards the high watermark.
func (b *broker) initialProgress(r *replica, follower node, led bool) progress {
	p := progress{end: none, brokerEpoch: none, lastFetch: longAgo, lastCaughtUp: longAgo}
	if led && (b.bugs.has(progressSurvivesEpochs) || b.bugs.has(readdedReplicaKeepsProgress)) {
		p.end, p.brokerEpoch, p.leaderEnd = r.progress[follower].end, r.progress[follower].brokerEpoch, r.log.end()
	}
	if r.isr.has(follower) {
		p.lastCaughtUp = b.localTime()
	}
	return p
}

// becomeFollower becomes or stays follower. A new leader epoch restarts the
// fetcher even if the leader is the same broker (§3.8.2, KAFKA-7164).
func (b *broker) becomeFollower(r *replica, reg *registration) {
	newEpoch := reg.leaderEpoch > r.leaderEpoch
	same := r.role == followerRole && r.leader == reg.leader
	r.role, r.leader, r.leaderEpoch, r.partitionEpoch = followerRole, reg.leader, reg.leaderEpoch, reg.partitionEpoch
	r.isr, r.pending, r.epochStart = 0, pending{}, none
	if !newEpoch && same {
		return
	}
	r.echo = 0
	b.failProduces(r)
	b.failReads(r)
	b.failDeletes(r)
	b.completeFetches(r)
	if same && r.leader != nobody && b.bugs.has(sameLeaderSkipsTruncation) {
		b.fetchNext(r)
		return
	}
	b.beginFetching(r)
}

// setHW moves the high watermark.
func (b *broker) setHW(r *replica, hw int64) {
	if hw == r.hw {
		return
	}
	if b.tracing {
		b.sayOf(r, "hw %d -> %d", r.hw, hw)
	}
	r.hw = hw
	b.dirty |= marksMoved
}

// truncate cuts the replica's log; the high watermark follows it down.
func (b *broker) truncate(r *replica, offset int64) {
	if cut := r.log.end() - offset; cut > 0 {
		b.ghosts[r.partition].onTruncate(b.env, b.id, r, offset)
		b.stats.Truncations++
		b.comes(cutting, b.id)
		b.stats.RecordsTruncated += cut
		b.sayOf(r, "truncates %d -> %d", r.log.end(), offset)
	}
	if offset < r.log.end() || !b.bugs.has(epochsKeptAtLogEnd) {
		epochs, flushed := r.log.epochs, r.log.flushed
		r.log.truncateTo(offset)
		if b.bugs.has(epochsSurviveTruncation) {
			r.log.epochs = epochs
		}
		if b.bugs.has(flushedSurvivesTruncation) {
			r.log.flushed = flushed
		}
	}
	b.setHW(r, min(r.hw, r.log.end()))
	b.dirty |= logsChanged
}
