package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// locate finds where a batch is. An acknowledgement by all of the ISR says so,
// unless readers agree that its value is elsewhere (offset-mismatch). Below
// that, and without any answer, only a read says so; one record that was read
// proves the whole batch.
func (p *partition) locate(s *send) {
	if s.op.Outcome == histories.Fail {
		return
	}
	torn := false
	for i, v := range s.op.Values {
		if len(p.places[v]) > 0 && p.seenAnywhere(v) {
			s.seen++
		}
		if base, ok := p.seenOnce(v, int64(i)); ok && len(p.sent[v]) == 1 {
			torn = torn || base < 0 || s.bySaw && base != s.base
			s.base, s.bySaw = base, true
		}
	}
	if torn { // its values are not side by side: it is nowhere as a whole
		s.base, s.bySaw = histories.None, false
	}
	if s.op.Offset != histories.None && (s.acked && !p.mismatched(s) || p.provenAtTold(s)) {
		s.base, s.bySaw = s.op.Offset, !s.acked
	}
	if s.base == histories.None {
		return
	}
	s.copied = s.bySaw && s.base != s.op.Offset && p.again()
	for i, v := range s.op.Values {
		p.record(place{s.base + int64(i), v}).send = s
	}
}

func (p *partition) seenAnywhere(v histories.Value) bool {
	return slices.ContainsFunc(p.places[v], func(r *record) bool { return len(r.seenBy) > 0 })
}

// seenOnce returns the base offset of a batch whose i-th value was read at one
// offset only. It is negative if the batch cannot be there.
func (p *partition) seenOnce(v histories.Value, i int64) (int64, bool) {
	if at := p.places[v]; len(at) == 1 && len(at[0].seenBy) > 0 {
		return at[0].offset - i, true
	}
	return histories.None, false
}

// seenAtTold reports whether somebody read a value of the batch where its
// producer was told it is.
func (p *partition) seenAtTold(s *send) bool {
	return p.seenThere(s, func(histories.Value) bool { return true })
}

// provenAtTold is the same for values that no other send can have put there.
func (p *partition) provenAtTold(s *send) bool {
	return p.seenThere(s, func(v histories.Value) bool { return len(p.sent[v]) == 1 })
}

func (p *partition) seenThere(s *send, counts func(histories.Value) bool) bool {
	for i, v := range s.op.Values {
		if r := p.at[place{s.op.Offset + int64(i), v}]; r != nil && len(r.seenBy) > 0 && counts(v) {
			return true
		}
	}
	return false
}

// mismatched reports whether a batch's value was read, but never where its
// producer was told it is.
func (p *partition) mismatched(s *send) bool {
	if s.op.Offset == histories.None || s.op.Outcome != histories.OK || s.seen == 0 || p.seenAtTold(s) {
		return false
	}
	// Where one send may land twice, the copy that was read need not be the
	// one whose offset was told: that one may be unread, or lost with a leader
	// that was the only one to acknowledge it.
	if retries(p.config) != "" && (!s.acked || p.covers(s) == nil) {
		return false
	}
	for _, v := range s.op.Values {
		if len(p.sent[v]) == 1 && p.seenAnywhere(v) {
			return true
		}
	}
	return false
}
