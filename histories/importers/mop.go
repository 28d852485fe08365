package importers

import (
	"github.com/isrcheck/isrcheck/histories"
)

// A mop is a micro-operation of Jepsen's Kafka workload: [:send key value], which
// ends as [:send key [offset value]], or [:poll], which ends as
// [:poll {key [[offset value] ...]}].
type mop struct {
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
		m.offset = histories.None
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

// answer takes the offset out of a send's value, if it is a pair of both.
func (m *mop) answer() {
	if m.value.kind != sequence || len(m.value.items) != 2 {
		return
	}
	first, value := &m.value.items[0], &m.value.items[1]
	if n, ok := first.int(); ok && n >= 0 {
		m.offset, m.value, m.answered = n, value, true
	} else if first.kind == nothing {
		m.value, m.answered = value, true
	}
}
