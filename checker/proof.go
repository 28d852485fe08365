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

// withMoves adds what set the positions of the consumers whose polls are among
// the items: seeks and the like, client markers, the poll before.
func (m *shortening) withMoves(items []bool) []bool {
	items = slices.Clone(items)
	consumers := map[string]*histories.Op{} // the last poll before one that stays
	for i := range m.whole.Ops() {
		if o := &m.whole.Ops()[i]; o.Kind == histories.Poll && items[o.Index] {
			consumers[o.Process] = nil
		}
	}
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		before, polls := consumers[o.Process]
		if !polls || o.On != m.target.Partition {
			continue
		}
		switch o.Kind {
		case histories.Assign, histories.Seek, histories.Subscribe:
			items[o.Index] = true
		case histories.Fetch: // which tells where its consumer stands
			items[o.Index] = items[o.Index] || o.Code == "OFFSET_OUT_OF_RANGE"
		case histories.Poll:
			if items[o.Index] && before != nil {
				items[before.Index] = true
			}
			consumers[o.Process] = o
		}
	}
	for i := range m.whole.Marks() {
		mark := &m.whole.Marks()[i]
		_, polls := consumers[mark.Process]
		items[mark.Index] = items[mark.Index] || polls && mark.Kind != histories.Nemesis && mark.Kind != histories.Note
	}
	return items
}

// withStart adds the operation that tells the highest log start.
func (m *shortening) withStart(items []bool) []bool {
	highest, by := histories.None, -1
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if o.On != m.target.Partition {
			continue
		}
		if start := startTold(o); start > highest {
			highest, by = start, o.Index
		}
	}
	items = slices.Clone(items)
	if by >= 0 {
		items[by] = true
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
