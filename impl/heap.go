package impl

// An event is due at a tick; of those of one tick, the one pushed first is.
type event struct {
	tick int64
	seq  uint64
	slot *slot
}

func (e event) before(f event) bool {
	return e.tick < f.tick || e.tick == f.tick && e.seq < f.seq
}

// An eventHeap is a binary heap of events, the earliest at the top.
type eventHeap []event

func (h *eventHeap) push(e event) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = e
}

// pop drops the earliest event.
func (h *eventHeap) pop() {
	n := len(*h) - 1
	e := (*h)[n]
	s := (*h)[:n]
	*h = s
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(e) {
			break
		}
		s[i] = s[child]
		i = child
	}
	if n > 0 {
		s[i] = e
	}
}
