package checker

import (
	"iter"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// prove looks for the target in the operations that it names and in what they
// depend on, the least of it first. It reports whether that is enough.
func (m *shortening) prove() bool {
	for k := range m.proofs() {
		if m.try(k) {
			return true
		}
	}
	return false
}

// proofs are parts that may show the target, from the named operations alone to
// those with everything they depend on.
func (m *shortening) proofs() iter.Seq[kept] {
	return func(yield func(kept) bool) {
		named := make([]bool, len(m.gone))
		for _, e := range m.target.Evidence {
			named[e.Index] = true
		}
		if !yield(m.only(named, true)) {
			return
		}
		about := m.withSends(named, m.target.about)
		moved := m.withStart(m.withMoves(about))
		placed := m.withSends(moved, m.outermost(moved))
		if !yield(m.only(about, true)) || !yield(m.only(placed, true)) || !yield(m.only(placed, false)) {
			return
		}
		read := m.withSends(m.withReaders(placed), m.target.about)
		if !yield(m.only(read, true)) || !yield(m.only(m.withSends(read, m.answered(read)), false)) {
			return
		}
		if m.target.Name == notLinearizable {
			yield(m.only(m.withPossible(read), false))
		}
	}
}

// withPossible adds all sends that may have happened: what no order explains
// without them, one may explain with them.
func (m *shortening) withPossible(items []bool) []bool {
	items = slices.Clone(items)
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		items[o.Index] = items[o.Index] || mayHaveHappened(o)
	}
	return items
}

// only is what is left of the whole if nothing but some items stay.
func (m *shortening) only(items []bool, sparse bool) kept {
	items = slices.Clone(items)
	m.transactions.frame(items)
	k := kept{make([]bool, len(items)), m.dropped, sparse}
	for i, stays := range items {
		k.gone[i] = !stays
	}
	return k
}

// withSends adds the sends of values.
func (m *shortening) withSends(items []bool, values []histories.Value) []bool {
	wanted := map[histories.Value]bool{}
	for _, v := range values {
		wanted[v] = true
	}
	items = slices.Clone(items)
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.Kind == histories.Send && slices.ContainsFunc(o.Values, func(v histories.Value) bool { return wanted[v] }) {
			items[o.Index] = true
		}
	}
	return items
}

// withMoves adds what set the positions at which polls among the items began: an
// operation, or a client marker and what shows that its process was in the
// partition by then. Markers that moved nothing stay with them, and one that
// tells that rebalances are recorded.
func (m *shortening) withMoves(items []bool) []bool {
	polls := items
	items = slices.Clone(items)
	first := map[string]int{} // what each process did first in the partition
	follow(m.whole, func(o *histories.Op, s step) {
		if o.On != m.target.Partition || !moves(o.Kind) {
			return
		}
		if _, ok := first[o.Process]; !ok {
			first[o.Process] = o.Index
		}
		if o.Kind != histories.Poll || !polls[o.Index] {
			return
		}
		if m.addMarks(items, o, s.setBy); s.setBy >= 0 {
			items[s.setBy] = true
		}
		if opAt(m.whole.Ops(), s.setBy) == nil {
			items[first[o.Process]] = true
		}
	})
	return items
}

// addMarks adds the markers of a poll's process that came after what set its
// position, and the last rebalance before it.
func (m *shortening) addMarks(items []bool, poll *histories.Op, setBy int) {
	rebalance := -1
	for i := range m.whole.Marks() {
		mark := &m.whole.Marks()[i]
		if mark.Index > poll.Index {
			break
		}
		if isRebalance(mark) {
			rebalance = mark.Index
		}
		if mark.Index > setBy && mark.Process == poll.Process && mark.Kind != histories.Nemesis && mark.Kind != histories.Note {
			items[mark.Index] = true
		}
	}
	if rebalance >= 0 {
		items[rebalance] = true
	}
}

// withStart adds the operations that tell the highest log start, and last of any.
func (m *shortening) withStart(items []bool) []bool {
	highest, by, last := histories.None, -1, -1
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.On != m.target.Partition {
			continue
		}
		if start := startTold(o); start > highest {
			highest, by = start, o.Index
		}
		if answered(o) != histories.None {
			last = o.Index
		}
	}
	items = slices.Clone(items)
	for _, i := range []int{by, last} {
		if i >= 0 {
			items[i] = true
		}
	}
	return items
}

// withReaders adds, for each value the target names, the first answers that hold
// it at one offset and at another: they may tell which is the wrong one.
func (m *shortening) withReaders(items []bool) []bool {
	items = slices.Clone(items)
	found := map[histories.Record]bool{}
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.On != m.target.Partition {
			continue
		}
		for _, r := range o.Records {
			if slices.Contains(m.target.about, r.Value) && !found[r] {
				found[r] = true
				items[o.Index] = true
			}
		}
	}
	return items
}

// outermost returns the first and the last value of each answer, which tell
// what it speaks for.
func (m *shortening) outermost(items []bool) []histories.Value {
	var values []histories.Value
	for i := range m.whole.Ops() {
		if o := &m.whole.Ops()[i]; items[o.Index] && len(o.Records) > 0 {
			values = append(values, o.Records[0].Value, o.Records[len(o.Records)-1].Value)
		}
	}
	return values
}

// answered returns all values of the answers.
func (m *shortening) answered(items []bool) []histories.Value {
	var values []histories.Value
	for i := range m.whole.Ops() {
		if o := &m.whole.Ops()[i]; items[o.Index] {
			for _, r := range o.Records {
				values = append(values, r.Value)
			}
		}
	}
	return values
}
