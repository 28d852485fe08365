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
	slotPassed               // an answer that speaks for the offset has nothing there
	slotSuspect              // what is said about it has to be judged by the rules
	slotBefore               // an answer that was asked for from there or before begins behind it
)

// A slotTable is the slots of a log, in pieces that never move: a table that
// grows costs no copy and no spare room, a history may have very many short ones,
// and offsets nobody speaks of cost next to nothing.
type slotTable struct {
	pieces []*[pieceSize]slot
	len    int64
	used   int // pieces that exist
}

const pieceSize = 32

// at returns the slot of an offset below len.
func (t *slotTable) at(offset int64) *slot {
	p := t.pieces[offset/pieceSize]
	if p == nil {
		p = t.piece(offset / pieceSize)
	}
	return &p[offset%pieceSize]
}

func (t *slotTable) piece(i int64) *[pieceSize]slot {
	p := new([pieceSize]slot)
	for i := range p {
		p[i].call, p[i].deadline = math.MinInt64, math.MaxInt64
	}
	t.pieces[i] = p
	t.used++
	return p
}

// grow makes the table at least that long.
func (t *slotTable) grow(length int64) {
	if length > t.len {
		t.len = length
		for int64(len(t.pieces))*pieceSize < length {
			t.pieces = append(t.pieces, nil)
		}
	}
}

// each calls do with every slot of from <= offset < to that anything is known
// of, until it returns false.
func (t *slotTable) each(from, to int64, do func(offset int64, s *slot) bool) {
	to = min(to, t.len)
	for o := max(from, 0); o < to; {
		end := min(to, (o/pieceSize+1)*pieceSize)
		p := t.pieces[o/pieceSize]
		if p == nil {
			o = end
			continue
		}
		for ; o < end; o++ {
			if !do(o, &p[o%pieceSize]) {
				return
			}
		}
	}
}

// down is each from the last slot to the first.
func (t *slotTable) down(do func(offset int64, s *slot)) {
	for i := len(t.pieces) - 1; i >= 0; i-- {
		if p := t.pieces[i]; p != nil {
			for j := min(pieceSize, t.len-int64(i)*pieceSize) - 1; j >= 0; j-- {
				do(int64(i)*pieceSize+j, &p[j])
			}
		}
	}
}
