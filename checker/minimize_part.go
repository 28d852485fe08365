package checker

import (
	"maps"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// unframes reports whether a transaction would lose its begin or an end of it.
func (m *shortening) unframes(k kept) bool {
	if m.transactions == nil {
		return false
	}
	items := make([]bool, len(k.gone))
	for i, gone := range k.gone {
		items[i] = !gone
	}
	m.transactions.frame(items)
	for i, gone := range k.gone {
		if gone && items[i] {
			return true
		}
	}
	return false
}

// part builds the history of what is left; nil if there is none.
func (m *shortening) part(k kept) *histories.History {
	dropped := m.droppedBy(k)
	var ops []histories.Op
	var polls []int
	for _, o := range m.whole.Ops() {
		if k.gone[o.Index] {
			continue
		}
		if o.Kind == histories.Send && !trim(&o, dropped) {
			return nil
		}
		if !m.shortenAnswer(&o, dropped) {
			if o.On == m.target.Partition && m.start > 0 && startTold(&o) == m.start {
				return nil // it may be the only one left that tells it
			}
			continue
		}
		if o.Kind == histories.Poll {
			polls = append(polls, o.Index)
		}
		o.Line, o.ReturnLine = 0, 0
		ops = append(ops, o)
	}
	ops = m.withStartTold(ops)
	var marks []histories.Mark
	for _, mark := range m.whole.Marks() {
		if !k.gone[mark.Index] {
			mark.Line = 0
			marks = append(marks, mark)
		}
	}
	header := m.whole.Header()
	header.Schedule = "" // it is the cause of the whole
	header.Config = m.config
	if k.sparse && header.Config.Get(offsets) == "dense" {
		header.Config = header.Config.With(offsets, "sparse")
	}
	h, err := histories.New(m.whole.Name(), header, ops, marks)
	if err != nil || m.moved(h, polls) {
		return nil
	}
	return h
}

// shortenAnswer takes out of an answer what is left out. It reports false if the
// rest would say more than the answer did.
func (m *shortening) shortenAnswer(o *histories.Op, dropped map[histories.Value]bool) bool {
	before := *o
	if o.IsRead() {
		o.Records = slices.DeleteFunc(slices.Clone(o.Records), func(r histories.Record) bool { return dropped[r.Value] })
	}
	m.cut.clip(o)
	return !saysMore(&before, o, m.config)
}

// droppedBy returns the values that are to be seen nowhere: those dropped, and
// those of sends that are gone if no send of them stays.
func (m *shortening) droppedBy(k kept) map[histories.Value]bool {
	dropped := maps.Clone(k.dropped)
	for _, o := range m.whole.Ops() {
		if o.Kind == histories.Send && k.gone[o.Index] {
			for _, v := range o.Values {
				dropped[v] = true
			}
		}
	}
	for _, o := range m.whole.Ops() {
		if o.Kind == histories.Send && !k.gone[o.Index] {
			for _, v := range o.Values {
				if !k.dropped[v] {
					delete(dropped, v)
				}
			}
		}
	}
	return dropped
}

// trim takes values out of a batch at its ends. It reports whether a batch is
// left whose offsets are known: not one that lost a value from its middle.
func trim(o *histories.Op, dropped map[histories.Value]bool) bool {
	first, end := 0, len(o.Values)
	for first < end && dropped[o.Values[first]] {
		first++
	}
	for end > first && dropped[o.Values[end-1]] {
		end--
	}
	o.Values = o.Values[first:end]
	if o.Offset != histories.None {
		o.Offset += int64(first)
	}
	return len(o.Values) > 0 && !slices.ContainsFunc(o.Values, func(v histories.Value) bool { return dropped[v] })
}

// size is how much there is to delete in a history.
func size(h *histories.History) int {
	n := len(h.Ops()) + len(h.Marks())
	for i := range h.Ops() {
		o := &h.Ops()[i]
		n += len(o.Values) + len(o.Records)
	}
	return n
}
