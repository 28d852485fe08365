package impl

import "github.com/isrcheck/isrcheck/histories"

// A position is where a consumer reads next, and what it knows of the records
// before: enough to find out that a log was cut below it (KIP-320).
type position struct {
	offset  int64      // none before it was assigned
	epochs  epochCache // leader epochs of the records it was given, up to the offset
	checked int64      // leader epoch in which a leader agreed, none if it has to be asked
	known   bool       // whether the digest is that of the record before
	digest  uint64     // of the last record it was given, for the judge alone
}

// chosen is a position that somebody chose: nothing is known of the records before.
func chosen(offset int64) position { return position{offset: offset, checked: none} }

// unchecked reports whether a poll has to ask the leader first whether its log
// still has what the consumer was given. Each new leader epoch is a reason; what a
// follower gave it is, too, whatever the leader said before.
func (c *client) unchecked(k *call) bool {
	p := &c.positions[k.request.partition]
	return k.request.kind == histories.Poll && p.epochs.last() != none && p.checked != c.views[k.request.partition].epoch &&
		!c.bugs.has(consumerMissesTruncation)
}

// onEpochEndAnswer hears where the epoch of the last record ended in the leader's
// log (OffsetsForLeaderEpoch, §2.4). If they diverge below the position, the
// consumer goes back there, visibly, and asks again before it reads.
//
// It compares as a follower does (KIP-279). Kafka's compares offsets alone: if the
// leader never had that epoch, and has others up to the position, nobody notices.
func (c *client) onEpochEndAnswer(k *call, m *message) {
	p := &c.positions[m.partition]
	_, cut := p.epochs.divergence(m.lastEpoch, m.offset, p.offset)
	if cut == p.offset {
		p.checked = m.leaderEpoch
		c.attempt(k)
		return
	}
	*p = position{offset: max(cut, 0), epochs: p.epochs.truncateFromEnd(cut), checked: none}
	c.resetPosition(k, logTruncation)
}

// resetPosition ends a poll whose position moved, which the history says: nobody who
// reads on from there was not told.
func (c *client) resetPosition(k *call, code errorCode) {
	c.mark(histories.Mark{Kind: histories.Reset, Process: c.name, On: k.op.On, Offset: c.positions[k.request.partition].offset})
	k.code = code
	c.giveUp(k)
}

// consumed moves the position behind the records that a poll was given.
func (c *client) consumed(k *call, m *message) {
	p := &c.positions[m.partition]
	if len(m.records) == 0 {
		return
	}
	if first := m.records[0]; k.nearby == nobody && p.known && m.start == 0 && first.digest != chain(p.digest, first) {
		c.ghosts[m.partition].witness(c.env, truncationSeen, "%s is given offset %d by a log that has other records below than it was given", c.name, p.offset)
	}
	for _, r := range m.records {
		p.epochs = p.epochs.assign(r.epoch, p.offset)
		p.offset++
		p.digest, p.known = r.digest, true
	}
	if k.nearby != nobody {
		p.checked = none
	}
}
