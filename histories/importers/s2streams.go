package importers

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// streams finds which of the streams that the appends can have made has the hash
// that a read told. Acknowledged appends are where they say. The places between
// them are of appends of unknown outcome, of which all that fit are tried, but none
// behind the tail that the read told. What was refused is in no stream.
//
// Reads are explained by increasing tails. One that was explained fixes the
// contents up to its tail, for there are no two contents of one hash: a longer read
// holds the same, or one of the two is wrong. So it is enough to try what may be
// behind them.
type streams struct {
	acked   map[int64][]*s2Op // by where they landed
	bases   []int64           // the same places, in order
	unknown []*s2Op           // in order of their calls
	refused []*s2Op
	twin    map[*s2Op]*s2Op // the one before of unknown outcome that asks for the same
	blurred bool            // a record may be of several appends of unknown outcome that are no twins
	known   []*prefix       // what reads held, the one that was useful last first
	tries   int             // that are left
	looks   int             // for appends that a stream may go on with
}

// Bounds of a search.
const (
	mostTries   = 1 << 18 // of one read, beside one an acknowledged append
	allTries    = 1 << 22 // of all, so that hostile recordings end in seconds
	mostStreams = 4       // that contradict each other and are gone on from
)

func newStreams(all []*s2Op) *streams {
	s := &streams{acked: map[int64][]*s2Op{}, twin: map[*s2Op]*s2Op{}, tries: allTries}
	for _, o := range all {
		switch {
		case o.kind != histories.Send || len(o.asked.RecordHashes) == 0:
		case o.outcome == histories.OK:
			if s.acked[o.base()] == nil {
				s.bases = append(s.bases, o.base())
			}
			s.acked[o.base()] = append(s.acked[o.base()], o)
			s.tries++
		case o.outcome == histories.Fail:
			s.refused = append(s.refused, o)
		default:
			s.unknown = append(s.unknown, o)
		}
	}
	slices.Sort(s.bases)
	s.findTwins()
	return s
}

// findTwins finds the appends of unknown outcome that differ in nothing but when
// they were called. It makes no difference which of two is tried, but that the one
// that was called first may be in more streams.
func (s *streams) findTwins() {
	last, writer := map[string]*s2Op{}, map[uint64]string{}
	for _, o := range s.unknown {
		asked := fmt.Sprint(o.asked.RecordHashes, o.asked.MatchSeqNum != nil)
		if o.asked.MatchSeqNum != nil {
			asked = fmt.Sprint(asked, *o.asked.MatchSeqNum)
		}
		s.twin[o], last[asked] = last[asked], o
		for _, h := range o.asked.RecordHashes {
			if by, ok := writer[h]; ok && by != asked {
				s.blurred = true
			}
			writer[h] = asked
		}
	}
}

// explain returns what a read held, or nil and whether it is certain that no
// appends make it.
func (s *streams) explain(read *s2Op) (held *prefix, none bool) {
	late := slices.IndexFunc(s.unknown, func(o *s2Op) bool { return o.call > read.returned })
	if late < 0 {
		late = len(s.unknown)
	}
	for i, p := range s.known {
		q, all := s.extend(p, read, s.unknown[:late])
		if q != nil {
			s.known = slices.Insert(slices.Delete(s.known, i, i+1), 0, q)
			return q, false
		}
		none = none || all && !s.blurred
	}
	empty := &prefix{shown: true}
	q, all := s.extend(empty, read, s.unknown[:late])
	if none = none || all; q == nil { // what should not be there may be there all the same
		q, _ = s.extend(empty, read, slices.Concat(s.unknown, s.refused))
	}
	if q == nil {
		return nil, none
	}
	s.known = slices.Insert(s.known, 0, q)
	s.known = s.known[:min(len(s.known), mostStreams)]
	return q, false
}

// A candidate is an append that may be anywhere.
type candidate struct {
	*s2Op
	twin *s2Op // the candidate that has to be taken before, nil if there is none
}

// candidates are those of the appends that a stream does not hold already.
func (s *streams) candidates(of *prefix, appends []*s2Op) []candidate {
	out, free := make([]candidate, 0, len(appends)), map[*s2Op]bool{}
	spent := map[*s2Op]bool{}
	for p := of.spent; p != nil; p = p.before {
		spent[p.op] = true
	}
	for _, o := range appends {
		if free[o] = !spent[o]; free[o] {
			c := candidate{s2Op: o}
			if twin := s.twin[o]; free[twin] {
				c.twin = twin
			}
			out = append(out, c)
		}
	}
	return out
}

// extend searches for what a read held among all that begins with a stream. If it
// is not there, it says whether all was tried.
func (s *streams) extend(from *prefix, read *s2Op, appends []*s2Op) (held *prefix, all bool) {
	others := s.candidates(from, appends)
	enough := s.tries - mostTries - len(s.bases)
	for todo := []*prefix{from}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.tail == read.tail && p.hash == read.hash {
			return p, true
		}
		if s.tries <= max(enough, 0) {
			return nil, false
		}
		if p.tail < read.tail {
			todo = s.longer(todo, p, from.spent, read.tail, others)
		}
	}
	return nil, true
}

// longer adds the streams that one more append can make of one, up to a tail.
// Where somebody was told to have landed, nobody else did.
func (s *streams) longer(to []*prefix, p *prefix, since *spent, tail int64, others []candidate) []*prefix {
	next, there := slices.BinarySearch(s.bases, p.tail)
	if there {
		for _, o := range s.acked[p.tail] {
			if s.tries--; o.tail <= tail {
				to = append(to, p.with(o, p.spent))
			}
		}
		return to
	}
	if next < len(s.bases) {
		tail = min(tail, s.bases[next])
	}
	s.looks++
	for q := p.spent; q != since; q = q.before {
		q.op.look = s.looks
	}
	for _, o := range others {
		if match := o.asked.MatchSeqNum; match != nil && *match != p.tail || p.tail+o.records() > tail || o.look == s.looks ||
			o.twin != nil && o.twin.look != s.looks {
			continue
		}
		s.tries--
		to = append(to, p.with(o.s2Op, &spent{o.s2Op, p.spent}))
	}
	return to
}
