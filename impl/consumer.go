package impl

import "github.com/isrcheck/isrcheck/histories"

// A position is where a consumer reads next, and what it knows of the record
// before: enough to find out that a log was cut below it (KIP-320).
type position struct {
	offset  int64  // none before it was assigned
	epoch   int64  // leader epoch of the last record it was given, none if there is none
	checked int64  // leader epoch in which a leader agreed, none if it has to be asked
	digest  uint64 // of that record: what the consumer has seen, for the judge alone
}

// chosen is a position that somebody chose: nothing is known of the record before.
func chosen(offset int64) position { return position{offset: offset, epoch: none, checked: none} }

// unchecked reports whether a poll has to ask the leader first whether its log
// still has what the consumer was given. Each new leader epoch is a reason; what a
// follower gave it is, too, whatever the leader said before.
func (c *client) unchecked(k *call) bool {
	p := &c.positions[k.request.partition]
	return k.request.kind == histories.Poll && p.epoch != none && p.checked != c.views[k.request.partition].epoch &&
		!c.bugs.has(consumerMissesTruncation)
}

// onEpochEndAnswer hears where the epoch of the last record ended in the leader's
// log (OffsetsForLeaderEpoch, §2.4). If that is below the position, the log was
// cut, and the consumer goes back there, visibly.
func (c *client) onEpochEndAnswer(k *call, m *message) {
	p := &c.positions[m.partition]
	if m.offset >= p.offset {
		p.checked = m.leaderEpoch
		c.attempt(k)
		return
	}
	*p = chosen(max(m.offset, 0))
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
	n := len(m.records)
	if n == 0 {
		return
	}
	first := m.records[0]
	if k.nearby == nobody && p.epoch != none && m.start == 0 && first.digest != chain(p.digest, first) {
		c.ghosts[m.partition].witness(c.env, truncationSeen, "%s is given offset %d by a log that has other records below than it was given", c.name, p.offset)
	}
	p.offset, p.epoch, p.digest = m.offset+int64(n), m.records[n-1].epoch, m.records[n-1].digest
	if k.nearby != nobody {
		p.checked = none
	}
}
