package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A Loss is a run of records that one producer was told are safe, or that
// somebody read, and that are gone: where among its records of the partition
// they are tells causes apart. What was cut off at the end of a log are the
// last ones; a log that began anew lacks the first ones.
type Loss struct {
	Partition, Producer string
	Part                string // of the producer's records that were there: "all", "first", "middle" or "last"
	Lost, Of            int    // how many, of how many
	First, Last         histories.Value
}

// losses groups the lost records of a partition by their producers. Its work
// is in proportion to the records sent.
func (p *partition) losses() []Loss {
	runs := map[string]*run{}
	var producers []string
	for _, s := range p.sends {
		r := runs[s.op.Process]
		if r == nil {
			r = &run{others: p.section.others(s.op.Process), first: s.op.Index}
			runs[s.op.Process] = r
			producers = append(producers, s.op.Process)
		}
		r.skip(int32(s.op.Index))
		for i, v := range s.op.Values {
			if there, gone := p.fateOf(s, int64(i)); there {
				r.add(v, gone)
			}
		}
	}
	for _, r := range runs {
		r.skip(math.MaxInt32)
	}
	slices.SortStableFunc(producers, func(a, b string) int { return cmp.Compare(runs[a].first, runs[b].first) })
	var out []Loss
	for _, producer := range producers {
		for _, l := range runs[producer].lost {
			l.Partition, l.Producer, l.Of = p.name, producer, runs[producer].n
			l.Part = l.part()
			out = append(out, l.Loss)
		}
	}
	return out
}

// fateOf reports whether the i-th record of a batch certainly was in the log,
// and whether it is gone: from the log, not only from its place.
func (p *partition) fateOf(s *send, i int64) (there, gone bool) {
	if s.base == histories.None {
		gone = p.lostUnplaced(s) != nil
		return gone, gone
	}
	x := p.at[place{s.base + i, s.op.Values[i]}]
	if x.gone == nil {
		return true, false
	}
	a := p.absent(x)
	if there = x.acked() || !a.taken(); there {
		gone = a.moved() == nil
	}
	return there, gone
}

// A run follows the records of one producer in the order of sending.
type run struct {
	n      int // records so far
	lost   []stretch
	others []other // that are not in the section, from here on
	first  int     // index of the first send
}

// skip counts the records outside the section that were sent before an operation.
func (r *run) skip(before int32) {
	for ; len(r.others) > 0 && r.others[0].index < before; r.others = r.others[1:] {
		r.first = min(r.first, int(r.others[0].index))
		r.n += int(r.others[0].records)
	}
}

// A stretch is a loss with its place among the producer's records.
type stretch struct {
	Loss
	at int
}

func (r *run) add(v histories.Value, gone bool) {
	switch n := len(r.lost); {
	case !gone:
	case n > 0 && r.lost[n-1].at+r.lost[n-1].Lost == r.n:
		r.lost[n-1].Lost++
		r.lost[n-1].Last = v
	default:
		r.lost = append(r.lost, stretch{Loss{Lost: 1, First: v, Last: v}, r.n})
	}
	r.n++
}

func (s *stretch) part() string {
	first, last := s.at == 0, s.at+s.Lost == s.Of
	switch {
	case first && last:
		return "all"
	case first:
		return "first"
	case last:
		return "last"
	}
	return "middle"
}
