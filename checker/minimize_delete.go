package checker

import (
	"maps"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// without is what is left, less those items.
func (m *shortening) without(items []int) kept {
	k := kept{slices.Clone(m.gone), m.dropped, m.sparse}
	for _, i := range items {
		k.gone[i] = true
	}
	return k
}

// left returns the items that are not deleted, in order.
func (m *shortening) left() []int {
	var items []int
	for i, gone := range m.gone {
		if !gone {
			items = append(items, i)
		}
	}
	return items
}

// deleteGroups deletes the items of one name at once, for each name but "".
func (m *shortening) deleteGroups(ofOp func(*histories.Op) string, ofMark func(*histories.Mark) string) {
	group := make([]string, len(m.gone))
	var names []string
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		group[o.Index] = ofOp(o)
		names = append(names, group[o.Index])
	}
	for i := range m.whole.Marks() {
		mark := &m.whole.Marks()[i]
		group[mark.Index] = ofMark(mark)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		items := slices.DeleteFunc(m.left(), func(i int) bool { return group[i] != name })
		if len(items) > 0 {
			m.try(m.without(items))
		}
	}
}

// deletePieces is ddmin's deletion of pieces, from the end backwards: stretches
// of time, then single operations and marks.
func (m *shortening) deletePieces() {
	items := m.left()
	for size := (len(items) + 1) / 2; size > 0; size /= 2 {
		for end := len(items); end > 0 && !m.spent(); end -= size {
			m.try(m.without(items[max(0, end-size):end]))
		}
		items = m.left()
	}
}

// deleteValues drops values of batches, large pieces first.
func (m *shortening) deleteValues() {
	if m.packed(m.sparse) {
		return
	}
	values := m.values()
	for size := (len(values) + 1) / 2; size > 0; size /= 2 {
		for end := len(values); end > 0 && !m.spent(); end -= size {
			k := kept{m.gone, maps.Clone(m.dropped), m.sparse}
			for _, v := range values[max(0, end-size):end] {
				k.dropped[v] = true
			}
			m.try(k)
		}
		values = m.values()
	}
}

// values returns the values of batches that are left, in order of sending.
func (m *shortening) values() []histories.Value {
	var values []histories.Value
	for _, o := range m.best.Ops() {
		if o.Kind == histories.Send && len(o.Values) > 1 {
			values = append(values, o.Values...)
		}
	}
	return values
}
