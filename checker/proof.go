package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// prove looks for the target in the operations that it names and in what they
// depend on, the least of it first. It reports whether that is enough.
func (m *shortening) prove() bool {
	named := make([]bool, len(m.gone))
	for _, e := range m.target.Evidence {
		named[e.Index] = true
	}
	if m.try(m.only(named, true)) {
		return true
	}
	about := m.withSends(named, m.target.about)
	placed := m.withSends(m.withMoves(about), m.outermost(about))
	if m.try(m.only(about, true)) || m.try(m.only(placed, true)) || m.try(m.only(placed, false)) {
		return true
	}
	read := m.withSends(m.withReaders(placed), m.target.about)
	return m.try(m.only(read, true)) || m.try(m.only(m.withSends(read, m.answered(read)), false))
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
		if o.Kind == histories.Send && o.On == m.target.Partition && slices.ContainsFunc(o.Values, func(v histories.Value) bool { return wanted[v] }) {
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

// withReaders adds the first answer that holds each value the target names: it
// may tell which of two offsets is the wrong one.
func (m *shortening) withReaders(items []bool) []bool {
	items = slices.Clone(items)
	unread := slices.Clone(m.target.about)
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		if len(unread) == 0 || o.On != m.target.Partition {
			continue
		}
		for _, r := range o.Records {
			if at := slices.Index(unread, r.Value); at >= 0 {
				unread = slices.Delete(unread, at, at+1)
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
