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
// candidate. Acknowledged appends are where they say; of those of unknown
// outcome all that fit are tried.

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
	spent  *spent  // the appends of unknown outcome that are in it
	shown  bool    // a read held it
}

// A spent is an append that is not there to be tried again.
type spent struct {
	op     *s2Op
	before *spent
}

func (s *spent) has(o *s2Op) bool {
	for ; s != nil; s = s.before {
		if s.op == o {
			return true
		}
	}
	return false
}

type ending struct {
	tail int64
	hash uint64
}

// A search finds the streams that the appends may have made.
type search struct {
	acked map[int64][]*s2Op // by where they landed
	bases []int64           // the same places, in order
	found map[ending]*prefix
	tried int
	all   bool // none was left out
}

// held returns what a read held, nil if that was not found.
func (s *search) held(o *s2Op) *prefix { return s.found[ending{o.tail, o.hash}] }

// mostPrefixes bounds a search beside one prefix an append.
const mostPrefixes = 1 << 16

// explainReads returns what the reads held.
func explainReads(all []*s2Op) map[*s2Op]content {
	var acked, unknown, refused, reads []*s2Op
	for _, o := range byReturn(all) {
		switch {
		case o.kind == histories.Fetch && o.outcome == histories.OK:
			reads = append(reads, o)
		case o.kind != histories.Send || len(o.asked.RecordHashes) == 0:
		case o.outcome == histories.OK:
			acked = append(acked, o)
		case o.outcome == histories.Fail:
			refused = append(refused, o)
		default:
			unknown = append(unknown, o)
		}
	}
	found := explore(acked, unknown)
	complete := found
	if slices.ContainsFunc(reads, func(o *s2Op) bool { return found.held(o) == nil }) {
		complete = explore(acked, append(unknown, refused...)) // what was refused may be there all the same
	}
	out := map[*s2Op]content{}
	for _, o := range reads {
		p := cmp.Or(found.held(o), complete.held(o))
		switch {
		case p != nil:
			out[o] = p.show()
		case complete.all:
			out[o] = content{from: max(o.tail-1, 0)}
		default:
			out[o] = content{from: o.tail, untold: true}
		}
	}
	return out
}

// explore goes through all streams that acknowledged appends and some of those
// that may have taken effect can make.
func explore(acked, others []*s2Op) *search {
	s := &search{acked: map[int64][]*s2Op{}, all: true}
	for _, o := range acked {
		if s.acked[o.base()] == nil {
			s.bases = append(s.bases, o.base())
		}
		s.acked[o.base()] = append(s.acked[o.base()], o)
	}
	slices.Sort(s.bases)
	empty := &prefix{shown: true}
	s.found = map[ending]*prefix{{}: empty}
	for todo := []*prefix{empty}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, q := range s.longer(p, others) {
			if s.tried++; s.tried > len(acked)+mostPrefixes {
				s.all = false
				return s
			}
			if at := (ending{q.tail, q.hash}); s.found[at] == nil {
				s.found[at] = q
				todo = append(todo, q)
			}
		}
	}
	return s
}

// longer returns the streams that one more append can make of one. Where
// somebody was told to have landed, nobody else did.
func (s *search) longer(p *prefix, others []*s2Op) []*prefix {
	var out []*prefix
	for _, o := range s.acked[p.tail] {
		out = append(out, p.with(o, p.spent))
	}
	if len(out) > 0 {
		return out
	}
	next, _ := slices.BinarySearch(s.bases, p.tail)
	for _, o := range others {
		end := p.tail + int64(len(o.asked.RecordHashes))
		if next < len(s.bases) && end > s.bases[next] || o.asked.MatchSeqNum != nil && *o.asked.MatchSeqNum != p.tail || p.spent.has(o) {
			continue
		}
		out = append(out, p.with(o, &spent{o, p.spent}))
	}
	return out
}

func (p *prefix) with(o *s2Op, spent *spent) *prefix {
	q := &prefix{tail: p.tail + int64(len(o.asked.RecordHashes)), hash: p.hash, by: o, before: p, spent: spent}
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
