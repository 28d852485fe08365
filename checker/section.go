package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A section is the offsets of a partition that the quick judge suspects. The
// rules and the engines look at them alone, through the operations that say
// something about them; why they find there what they would find in the whole
// history is argued in docs/exactness.md.
type section struct {
	offsets   []int64 // sorted
	start     int64   // the highest log start told
	startTold bool
	lastTold  int64
	tellers   tellers
	keys      *keys
	sends     map[string][]other      // those of each producer that are not about these offsets
	sent      map[histories.Value]int // how often the values of unknown outcome that were read were sent
}

// certain finds the sends of unknown outcome that certainly are in the log: a
// value was read that no other send can have put there.
func (s *section) certain(floats []float) map[int32]bool {
	certain := map[int32]bool{}
	for i := range floats {
		f := &floats[i]
		certain[f.index] = slices.ContainsFunc(f.read, func(v histories.Value) bool { return s.sent[v] == 1 })
	}
	return certain
}

// An other is a send outside a section.
type other struct {
	index   int32
	records int32 // of it that are in the log
	float   bool  // if it took effect
}

// settle keeps the records that certainly are in the log.
func (s *section) settle(floats []float) {
	certain := s.certain(floats)
	for _, sends := range s.sends {
		for i := range sends {
			if o := &sends[i]; o.float && !certain[o.index] {
				o.records = 0
			}
		}
	}
}

// others returns a producer's sends outside the section in their order.
func (s *section) others(producer string) []other {
	if s == nil {
		return nil
	}
	slices.SortFunc(s.sends[producer], func(a, b other) int { return cmp.Compare(a.index, b.index) })
	return s.sends[producer]
}

func (l *quickLog) section() *section {
	s := &section{start: l.start, startTold: l.startTold, lastTold: l.lastTold, keys: l.keys, sends: map[string][]other{}, sent: map[histories.Value]int{}}
	for i := range l.floats {
		for _, v := range l.floats[i].read {
			s.sent[v] = 0
		}
	}
	l.slots.where(0, l.slots.len(), suspect, func(o int64, _ *piece, _ int) bool {
		s.offsets = append(s.offsets, o)
		return true
	})
	return s
}

// before returns how many offsets of the section are below one.
func (s *section) before(offset int64) int64 {
	return int64(sort.Search(len(s.offsets), func(i int) bool { return s.offsets[i] >= offset }))
}

func (s *section) holds(offset int64) bool {
	_, ok := slices.BinarySearch(s.offsets, offset)
	return ok
}

// records returns those in the section.
func (s *section) records(records []histories.Record) []histories.Record {
	if s == nil {
		return records
	}
	var in []histories.Record
	for _, r := range records {
		if s.holds(r.Offset) {
			in = append(in, r)
		}
	}
	return in
}

// closed returns the number of an offset where the section has no room between its
// offsets. Below the log start there is room everywhere.
func (s *section) closed(offset int64) int64 {
	if offset <= s.start {
		return offset
	}
	return s.start + s.before(offset) - s.before(s.start)
}

// opened returns the offset of a number, and false for one behind the section.
func (s *section) opened(number int64) (int64, bool) {
	if number < s.start {
		return number, true
	}
	i := number - s.start + s.before(s.start)
	if i >= int64(len(s.offsets)) {
		return number, false
	}
	return s.offsets[i], true
}

// close numbers the offsets of the section without room between them. Where
// every offset holds a record, those outside would be missed.
func (s *section) close(ops []model.Op) []model.Op {
	closed := make([]model.Op, 0, len(ops))
	for _, op := range ops {
		if op.Offset != histories.None && !s.holds(op.Offset) {
			continue // nobody can have observed it
		}
		records, empty := op.Records, op.Empty
		op.Records, op.Empty = nil, nil
		for _, r := range records {
			op.Records = append(op.Records, histories.Record{Offset: s.closed(r.Offset), Value: r.Value})
		}
		for _, hole := range empty {
			if hole = (model.Span{From: s.closed(hole.From), To: s.closed(hole.To)}); hole.From < hole.To {
				op.Empty = append(op.Empty, hole)
			}
		}
		for _, offset := range []*int64{&op.Offset, &op.First, &op.Low, &op.Exact, &op.Beyond} {
			*offset = s.closed(*offset)
		}
		closed = append(closed, op)
	}
	return closed
}

// open gives a conflict the offset and the operations it has in the log.
func (s *section) open(c *conflict, ops []model.Op) {
	if c.cause == tooLate && c.offset > 0 {
		last, _ := s.opened(c.offset - 1)
		c.offset = last + 1
	} else if offset, ok := s.opened(c.offset); ok {
		c.offset = offset
	}
	c.forces, c.forbids = original(c.forces, ops), original(c.forbids, ops)
}

// original returns the operation that another one was made of.
func original(op *model.Op, ops []model.Op) *model.Op {
	if op == nil {
		return nil
	}
	i := slices.IndexFunc(ops, func(o model.Op) bool { return o.Source == op.Source && o.Kind == op.Kind })
	if i < 0 {
		return op
	}
	return &ops[i]
}

// count counts what is sent of the values that may have been sent twice.
func (s *section) count(o *histories.Op) {
	for _, v := range o.Values {
		if n, ok := s.sent[v]; ok {
			s.sent[v] = n + 1
		}
	}
}

func (s *section) add(o *histories.Op, records int, float bool) {
	s.sends[o.Process] = append(s.sends[o.Process], other{int32(o.Index), int32(records), float})
}
