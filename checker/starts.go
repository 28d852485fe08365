package checker

import "github.com/isrcheck/isrcheck/histories"

// tellers are the operations that tell of a log start and that a finding may rest
// on. Which ones they are does not depend on the order in which they are seen.
type tellers struct {
	highest *histories.Op // of those that tell the highest start, the first to be answered it if one was
	last    *histories.Op // called last of those that were answered a start
}

// isHigher reports whether an operation tells more of the highest start than
// another.
func isHigher(o, than *histories.Op) bool {
	start := startTold(o)
	switch {
	case start == histories.None || than == nil:
		return start != histories.None
	case start != startTold(than):
		return start > startTold(than)
	case (answered(o) == start) != (answered(than) == start):
		return answered(o) == start
	case o.Return != than.Return:
		return o.Return < than.Return
	}
	return o.Index < than.Index
}

// isLater reports whether an operation was answered a start later than another.
func isLater(o, than *histories.Op) bool {
	switch {
	case answered(o) == histories.None || than == nil:
		return answered(o) != histories.None
	case o.Call != than.Call:
		return o.Call > than.Call
	}
	return o.Index < than.Index
}

// note takes note of an operation that stays as it is.
func (t *tellers) note(o *histories.Op) {
	if isHigher(o, t.highest) {
		t.highest = o
	}
	if isLater(o, t.last) {
		t.last = o
	}
}

// copy takes note of an operation that does not stay.
func (t *tellers) copy(o *histories.Op) {
	if isHigher(o, t.highest) {
		t.highest = copied(t.highest, o)
	}
	if isLater(o, t.last) {
		t.last = copied(t.last, o)
	}
}

// copied is a copy of an answer in place of an older one, if there is one.
func copied(old, o *histories.Op) *histories.Op {
	if old == nil {
		old = new(histories.Op)
	}
	records := append(old.Records[:0], o.Records...)
	*old = *o
	old.Values, old.Records = append([]histories.Value(nil), o.Values...), records
	return old
}

// reach returns what shows that an answer speaks for an offset that is before its
// first record: for a poll what put its consumer where it was, for a complete scan
// what tells the log start. With every offset holding a record the log start has
// not moved without anybody being told.
func (p *partition) reach(r *read, offset int64) (by []*histories.Op, mark *histories.Mark) {
	if len(r.op.Records) > 0 && offset >= r.lowest() {
		return nil, nil
	}
	dense := p.config.Get("offsets") == "dense"
	switch at, ok := p.stands[r.op]; {
	case r.op.Kind == histories.Fetch && r.op.To != histories.None: // a scan that transactions may have held up
		return present(p.tellers.highest), nil
	case r.op.Kind == histories.Scan && !dense && (len(r.op.Records) > 0 || offset < r.op.End):
		return present(p.tellers.highest), nil
	case !ok:
		return nil, nil
	case at.from == atStart && !dense:
		return present(at.op, p.tellers.last), at.mark
	default:
		return present(at.op), at.mark
	}
}

// present are the operations that there are.
func present(ops ...*histories.Op) (there []*histories.Op) {
	for _, o := range ops {
		if o != nil {
			there = append(there, o)
		}
	}
	return there
}
