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
	heads  [near]*slot
	tails  [near]*slot
	filled uint64 // lists that are not empty, by tick modulo near
	later  eventHeap
	slots  []*slot // all there are
	free   []*slot
	seq    uint64 // events pushed so far
}

// A slot holds the message of an event.
type slot struct {
	message
	seq  uint64
	next *slot // in the list
}

// next is the tick of the earliest event, or forever.
func (q *queue) next() int64 {
	if len(q.later) > 0 {
		return min(q.soonest(), q.later[0].tick)
	}
	return q.soonest()
}

// soonest is the tick of the earliest event in a list, or forever.
func (q *queue) soonest() int64 {
	if q.filled == 0 {
		return forever
	}
	return q.now + int64(bits.TrailingZeros64(bits.RotateLeft64(q.filled, -int(q.now%near))))
}

// push makes a copy of a message due at a tick.
func (q *queue) push(tick int64, m *message) { q.schedule(tick, q.put(m)) }

// schedule makes the message in a slot due at a tick.
func (q *queue) schedule(tick int64, s *slot) {
	q.seq++
	s.seq = q.seq
	if tick < q.now || tick-q.now >= near {
		q.later.push(event{tick, q.seq, s})
		return
	}
	i := tick % near
	if q.filled&(1<<i) == 0 {
		q.filled |= 1 << i
		q.heads[i] = s
	} else {
		q.tails[i].next = s
	}
	q.tails[i] = s
}

// pop takes the earliest event, which is due at that tick. The caller releases
// the slot.
func (q *queue) pop(tick int64) *slot {
	i := tick % near
	if len(q.later) > 0 && q.later[0].tick == tick {
		if s := q.later[0].slot; q.soonest() != tick || s.seq < q.heads[i].seq {
			q.now = max(q.now, tick)
			q.later.pop()
			return s
		}
	}
	q.now = tick
	s := q.heads[i]
	if s == q.tails[i] {
		q.filled &^= 1 << i
	}
	q.heads[i] = s.next
	return s
}

// take returns a slot that is free, with whatever was in it.
func (q *queue) take() *slot {
	if n := len(q.free); n > 0 {
		s := q.free[n-1]
		q.free = q.free[:n-1]
		return s
	}
	s := new(slot)
	q.slots = append(q.slots, s)
	return s
}

// put copies a message into a slot.
func (q *queue) put(m *message) *slot {
	s := q.take()
	s.message = *m
	return s
}

// release lets a slot be used again.
func (q *queue) release(s *slot) { q.free = append(q.free, s) }

// reset empties a queue and keeps its memory.
func (q *queue) reset() {
	*q = queue{later: q.later[:0], slots: q.slots, free: append(q.free[:0], q.slots...)}
}
