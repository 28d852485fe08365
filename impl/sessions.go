package impl

// A fetchSession is what follower and leader leave unsaid between two fetches
// (KIP-227): a fetch at the same offset, in the same leader epoch, says neither
// again. Each side keeps its own account of it.
type fetchSession struct {
	leader      node  // at the follower: with whom
	last        int64 // id of the last fetch in it, 0 if there is none
	offset      int64 // at the follower: as said last
	leaderEpoch int64 // as said last
}

// goOn makes a fetch the next one of the follower's session with its leader, or
// the first.
func (b *broker) goOn(r *replica, m *message) {
	s := &r.session
	if s.leader != r.leader {
		*s = fetchSession{}
	}
	m.session = s.last
	if s.last != 0 && s.offset == m.offset && s.leaderEpoch == m.leaderEpoch {
		m.leaderEpoch = none
	}
	*s = fetchSession{r.leader, m.id, m.offset, r.leaderEpoch}
}

// recall fills in what a fetch leaves unsaid. A fetch that is not the next one
// of a session that the leader remembers is refused, and the follower begins anew.
func (b *broker) recall(r *replica, m *message) errorCode {
	s := &r.sessions[m.from]
	switch {
	case m.session == 0:
		*s = fetchSession{}
	case s.last == 0:
		return fetchSessionIDNotFound
	case s.last != m.session:
		return invalidFetchSessionEpoch
	}
	s.last = m.id
	if m.leaderEpoch != none {
		s.leaderEpoch = m.leaderEpoch
	} else if !b.bugs.has(sessionForgetsEpoch) {
		m.leaderEpoch = s.leaderEpoch
	}
	return noError
}
