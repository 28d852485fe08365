package importers

import (
	"math"

	"github.com/isrcheck/isrcheck/histories"
)

// A mop is a micro-operation of Jepsen's Kafka workload: [:send key value], which
// ends as [:send key [offset value]], or [:poll], which ends as
// [:poll {key [[offset value] ...]}].
type mop struct {
	at         *form
	key, value *form // of a send
	offset     int64 // that the send was told, None if it was told none
	answered   bool  // it was told something, if only that it has no offset
	polled     *form // a map; nil if a poll did not tell
}

// mops returns the micro-operations of an event.
func (q *queue) mops(e *event) ([]mop, error) {
	if e.f != "send" && e.f != "poll" && e.f != "txn" || e.value == nil || e.value.kind == nothing {
		return nil, nil
	}
	if e.value.kind != sequence {
		return nil, q.fail(e.value, "expected a vector of [:send key value] and [:poll], found %s", formNames[e.value.kind])
	}
	out := make([]mop, len(e.value.items))
	for i := range e.value.items {
		f, m := &e.value.items[i], &out[i]
		m.at, m.offset = f, histories.None
		name := ""
		if f.kind == sequence && len(f.items) > 0 && f.items[0].kind == keyword {
			name = f.items[0].text
		}
		switch {
		case name == "send" && len(f.items) == 3:
			m.key, m.value = &f.items[1], &f.items[2]
		case name == "poll" && len(f.items) == 1, name == "poll" && len(f.items) == 2 && f.items[1].kind == nothing:
		case name == "poll" && len(f.items) == 2 && f.items[1].kind == mapping:
			m.polled = &f.items[1]
		default:
			return nil, q.fail(f, "expected [:send key value], [:poll] or [:poll {key [[offset value] ...]}], found %s", clip(f.String()))
		}
	}
	return out, nil
}

// answer takes apart what the sends of an operation were told, each its value as
// it was asked for, or a pair of its offset and that value.
func (q *queue) answer(v *invocation, told []mop) error {
	for i := range told {
		m, asked := &told[i], mop{}
		if i < len(v.mops) {
			asked = v.mops[i]
		}
		if (m.key != nil) != (asked.key != nil) {
			return q.fail(m.at, "expected what the invocation (line %d) says in this place, found %s", v.at.line, clip(m.at.String()))
		}
		if m.key == nil {
			continue
		}
		if !m.key.equal(asked.key) {
			return q.fail(m.key, "expected the key of the invocation (line %d), %s, found %s", v.at.line, clip(asked.key.String()), clip(m.key.String()))
		}
		if err := q.answered(v, m, asked.value); err != nil {
			return err
		}
	}
	return nil
}

// answered takes apart what one send was told. An offset of nil, or of -1 as
// Java's clients have it, is none.
func (q *queue) answered(v *invocation, m *mop, asked *form) (err error) {
	if m.value.equal(asked) {
		return nil
	}
	if m.value.kind != sequence || len(m.value.items) != 2 || !m.value.items[1].equal(asked) {
		return q.fail(m.value, "expected the value of the invocation (line %d), %s, or a pair [offset value] of it, found %s", v.at.line, clip(asked.String()), clip(m.value.String()))
	}
	offset := &m.value.items[0]
	m.value, m.answered = &m.value.items[1], true
	if n, ok := offset.int(); offset.kind == nothing || ok && n == -1 {
		return nil
	}
	m.offset, err = q.offset(offset)
	return err
}

// offset returns the offset of a record, behind which there is room for another.
func (q *queue) offset(f *form) (int64, error) {
	n, ok := f.int()
	if !ok || n < 0 || n == math.MaxInt64 {
		return histories.None, q.fail(f, "expected an offset from 0 to %d, found %s", int64(math.MaxInt64-1), clip(f.String()))
	}
	return n, nil
}
