package impl

import "math/bits"

// near is how many ticks ahead events are kept in lists, one for each tick.
const near = 64

// A queue holds events: messages and the ticks at which they are due. Events of
// one tick happen in the order in which they were pushed.
//
// Most events are due within a few ticks. Those hang in lists, which takes no
// comparison; the others are in a heap. Messages stay in their slots while
// events move, and slots are used again once they are released.
type queue struct {
	now    int64 // no event in a list is due before
	heads  [near]int32
	tails  [near]int32
	filled uint64 // lists that are not empty, by tick modulo near
	later  eventHeap
	slots  []slot
	free   []int32
	seq    uint64 // events pushed so far
}

// A slot holds the message of an event.
type slot struct {
	message message
	seq     uint64
	next    int32 // in the list
}

func (q *queue) empty() bool { return q.filled == 0 && len(q.later) == 0 }

// next is the tick of the earliest event; the queue must not be empty.
func (q *queue) next() int64 {
	if len(q.later) > 0 {
		return min(q.soonest(), q.later[0].tick)
	}
	return q.soonest()
}

// soonest is the tick of the earliest event in a list.
func (q *queue) soonest() int64 {
	if q.filled == 0 {
		return forever
	}
	return q.now + int64(bits.TrailingZeros64(bits.RotateLeft64(q.filled, -int(q.now%near))))
}

// push makes a copy of a message due at a tick.
func (q *queue) push(tick int64, m *message) { q.schedule(tick, q.put(m)) }

// schedule makes the message in a slot due at a tick.
func (q *queue) schedule(tick int64, at int32) {
	q.seq++
	q.slots[at].seq = q.seq
	if tick < q.now || tick-q.now >= near {
		q.later.push(event{tick, q.seq, at})
		return
	}
	i := tick % near
	if q.filled&(1<<i) == 0 {
		q.filled |= 1 << i
		q.heads[i] = at
	} else {
		q.slots[q.tails[i]].next = at
	}
	q.tails[i] = at
}

// put copies a message into a slot.
func (q *queue) put(m *message) int32 {
	if n := len(q.free); n > 0 {
		at := q.free[n-1]
		q.free = q.free[:n-1]
		q.slots[at].message = *m
		return at
	}
	q.slots = append(q.slots, slot{message: *m})
	return int32(len(q.slots) - 1)
}

// pop takes the earliest event. It returns its tick and the slot of its message,
// which the caller releases.
func (q *queue) pop() (int64, int32) {
	tick := q.soonest()
	if len(q.later) > 0 {
		if e := q.later[0]; e.tick < tick || e.tick == tick && e.seq < q.slots[q.heads[tick%near]].seq {
			q.now = max(q.now, e.tick)
			q.later.pop()
			return e.tick, e.slot
		}
	}
	q.now = tick
	i := tick % near
	at := q.heads[i]
	if at == q.tails[i] {
		q.filled &^= 1 << i
	}
	q.heads[i] = q.slots[at].next
	return tick, at
}

// message is what is in a slot. It stays as it is, whatever is pushed, until
// the slot is released.
func (q *queue) message(at int32) *message { return &q.slots[at].message }

// release lets a slot be used again.
func (q *queue) release(at int32) { q.free = append(q.free, at) }

// reset empties a queue and keeps its memory.
func (q *queue) reset() { *q = queue{later: q.later[:0], slots: q.slots[:0], free: q.free[:0]} }
