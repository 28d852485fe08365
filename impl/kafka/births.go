package kafka

import (
	"slices"
	"sync"
)

// births are the topics of the recording's name, by the ids that brokers tell. A
// topic that was made anew is another log, and so has a number of its own: the one
// that the recording began with is number 1. It is safe for concurrent use.
type births struct {
	mu  sync.Mutex
	ids [][16]byte
}

// number returns the number of the topic with that id.
func (b *births) number(id [16]byte) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.ids, id); i >= 0 {
		return i + 1
	}
	b.ids = append(b.ids, id)
	return len(b.ids)
}

// former returns the ids of all but the last one.
func (b *births) former() [][16]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ids[:max(0, len(b.ids)-1)])
}
