package checker

import (
	"encoding/binary"
	"math"

	"github.com/isrcheck/isrcheck/histories"
)

// A slotTable is the slots of a log, one an offset, in pieces that never move: a
// table that grows costs no copy and little spare room, a history may have very
// many short ones, and offsets nobody speaks of cost next to nothing.
type slotTable struct {
	pieces []*piece
	spare  []piece // made together with the last one
	len    int64
	used   int // pieces that exist
}

const (
	pieceBits = 5
	pieceSize = 1 << pieceBits
)

// A piece is the slots of neighbouring offsets, field by field: most passes over
// a log look at the flags alone, and few change anything.
type piece struct {
	flags    [pieceSize]uint8
	index    [pieceSize]int32 // of the send, for naming the first value nobody saw
	call     [pieceSize]int64 // the send took effect no earlier
	deadline [pieceSize]int64 // and no later
	integer  [pieceSize]int64 // the values, unless one of them is a text
	values   *[pieceSize]histories.Value
}

// value returns the value of a slot that holds one.
func (p *piece) value(i int) histories.Value {
	if p.values != nil {
		return p.values[i]
	}
	return histories.Int(p.integer[i])
}

// is reports whether a slot that holds a value holds this one.
func (p *piece) is(i int, v histories.Value) bool {
	n, ok := v.Integer()
	return p.values == nil && ok && p.integer[i] == n || p.values != nil && p.values[i] == v
}

// set gives a slot a value.
func (p *piece) set(i int, v histories.Value) {
	n, ok := v.Integer()
	if ok && p.values == nil {
		p.integer[i] = n
		return
	}
	p.setAny(i, v)
}

//go:noinline // so that set is inlined
func (p *piece) setAny(i int, v histories.Value) {
	if p.values == nil {
		p.values = new([pieceSize]histories.Value)
		for i, n := range p.integer {
			p.values[i] = histories.Int(n)
		}
	}
	p.values[i] = v
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

// at returns where the slot of an offset below len is.
func (t *slotTable) at(offset int64) (p *piece, i int) {
	p, i = t.pieces[offset>>pieceBits], int(offset&(pieceSize-1))
	if p == nil {
		p = t.make(offset)
	}
	return
}

// mostSpare is how many pieces are made at once in a long table.
const mostSpare = 256

//go:noinline // so that at is inlined
func (t *slotTable) make(offset int64) *piece {
	if len(t.spare) == 0 {
		t.spare = make([]piece, min(1+t.used/16, mostSpare))
		for i := range t.spare {
			t.spare[i].clear()
		}
	}
	p := &t.spare[0]
	t.spare = t.spare[1:]
	t.pieces[offset>>pieceBits] = p
	t.used++
	return p
}

func (p *piece) clear() {
	for i := range pieceSize {
		p.call[i], p.deadline[i] = math.MinInt64, math.MaxInt64
	}
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

// fill makes the slots of from <= offset < to, which are below len.
func (t *slotTable) fill(from, to int64) {
	for o := from; o < to; o = (o | (pieceSize - 1)) + 1 {
		t.at(o)
	}
}

// flag sets flags of a slot.
func (t *slotTable) flag(offset int64, flags uint8) {
	p, i := t.at(offset)
	p.flags[i] |= flags
}

// notBefore bounds the instant at which a slot's send took effect from below.
func (t *slotTable) notBefore(offset, call int64) {
	p, i := t.at(offset)
	p.call[i] = max(p.call[i], call)
}

// notAfter bounds it from above.
func (t *slotTable) notAfter(offset, deadline int64) {
	p, i := t.at(offset)
	p.deadline[i] = min(p.deadline[i], deadline)
}

// each calls do with every slot of from <= offset < to that anything is known
// of, until it returns false.
func (t *slotTable) each(from, to int64, do func(offset int64, p *piece, i int) bool) {
	t.where(from, to, 0, 0, do)
}

// where is each for the slots whose flags are the wanted ones under a mask.
func (t *slotTable) where(from, to int64, mask, want uint8, do func(offset int64, p *piece, i int) bool) {
	to = min(to, t.len)
	for o := max(from, 0); o < to; {
		first := int(o % pieceSize)
		n := int(min(to-o, int64(pieceSize-first)))
		p := t.pieces[o/pieceSize]
		if p == nil {
			o += int64(n)
			continue
		}
		for i := first; i < first+n; i++ {
			if i%8 == 0 && i+8 <= first+n && p.without(i, mask, want) {
				i += 7
				continue
			}
			if p.flags[i]&mask == want && !do(o+int64(i-first), p, i) {
				return
			}
		}
		o += int64(n)
	}
}

// ones is a byte of 1 eight times.
const ones = 0x0101010101010101

// without reports whether none of the eight slots from i on has flags that are the
// wanted ones under a mask.
func (p *piece) without(i int, mask, want uint8) bool {
	// A byte of x is 0 where they are. Subtracting ones borrows into the highest bit
	// of a byte that is 0, or of one behind such a byte.
	x := (binary.LittleEndian.Uint64(p.flags[i:]) ^ uint64(want)*ones) & (uint64(mask) * ones)
	return (x-ones)&^x&(ones<<7) == 0
}

// union returns the flags that any slot has.
func (t *slotTable) union() uint8 {
	var all uint64
	for _, p := range t.pieces {
		for i := 0; p != nil && i < pieceSize; i += 8 {
			all |= binary.LittleEndian.Uint64(p.flags[i:])
		}
	}
	for bits := 32; bits >= 8; bits /= 2 {
		all |= all >> bits
	}
	return uint8(all)
}

// down is each from the last slot to the first.
func (t *slotTable) down(do func(offset int64, p *piece, i int)) {
	for n := int64(len(t.pieces)) - 1; n >= 0; n-- {
		if p := t.pieces[n]; p != nil {
			for i := int(min(pieceSize, t.len-n*pieceSize)) - 1; i >= 0; i-- {
				do(n*pieceSize+int64(i), p, i)
			}
		}
	}
}
