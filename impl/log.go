package impl

// A record is one message in a log. Its offset is its place.
type record struct {
	epoch  int64  // leader epoch in which it was appended
	value  int64  // what the client sent
	base   int64  // offset of the first record of its batch
	stamp  stamp  // of an idempotent producer
	digest uint64 // of this record and every one before it in the same log
}

// A log is one replica's records, offsets 0 to end()-1, and what of them is on
// stable storage (§1.2). Records below the log start are deleted: they are kept
// to tell by its digest what a log holds, and for nothing else.
//
// Slices of records are handed out in fetch responses, so a record is never
// overwritten in place: truncation gives up the capacity behind it.
type log struct {
	records []record
	epochs  epochCache
	flushed int64 // records below survive a power loss
	start   int64 // log start offset: nobody is given a record below
	memory  *arena[record]
}

// end is the log end offset, exclusive.
func (l *log) end() int64 { return int64(len(l.records)) }

// digest identifies the first n records: two logs agree below n exactly if
// both are that long and their digests at n are equal.
func (l *log) digest(n int64) uint64 {
	if n == 0 {
		return 0
	}
	return l.records[n-1].digest
}

// agrees reports whether two logs hold the same below n, as far as neither has
// deleted it.
func (l *log) agrees(m *log, n int64) bool {
	if l.digest(n) == m.digest(n) {
		return true
	}
	for o := max(l.start, m.start); o < n; o++ {
		if a, b := l.records[o], m.records[o]; a.epoch != b.epoch || a.value != b.value {
			return false
		}
	}
	return max(l.start, m.start) > 0
}

// common is how many records two logs begin with that are the same.
func (l *log) common(m *log) int64 {
	n := min(l.end(), m.end())
	for l.digest(n) != m.digest(n) {
		n--
	}
	return n
}

// contains reports whether the log begins with the n records that have that digest.
func (l *log) contains(n int64, digest uint64) bool {
	return l.end() >= n && l.digest(n) == digest
}

// appendBatch appends values as one batch of the epoch and returns its base
// offset. The stamp is that of the first.
func (l *log) appendBatch(epoch int64, values []int64, s stamp) int64 {
	base := l.end()
	for i, v := range values {
		l.append(record{epoch: epoch, value: v, base: base, stamp: s.next(i)})
	}
	return base
}

// append appends one record as it is, whatever log it was copied from.
func (l *log) append(r record) {
	r.digest = chain(l.digest(l.end()), r)
	l.epochs = l.epochs.assign(r.epoch, l.end())
	if len(l.records) == cap(l.records) {
		l.records = l.memory.grown(l.records, roomAtFirst)
	}
	l.records = append(l.records, r)
}

// roomAtFirst is for how many records a log asks for room at least.
const roomAtFirst = 16

// read returns the records in [from, to).
func (l *log) read(from, to int64) []record {
	if from >= to {
		return nil
	}
	return l.records[from:to:to]
}

// truncateTo cuts the log at an offset (§3.8.3). Even where nothing is cut the
// epoch cache loses entries at or behind the end (KAFKA-10706).
func (l *log) truncateTo(offset int64) {
	offset = min(offset, l.end())
	l.records = l.records[:offset:offset]
	l.epochs = l.epochs.truncateFromEnd(offset)
	l.flushed, l.start = min(l.flushed, offset), min(l.start, offset)
}

// deleteTo moves the log start up.
func (l *log) deleteTo(start int64) {
	l.start, l.flushed = start, max(l.flushed, start)
	l.epochs = l.epochs.truncateFromStart(start)
}

// adopt takes over what the leader has deleted. It may be other than what is
// here: where logs differ only below the leader's start, nobody finds out.
func (l *log) adopt(deleted []record) {
	kept := l.records[len(deleted):]
	l.records = deleted
	for _, r := range kept {
		r.digest = chain(l.digest(l.end()), r)
		l.records = append(l.records, r)
	}
}

// chain is the digest of a record behind those that have the other one.
func chain(digest uint64, r record) uint64 {
	return fold(fold(digest+1, uint64(r.epoch)), uint64(r.value))
}

// restartAt drops the whole log and begins an empty one behind records that
// are deleted elsewhere, too (§3.8.4, KAFKA-9491).
func (l *log) restartAt(deleted []record) {
	n := int64(len(deleted))
	*l = log{records: deleted, flushed: n, start: n, memory: l.memory}
}

// lastEpoch is the epoch a fetch declares as that of its last record, or none.
func (l *log) lastEpoch() int64 { return l.epochs.last() }
