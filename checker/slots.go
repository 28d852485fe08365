package checker

import (
	"math"

	"github.com/isrcheck/isrcheck/histories"
)

// A slot is one offset of the log.
type slot struct {
	value    histories.Value
	call     int64 // its send took effect no earlier
	deadline int64 // and no later
	index    int32 // of the send, for naming the first value nobody saw
	flags    uint8
}

const (
	slotHeld     = 1 << iota // a value is known
	slotSent                 // a send put it there
	slotSeen                 // somebody read it
	slotFollows              // of the same batch as the slot before
	slotBoundary             // somebody was told that the log ended here
)

// A slotTable is the slots of a log, in pieces: a long table grows without a
// copy and without spare room, and a short one, of which a history may have very
// many, has but half a piece to spare.
type slotTable struct {
	pieces [][]slot // all but the last have pieceSize
	len    int64
}

const pieceSize = 1 << 12

// at returns the slot of an offset below len, valid until the table grows.
func (t *slotTable) at(offset int64) *slot {
	return &t.pieces[offset/pieceSize][offset%pieceSize]
}

// grow makes the table at least that long.
func (t *slotTable) grow(length int64) {
	for t.len < length {
		if t.len%pieceSize == 0 {
			t.pieces = append(t.pieces, nil)
		}
		last := &t.pieces[len(t.pieces)-1]
		old := int64(len(*last))
		size := min(length-t.len+old, pieceSize)
		if size > int64(cap(*last)) {
			grown := make([]slot, old, min(max(size, 2*old), pieceSize))
			copy(grown, *last)
			*last = grown
		}
		*last = (*last)[:size]
		for i := old; i < size; i++ {
			(*last)[i].call, (*last)[i].deadline = math.MinInt64, math.MaxInt64
		}
		t.len += size - old
	}
}
