package importers

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/isrcheck/isrcheck/histories"
)

// A read of S2 tells where the stream ends and the hash of all that is in it:
// that of nothing is 0, and each record is folded in as
// xxh3_64(its own hash in 8 little-endian bytes, seed = the hash before it). So
// a hash says which records there are, in which order, for those who can name a
// candidate.

// A content is what a read turned out to hold.
type content struct {
	known   bool // some order of the appends has that hash
	untold  bool // or may have: there were too many to try all
	from    int64
	records []histories.Record // from there to the end: what no read before held
}

// A prefix is a stream as it may have been at some time.
type prefix struct {
	tail   int64
	hash   uint64
	by     *s2Op   // the append that ends there
	before *prefix // without it
	spent  *spent  // the appends in it that were told no place
	shown  bool    // a read held it
}

// A spent is an append that is not there to be tried again.
type spent struct {
	op     *s2Op
	before *spent
}

// explainReads returns what the reads held.
func explainReads(all []*s2Op) map[*s2Op]content {
	var reads []*s2Op
	for _, o := range byReturn(all) {
		if o.kind == histories.Fetch && o.outcome == histories.OK {
			reads = append(reads, o)
		}
	}
	longer := slices.Clone(reads)
	slices.SortStableFunc(longer, func(a, b *s2Op) int { return cmp.Compare(a.tail, b.tail) })
	s, held, none := newStreams(all), map[*s2Op]*prefix{}, map[*s2Op]bool{}
	for _, o := range longer {
		held[o], none[o] = s.explain(o)
	}
	out := map[*s2Op]content{}
	for _, o := range reads {
		switch {
		case held[o] != nil:
			out[o] = held[o].show()
		case none[o]:
			out[o] = content{from: max(o.tail-1, 0)}
		default:
			out[o] = content{from: o.tail, untold: true}
		}
	}
	return out
}

func (p *prefix) with(o *s2Op, spent *spent) *prefix {
	q := &prefix{tail: p.tail + o.records(), hash: p.hash, by: o, before: p, spent: spent}
	for _, h := range o.asked.RecordHashes {
		q.hash = chain(q.hash, h)
	}
	return q
}

// chain folds a record into the hash of what is before it.
func chain(stream, record uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], record)
	return xxh3.HashSeed(b[:], stream)
}

// show returns the records that no read before held. Each is told once, so that
// many long reads do not make a history that is longer than their product.
func (p *prefix) show() content {
	var path []*prefix
	for ; !p.shown; p = p.before {
		p.shown = true
		path = append(path, p)
	}
	c := content{known: true, from: p.tail}
	for _, q := range slices.Backward(path) {
		for i, h := range q.by.asked.RecordHashes {
			c.records = append(c.records, histories.Record{Offset: q.before.tail + int64(i), Value: s2Value(h)})
		}
	}
	return c
}
