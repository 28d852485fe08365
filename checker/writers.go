package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// written is a value of a partition.
type written struct {
	on    string
	value histories.Value
}

// writers are the sends of one value to one partition that may have happened, and
// what that says of a record with the value.
type writers struct {
	all    []*histories.Op
	untold []*histories.Op           // of those nobody can tell where they landed
	told   map[int64][]*histories.Op // the others, by the offset of the record
	loose  bool                      // a copy may be at any other offset as well

	owners map[int64]*transaction // what only returns, by the kind of record
	secret map[int64]bool         // what hidden returns
}

// Kinds of records that are told apart by other things than their offset.
const (
	ofUntold int64 = -1
	ofAny    int64 = -2
)

// add takes note of a send of the value, which asks for it at those places of its
// batch. An offset binds if it was acknowledged by all and stays so.
func (s *writers) add(o *histories.Op, value histories.Value, binds bool) {
	if len(s.all) > 0 && s.all[len(s.all)-1] == o {
		return
	}
	s.all = append(s.all, o)
	if !binds || o.Outcome != histories.OK || o.Offset == histories.None {
		s.untold = append(s.untold, o)
		return
	}
	if s.told == nil {
		s.told = map[int64][]*histories.Op{}
	}
	for i, v := range o.Values {
		if v == value {
			s.told[o.Offset+int64(i)] = append(s.told[o.Offset+int64(i)], o)
		}
	}
}

// of returns the sends that may have put a record where it is: those that were told
// its offset, or else those that were told none, or else any of its value.
func (s *writers) of(offset int64) (kind int64, sends []*histories.Op) {
	switch {
	case s.loose || len(s.all) == 1:
		return ofAny, s.all
	case s.told[offset] != nil:
		return offset, s.told[offset]
	case s.untold != nil:
		return ofUntold, s.untold
	}
	return ofAny, s.all
}

// addSend takes note of a send that may have happened.
func (ts *transactions) addSend(o *histories.Op) {
	binds := ts.keeps && model.AcksOf(o, ts.whole.Config()) == "all"
	for _, v := range o.Values {
		at := written{o.On, v}
		if ts.writers[at] == nil {
			ts.writers[at] = &writers{loose: ts.copies}
		}
		ts.writers[at].add(o, v, binds)
	}
}

// sendsOf are the sends of a value that may have happened.
func (ts *transactions) sendsOf(w written) []*histories.Op {
	if s := ts.writers[w]; s != nil {
		return s.all
	}
	return nil
}

// source is one of the sends that may have put a record where it is.
func (ts *transactions) source(on string, r histories.Record) *histories.Op {
	_, sends := ts.writers[written{on, r.Value}].of(r.Offset)
	return sends[0]
}

// only returns the transaction that a record is of, nil if it may be of another,
// or of none.
func (ts *transactions) only(on string, r histories.Record) *transaction {
	s := ts.writers[written{on, r.Value}]
	if s == nil {
		return nil
	}
	return remembered(&s.owners, s, r.Offset, func(sends []*histories.Op) *transaction {
		t := ts.of[sends[0].Index]
		if t != nil && (t.mixed || slices.ContainsFunc(sends, func(o *histories.Op) bool { return ts.of[o.Index] != t })) {
			return nil
		}
		return t
	})
}

// hidden reports whether a record is of no transaction that took effect, so that
// nobody is promised to see it. It is asked once it is known which of them readers
// were shown.
func (ts *transactions) hidden(on string, r histories.Record) bool {
	s := ts.writers[written{on, r.Value}]
	if s == nil {
		return false
	}
	return remembered(&s.secret, s, r.Offset, func(sends []*histories.Op) bool {
		return !slices.ContainsFunc(sends, func(o *histories.Op) bool {
			t := ts.of[o.Index]
			return t == nil || t.certain()
		})
	})
}

// remembered asks once for each kind of record with a value.
func remembered[T any](known *map[int64]T, s *writers, offset int64, ask func(sends []*histories.Op) T) T {
	kind, sends := s.of(offset)
	answer, ok := (*known)[kind]
	if ok {
		return answer
	}
	if *known == nil {
		*known = map[int64]T{}
	}
	answer = ask(sends)
	(*known)[kind] = answer
	return answer
}
