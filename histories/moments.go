package histories

// A Moment is one event of a history: an invocation, a completion or a mark.
type Moment struct {
	Op        *Op   // nil for a mark
	Mark      *Mark // nil for an operation
	Completes bool  // the operation is answered, else it is invoked
}

// Time returns when it happened.
func (m Moment) Time() int64 {
	switch {
	case m.Mark != nil:
		return m.Mark.Time
	case m.Completes:
		return m.Op.Return
	}
	return m.Op.Call
}

// Line returns the line of the file that states it, 0 if there is none.
func (m Moment) Line() int {
	switch {
	case m.Mark != nil:
		return m.Mark.Line
	case m.Completes:
		return m.Op.ReturnLine
	}
	return m.Op.Line
}

// Moments returns the events of the history in the order in which the encoding
// as events has them.
func (h *History) Moments() []Moment {
	ends := h.completions()
	all := make([]Moment, 0, 2*len(h.ops)+len(h.marks))
	answered := func(until int64) {
		for ; len(ends) > 0 && h.ops[ends[0]].Return <= until; ends = ends[1:] {
			all = append(all, Moment{Op: &h.ops[ends[0]], Completes: true})
		}
	}
	h.each(func(_ *comment, o *Op, m *Mark) {
		switch {
		case m != nil:
			answered(m.Time)
			all = append(all, Moment{Mark: m})
		case o != nil:
			answered(o.Call)
			all = append(all, Moment{Op: o})
			if o.Outcome != Open && o.Return == o.Call {
				all = append(all, Moment{Op: o, Completes: true})
			}
		}
	})
	answered(forever)
	return all
}

// Prefix returns the history as it was after the first of its [History.Moments]:
// what was not answered yet is open, and what had not begun is not there.
func (h *History) Prefix(moments []Moment) (*History, error) {
	var ops []Op
	var marks []Mark
	place := map[*Op]int{} // of operations under way
	for _, m := range moments {
		switch {
		case m.Mark != nil:
			marks = append(marks, *m.Mark)
		case m.Completes:
			ops[place[m.Op]] = *m.Op
			delete(place, m.Op)
		default:
			place[m.Op] = len(ops)
			ops = append(ops, m.Op.unanswered())
		}
	}
	return build(h.name, h.header, ops, marks, nil)
}

// unanswered is the operation before its answer came.
func (o *Op) unanswered() Op {
	open := *o
	open.Outcome, open.Return, open.ReturnLine = Open, None, 0
	open.Code, open.Offset, open.Records = "", None, nil
	open.HW, open.LSO, open.Start, open.End = None, None, None, None
	return open
}
