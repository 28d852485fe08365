package impl

// A delayedDelete waits at the leader until every replica that may lead after
// it begins where it was told to.
type delayedDelete struct {
	request message
	start   int64
}

// onDelete moves the log start of a partition (DeleteRecords, KIP-107). Nothing
// that is not committed can be deleted (§3.9: the start is never above the high
// watermark).
func (b *broker) onDelete(r *replica, m *message) {
	if err := b.leaderError(r, m.leaderEpoch); err != noError {
		b.refuse(m, deleteResponse, err)
		return
	}
	deletable := r.hw
	if b.bugs.has(logStartAboveWatermark) {
		deletable = r.log.end()
	}
	if m.offset > deletable {
		b.refuse(m, deleteResponse, offsetOutOfRange)
		return
	}
	b.deleteTo(r, m.offset)
	r.deletes = append(r.deletes, delayedDelete{*m, m.offset})
	b.releaseFetches(r)
	b.completeDeletes(r)
}

// deleteTo moves a replica's log start up, or leaves it where it is.
func (b *broker) deleteTo(r *replica, start int64) {
	if start <= r.log.start {
		return
	}
	b.sayOf(r, "log start %d -> %d", r.log.start, start)
	r.log.deleteTo(start)
	b.dirty |= logsChanged
}

// completeDeletes answers the requests that every member of the maximal ISR has
// followed, by what they said with their last fetch.
func (b *broker) completeDeletes(r *replica) {
	waiting := r.deletes[:0]
	for i := range r.deletes {
		d := &r.deletes[i]
		if b.begins(r) < d.start {
			waiting = append(waiting, *d)
			continue
		}
		b.reply(&d.request, deleteResponse).start = r.log.start
	}
	r.deletes = waiting
}

// begins is the lowest log start in the maximal ISR.
func (b *broker) begins(r *replica) int64 {
	start := r.log.start
	for f := range b.maximalISR(r).without(setOf(b.id)).each() {
		start = min(start, r.progress[f].start)
	}
	return start
}

// failDeletes answers every waiting request: this broker leads no longer.
func (b *broker) failDeletes(r *replica) {
	for i := range r.deletes {
		b.refuse(&r.deletes[i].request, deleteResponse, notLeaderOrFollower)
	}
	r.deletes = r.deletes[:0]
}
