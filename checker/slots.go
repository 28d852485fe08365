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

// A slotTable is the slots of a log, in pieces that never move: a table that
// grows costs no copy and no spare room.
type slotTable struct {
	pieces [][]slot
	len    int64
}

const pieceSize = 1 << 12

// at returns the slot of an offset below len.
func (t *slotTable) at(offset int64) *slot {
	return &t.pieces[offset/pieceSize][offset%pieceSize]
}

// grow makes the table at least that long.
func (t *slotTable) grow(length int64) {
	for t.len < length {
		if t.len == int64(len(t.pieces))*pieceSize {
			piece := make([]slot, pieceSize)
			for i := range piece {
				piece[i].call, piece[i].deadline = math.MinInt64, math.MaxInt64
			}
			t.pieces = append(t.pieces, piece)
		}
		t.len = min(length, int64(len(t.pieces))*pieceSize)
	}
}
