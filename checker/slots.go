package checker

import (
	"math"
	"math/bits"
	"sync"

	"github.com/isrcheck/isrcheck/histories"
)

// A slotTable is the slots of a log, one an offset, in pieces that never move: a
// table that grows costs no copy and little spare room, a history may have very
// many short ones, and offsets nobody speaks of cost next to nothing.
type slotTable struct {
	pieces []*piece
	from   *pieceMaker
	used   int // pieces that exist
}

const (
	pieceBits = 6
	pieceSize = 1 << pieceBits
)

// A piece is the slots of neighbouring offsets, field by field: most passes over
// a log look at some facts alone, and those of all slots of a piece are one word.
type piece struct {
	held     slots            // whose value is known
	sent     slots            // that a send filled
	seen     slots            // that somebody read
	follows  slots            // of the same batch as the slot before
	boundary slots            // where somebody was told that the log ended
	passed   slots            // where an answer that speaks for the offset has nothing
	before   slots            // before which an answer begins that was asked for from there or before
	suspect  slots            // what is said about them has to be judged by the rules
	index    [pieceSize]int32 // of the send, for naming the first value nobody saw
	call     [pieceSize]int64 // the send took effect no earlier
	deadline [pieceSize]int64 // and no later
	integer  [pieceSize]int64 // the values, unless one of them is a text
	values   *[pieceSize]histories.Value
}

// slots is a set of the slots of a piece.
type slots uint64

// slotRun is n slots from i on, at least one, which are slots of one piece.
func slotRun(i, n int) slots { return ^slots(0) >> (uint(-n) % pieceSize) << (uint(i) % pieceSize) }

func (s slots) has(i int) bool { return s>>(uint(i)%pieceSize)&1 != 0 }

func (s *slots) add(i int) { *s |= 1 << (uint(i) % pieceSize) }

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

// at returns where the slot of an offset below len is.
func (t *slotTable) at(offset int64) (p *piece, i int) {
	p, i = t.pieces[offset>>pieceBits], int(offset&(pieceSize-1))
	if p == nil {
		p = t.make(offset)
	}
	return
}

// made is at for any offset, without a piece where there is none yet.
func (t *slotTable) made(offset int64) (p *piece, i int) {
	if n := uint64(offset) >> pieceBits; n < uint64(len(t.pieces)) {
		p = t.pieces[n]
	}
	return p, int(offset & (pieceSize - 1))
}

//go:noinline // so that at is inlined
func (t *slotTable) make(offset int64) *piece {
	p := t.from.next()
	for i := range pieceSize {
		p.call[i], p.deadline[i] = math.MinInt64, math.MaxInt64
	}
	t.pieces[offset>>pieceBits] = p
	t.used++
	return p
}

// A pieceMaker makes the pieces of all tables of a judgement.
type pieceMaker struct {
	blocks []*pieceBlock
	spare  []piece // of the last one
}

// A pieceBlock is pieces that are made at once.
type pieceBlock [8]piece

// Judgements use the memory of pieces one behind the other.
var pieceBlocks = sync.Pool{New: func() any { return new(pieceBlock) }}

func (m *pieceMaker) next() *piece {
	if len(m.spare) == 0 {
		b := pieceBlocks.Get().(*pieceBlock)
		m.blocks, m.spare = append(m.blocks, b), b[:]
	}
	p := &m.spare[0]
	m.spare = m.spare[1:]
	*p = piece{}
	return p
}

// free lets another judgement use the pieces.
func (m *pieceMaker) free() {
	for _, b := range m.blocks {
		pieceBlocks.Put(b)
	}
	m.blocks, m.spare = nil, nil
}

// grow makes the table at least that long.
func (t *slotTable) grow(length int64) {
	for t.len() < length {
		t.pieces = append(t.pieces, nil)
	}
}

// len is the number of offsets that there is room for.
func (t *slotTable) len() int64 { return int64(len(t.pieces)) << pieceBits }

// fill makes the slots of from <= offset < to, which are below len.
func (t *slotTable) fill(from, to int64) {
	for o := from; o < to; o = (o | (pieceSize - 1)) + 1 {
		t.at(o)
	}
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
	t.where(from, to, func(*piece) slots { return ^slots(0) }, do)
}

// where is each for some of the slots of each piece, as they are once their turn has
// come.
func (t *slotTable) where(from, to int64, some func(*piece) slots, do func(offset int64, p *piece, i int) bool) {
	to = min(to, t.len())
	for o := max(from, 0); o < to; o = (o | (pieceSize - 1)) + 1 {
		p, first := t.pieces[o>>pieceBits], int(o&(pieceSize-1))
		if p == nil {
			continue
		}
		left := slotRun(first, int(min(to-o, int64(pieceSize-first))))
		for set := some(p) & left; set != 0; set = some(p) & left {
			i := bits.TrailingZeros64(uint64(set))
			if left &^= set ^ (set - 1); !do(o-int64(first)+int64(i), p, i) {
				return
			}
		}
	}
}

// Sets of slots to visit.
func held(p *piece) slots      { return p.held }
func unfilled(p *piece) slots  { return ^(p.held | p.sent) }
func suspect(p *piece) slots   { return p.suspect }
func unsent(p *piece) slots    { return p.held &^ p.sent }
func unseenYet(p *piece) slots { return p.sent &^ p.seen }

// down is each from the last slot to the first.
func (t *slotTable) down(do func(offset int64, p *piece, i int)) {
	for n := len(t.pieces) - 1; n >= 0; n-- {
		if p := t.pieces[n]; p != nil {
			for i := pieceSize - 1; i >= 0; i-- {
				do(int64(n)<<pieceBits+int64(i), p, i)
			}
		}
	}
}
