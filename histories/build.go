package histories

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// New makes a history of what a program holds, under the same rules as one
// that is read from a file. Operations are put in order of their invocation,
// marks in order of their time; those of one time keep the order given, and a
// mark stands before an operation of its time unless its Index is the higher
// one. Index is assigned anew, across both. The history shares nothing with the
// caller.
//
// The error names the operation at fault, by its Line if it has one.
func New(name string, h Header, ops []Op, marks []Mark) (*History, error) {
	return build(name, h, slices.Clone(ops), slices.Clone(marks), nil)
}

// WithHeader returns the same history under another header. Comments are kept;
// a header that was made from nothing also takes over the order of the lines.
func (h *History) WithHeader(hd Header) (*History, error) {
	if hd.layout == nil {
		hd.layout = h.header.layout
	}
	return build(h.name, hd, slices.Clone(h.ops), slices.Clone(h.marks), slices.Clone(h.comments))
}

// build checks and orders a history of its own slices. The index of a comment
// is the Index of the item it precedes, as the operations and marks state it.
func build(name string, header Header, ops []Op, marks []Mark, comments []comment) (*History, error) {
	if err := header.check(); err != nil {
		return nil, &Error{File: name, Msg: err.Error()}
	}
	if header.Schedule != "" && !strings.HasSuffix(header.Schedule, "\n") {
		header.Schedule += "\n"
	}
	header.Config = slices.Clone(header.Config)
	for i := range ops {
		if err := ops[i].check(); err != nil {
			return nil, &Error{File: name, Line: ops[i].Line, Column: min(ops[i].Line, 1), Msg: at(ops[i].Line, "operation", i) + err.Error()}
		}
	}
	for i := range marks {
		if err := marks[i].check(); err != nil {
			return nil, &Error{File: name, Line: marks[i].Line, Column: min(marks[i].Line, 1), Msg: at(marks[i].Line, "mark", i) + err.Error()}
		}
	}
	sortByTime(ops, func(o *Op) int64 { return o.Call })
	sortByTime(marks, func(m *Mark) int64 { return m.Time })
	number(ops)
	if err := checkOverlap(name, ops); err != nil {
		return nil, err
	}
	pack(ops)
	h := &History{name: name, header: header, ops: ops, marks: marks}
	for _, text := range h.header.arrange() {
		h.comments = append(h.comments, comment{0, text})
	}
	h.comments = append(h.comments, renumber(ops, marks, comments)...)
	return h, nil
}

// sortByTime is a stable sort of items that are large, and mostly in order already.
func sortByTime[T any](items []T, at func(*T) int64) {
	moved := 0
	for i := 1; i < len(items); i++ {
		to := i
		for to > 0 && at(&items[to-1]) > at(&items[i]) {
			to--
		}
		if to < i {
			item := items[i]
			copy(items[to+1:i+1], items[to:i])
			items[to] = item
		}
		if moved += i - to; moved > 8*len(items) { // they are not
			slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(at(&a), at(&b)) })
			return
		}
	}
}

// pack moves what was sent and read into memory of its own, in the order of the
// operations: nobody else can change it, and whoever goes through a large history
// finds one thing behind the other.
func pack(ops []Op) {
	values, records := 0, 0
	for i := range ops {
		values, records = values+len(ops[i].Values), records+len(ops[i].Records)
	}
	allValues, allRecords := make([]Value, 0, values), make([]Record, 0, records)
	for i := range ops {
		o := &ops[i]
		o.Values, allValues = moved(o.Values, allValues)
		o.Records, allRecords = moved(o.Records, allRecords)
	}
}

// moved copies a list behind the others. An empty one is nil.
func moved[T any](list, all []T) (own, rest []T) {
	n := len(all)
	if all = append(all, list...); n == len(all) {
		return nil, all
	}
	return all[n:len(all):len(all)], all
}

// at names an item that has no line to point at.
func at(line int, what string, i int) string {
	if line > 0 {
		return ""
	}
	return fmt.Sprintf("%s %d: ", what, i+1)
}

// renumber assigns Index across ops and marks, both in order of time, and
// moves every comment along with the item it precedes.
func renumber(ops []Op, marks []Mark, comments []comment) []comment {
	var moved map[int]int
	if len(comments) > 0 {
		moved = make(map[int]int, len(ops)+len(marks))
	}
	next := func(index *int, to int) {
		if moved != nil {
			moved[*index] = to
		}
		*index = to
	}
	for o, m := 0, 0; o+m < len(ops)+len(marks); {
		if o == len(ops) || m < len(marks) && markFirst(&marks[m], &ops[o]) {
			next(&marks[m].Index, o+m)
			m++
		} else {
			next(&ops[o].Index, o+m)
			o++
		}
	}
	for i := range comments {
		to, ok := moved[comments[i].index]
		if !ok { // it is the end it precedes
			to = len(ops) + len(marks)
		}
		comments[i].index = to
	}
	slices.SortStableFunc(comments, func(a, b comment) int { return cmp.Compare(a.index, b.index) })
	return comments
}

func markFirst(m *Mark, o *Op) bool {
	return m.Time < o.Call || m.Time == o.Call && m.Index <= o.Index
}

// number gives processes and partitions their numbers, and finds the operations that
// are plain.
func number(ops []Op) {
	processes, partitions := numbers{}, numbers{}
	for i := range ops {
		o := &ops[i]
		o.process, o.partition = processes.of(o.Process), partitions.of(o.On)
		asks := o.Kind == Send || o.Kind == Fetch || o.Kind == List && o.At == "latest"
		o.plain = asks && o.Outcome == OK && o.Acks == "" && o.Key == "" && o.Tx == "" && o.Code == ""
	}
}

// numbers are those of names, from 0, in the order in which they are asked for.
type numbers map[string]int32

func (n numbers) of(name string) int32 {
	number, ok := n[name]
	if !ok {
		number = int32(len(n))
		n[name] = number
	}
	return number
}
