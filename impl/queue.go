package impl

// An event is a message and the tick at which it is due. Events of one tick
// happen in the order in which they were pushed.
type event struct {
	tick int64
	seq  uint64
	slot int32 // of the message
}

func (e event) before(f event) bool {
	return e.tick < f.tick || e.tick == f.tick && e.seq < f.seq
}

// A queue is a binary heap of events. Messages stay in their slots while
// events move, and slots are used again once they are released.
type queue struct {
	heap  []event
	slots []message
	free  []int32
	seq   uint64
}

func (q *queue) empty() bool { return len(q.heap) == 0 }

// next is the tick of the earliest event; the queue must not be empty.
func (q *queue) next() int64 { return q.heap[0].tick }

func (q *queue) push(tick int64, m *message) {
	var slot int32
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
		q.slots[slot] = *m
	} else {
		slot = int32(len(q.slots))
		q.slots = append(q.slots, *m)
	}
	q.seq++
	e := event{tick, q.seq, slot}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// message is what is in a slot. It stays as it is, whatever is pushed, until
// the slot is released.
func (q *queue) message(slot int32) *message { return &q.slots[slot] }

// release lets a slot be used again.
func (q *queue) release(slot int32) { q.free = append(q.free, slot) }

// reset empties a queue and keeps its memory.
func (q *queue) reset() { q.heap, q.slots, q.free, q.seq = q.heap[:0], q.slots[:0], q.free[:0], 0 }

// pop takes the earliest event and returns the slot of its message, which the
// caller releases.
func (q *queue) pop() int32 {
	slot := q.heap[0].slot
	n := len(q.heap) - 1
	e := q.heap[n]
	q.heap = q.heap[:n]
	if n == 0 {
		return slot
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		if !q.heap[child].before(e) {
			break
		}
		q.heap[i] = q.heap[child]
		i = child
	}
	q.heap[i] = e
	return slot
}
