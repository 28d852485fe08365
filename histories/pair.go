package histories

import (
	"io"
	"slices"
)

// A pairing puts events together to operations.
type pairing struct {
	name     string
	ops      []Op
	marks    []Mark
	comments []comment
	pending  []string // comments that wait for the item they precede
	open     map[string][]call
}

// A call is an operation that has not been completed yet.
type call struct {
	op int
	id int64
}

// readEvents reads a whole history from its events.
func readEvents(r *EventReader) (*History, error) {
	p := &pairing{name: r.name, open: make(map[string][]call)}
	for {
		e, err := r.Next()
		if err == io.EOF {
			p.place()
			return build(r.name, r.header, p.ops, p.marks, p.comments)
		}
		if err == nil {
			err = p.add(&e)
		}
		if err != nil {
			return nil, err
		}
	}
}

// place gives the next item its place in the file, and the comments before it.
func (p *pairing) place() int {
	i := len(p.ops) + len(p.marks)
	for _, text := range p.pending {
		p.comments = append(p.comments, comment{i, text})
	}
	p.pending = p.pending[:0]
	return i
}

func (p *pairing) add(e *Event) error {
	switch e.Type {
	case Commented:
		p.pending = append(p.pending, e.Comment)
	case Marked:
		e.Mark.Index = p.place()
		p.marks = append(p.marks, e.Mark)
	case Invoked:
		return p.invoke(e)
	case Completed:
		return p.complete(e)
	}
	return nil
}

func (p *pairing) invoke(e *Event) error {
	open := p.open[e.Op.Process]
	if e.ID != None && slices.ContainsFunc(open, func(c call) bool { return c.id == e.ID }) {
		return p.fail(e, kID, "process %s has an operation with this id under way", excerpt(e.Op.Process))
	}
	p.open[e.Op.Process] = append(open, call{len(p.ops), e.ID})
	o := e.Op
	o.Index, o.Line = p.place(), e.Line
	p.ops = append(p.ops, o)
	return nil
}

func (p *pairing) complete(e *Event) error {
	i, err := p.find(e)
	if err != nil {
		return err
	}
	open := p.open[e.Op.Process]
	o := &p.ops[open[i].op]
	p.open[e.Op.Process] = slices.Delete(open, i, i+1)
	if err := p.repeats(o, e); err != nil {
		return err
	}
	if e.Op.Return < o.Call {
		return p.fail(e, kTime, "the completion at %d is before the invocation at %d (line %d)", e.Op.Return, o.Call, o.Line)
	}
	a := &e.Op
	o.Outcome, o.Return, o.ReturnLine = a.Outcome, a.Return, e.Line
	o.Code, o.Offset, o.Records = a.Code, a.Offset, a.Records
	o.HW, o.LSO, o.Start, o.End = a.HW, a.LSO, a.Start, a.End
	return nil
}

// find returns the place among the process's open calls of the one that is
// completed: the one with its id, else the only one of its kind.
func (p *pairing) find(e *Event) (int, error) {
	found, others := -1, 0
	for i, c := range p.open[e.Op.Process] {
		switch {
		case e.ID != None && c.id != e.ID:
		case p.ops[c.op].Kind != e.Op.Kind:
			others++
		case found >= 0:
			return 0, p.fail(e, kF, "process %s has several operations %s under way; expected an \"id\" that says which one this completes", excerpt(e.Op.Process), e.Op.Kind)
		default:
			found = i
		}
	}
	switch {
	case found >= 0:
		return found, nil
	case others > 0:
		return 0, p.fail(e, kF, "process %s has another operation under way than %s", excerpt(e.Op.Process), e.Op.Kind)
	case e.ID != None:
		return 0, p.fail(e, kID, "process %s has no operation with this id under way; expected its invocation before", excerpt(e.Op.Process))
	}
	return 0, p.fail(e, kProcess, "process %s has no operation under way; expected its invocation before", excerpt(e.Op.Process))
}

// repeats demands that what a completion says of the invocation is true.
func (p *pairing) repeats(o *Op, e *Event) error {
	a := &e.Op
	for _, r := range []struct {
		key  int
		same bool
	}{
		{kOn, a.On == o.On},
		{kValues, slices.Equal(a.Values, o.Values)},
		{kKey, a.Key == o.Key},
		{kAcks, a.Acks == o.Acks},
		{kTx, a.Tx == o.Tx},
		{kFrom, a.From == o.From},
		{kMax, a.Max == o.Max},
		{kAt, a.At == o.At},
		{kTS, a.TS == o.TS},
		{kOffset, a.To == None || a.To == o.To},
	} {
		if e.at[r.key] != 0 && !r.same {
			return p.fail(e, r.key, "%q is not what the invocation (line %d) says: %s", eventKeys[r.key], o.Line, o.asked())
		}
	}
	return nil
}

// asked is the invocation in the notation, cut short.
func (o *Op) asked() string {
	text := string(o.appendArguments([]byte(o.Kind.String())))
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return text
}

// fail returns an error at a key of the event.
func (p *pairing) fail(e *Event, key int, format string, args ...any) error {
	c := &cursor{file: p.name, line: e.Line}
	c.fail(max(e.at[key]-1, 0), format, args...)
	return c.err
}
