package histories

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

func (c *cursor) endOfEvent() {
	if c.spaces(); !c.done() {
		c.expected("the end of the line")
	}
}

// An eventLine is an event while it is read: what a key means depends on
// others that may stand behind it.
type eventLine struct {
	*cursor
	e      Event
	typ, f string
	offset int64
	extra  map[string]bool // extensions met so far
}

// event reads one line.
func (c *cursor) event() Event {
	l := &eventLine{cursor: c, e: Event{Op: NewOp("", Send), ID: None, Line: c.line}, offset: None}
	start := c.pos
	c.object(l.member)
	c.endOfEvent()
	if c.err != nil {
		return l.e
	}
	if l.e.at[kComment] != 0 {
		l.comment()
		return l.e
	}
	for _, k := range []int{kTime, kProcess, kType, kF} {
		if l.e.at[k] == 0 {
			c.fail(start, "expected an event with %q", eventKeys[k])
		}
	}
	if c.err == nil {
		l.interpret()
	}
	return l.e
}

// failAt fails at a key of the event.
func (l *eventLine) failAt(key int, format string, args ...any) {
	l.fail(max(l.e.at[key]-1, 0), format, args...)
}

// member reads one value.
func (l *eventLine) member(name string, start int) {
	key, known := eventKeyOf[name]
	if !known {
		if l.extra[name] {
			l.fail(start, "%s is stated twice", excerpt(name))
		}
		if l.extra == nil {
			l.extra = make(map[string]bool)
		}
		l.extra[name] = true
		l.unknownKey(name, start, strings.Join(eventKeys[:], ", "))
		return
	}
	if l.e.at[key] != 0 {
		l.fail(start, "%q is stated twice", name)
		return
	}
	l.e.at[key] = l.pos + 1
	l.e.said |= keyFields[key]
	l.read(key)
}

// read reads the value of a known key.
func (l *eventLine) read(key int) {
	o := &l.e.Op
	switch key {
	case kIndex:
		l.natural("a number")
	case kTime:
		o.Call = l.natural("a time")
	case kProcess:
		o.Process = l.quoted("a string")
	case kType:
		l.typ = l.quoted("a string")
	case kF:
		l.f = l.quoted("a string")
	case kOn:
		if o.On = l.quoted("a string"); l.err == nil {
			if err := checkPartition(o.On); err != nil {
				l.failAt(kOn, "%v", err)
			}
		}
	case kID:
		l.e.ID = l.natural("a number")
	case kOffset:
		if l.literal("null") {
			l.e.at[kOffset] = 0
		} else {
			l.offset = l.natural("an offset or null")
		}
	case kComment:
		l.e.Comment = l.quoted("a string")
	case kValues:
		l.array(func() { o.Values = append(o.Values, l.value("an integer or a string")) })
	case kKey:
		o.Key = l.value("an integer or a string").String()
	case kAcks:
		o.Acks = l.text("all, 1 or 0")
	case kTx:
		o.Tx = l.text("the name of a transaction")
	case kFrom:
		o.From = l.natural("an offset")
	case kMax:
		o.Max = l.natural("a number of records")
	case kAt:
		o.At = l.text("latest, earliest or ts")
	case kTS:
		o.TS = l.natural("a timestamp")
	case kCode:
		o.Code = l.text("an error code")
	case kRecords:
		l.array(l.record)
	case kHW:
		o.HW = l.natural("an offset")
	case kLSO:
		o.LSO = l.natural("an offset")
	case kStart:
		o.Start = l.natural("an offset")
	case kEnd:
		o.End = l.natural("an offset")
	}
}

// text reads a string that is not empty.
func (l *eventLine) text(what string) string {
	start := l.pos
	s := l.quoted("a string: " + what)
	if s == "" {
		l.fail(start, "expected %s, found an empty string", what)
	}
	return s
}

// record reads [offset,value].
func (l *eventLine) record() {
	if !l.take('[') {
		l.expected("[OFFSET,VALUE]")
		return
	}
	l.spaces()
	r := Record{Offset: l.natural("an offset")}
	l.spaces()
	if !l.take(',') {
		l.expected(`"," and a value`)
		return
	}
	l.spaces()
	r.Value = l.value("an integer or a string")
	l.spaces()
	if !l.take(']') {
		l.expected(`"]"`)
		return
	}
	l.e.Op.Records = append(l.e.Op.Records, r)
}

// comment takes a line of commentary, which has no other key.
func (l *eventLine) comment() {
	l.only("a comment", kComment)
	if _, msg := unclean([]byte(l.e.Comment)); msg != "" || !isComment(l.e.Comment) {
		l.failAt(kComment, `expected an empty string or one line that begins with "#"`)
	}
	l.e.Type = Commented
}

// only fails at the first key that is not among those.
func (l *eventLine) only(what string, keys ...int) {
	for k, at := range l.e.at {
		if at != 0 && !slices.Contains(keys, k) {
			l.failAt(k, "%s does not have %q", what, eventKeys[k])
		}
	}
}

// interpret decides what the line is about.
func (l *eventLine) interpret() {
	o := &l.e.Op
	kind, operation := ParseKind(l.f)
	switch {
	case o.Process == "nemesis" || o.Process == "client" || !operation && l.typ == "info" && isMarker(l.f):
		l.mark()
		return
	case !operation:
		l.failAt(kF, "unknown operation %s; expected one of %s", excerpt(l.f), strings.Join(kindNames[:], ", "))
		return
	}
	if err := CheckProcess(o.Process); err != nil {
		l.failAt(kProcess, "%v", err)
	}
	o.Kind = kind
	if l.e.at[kOffset] != 0 {
		if kind.args()&fTo != 0 {
			o.To, l.e.said = l.offset, l.e.said|fTo
		} else {
			o.Offset, l.e.said = l.offset, l.e.said|fOffset
		}
	}
	switch l.typ {
	case "invoke":
		l.invocation()
	case "ok":
		l.completion(OK)
	case "fail":
		l.completion(Fail)
	case "info":
		l.completion(Info)
	default:
		l.failAt(kType, "expected invoke, ok, fail or info, found %s", excerpt(l.typ))
	}
}

func (l *eventLine) invocation() {
	o := &l.e.Op
	if missing := shapes[o.Kind].asks &^ l.e.said; missing != 0 {
		l.failAt(kF, "%s needs %s", o.Kind, missing)
		return
	}
	l.allow(o.Kind.args(), "invocation of "+o.Kind.String())
	if err := o.checkCall(); err != nil {
		l.failAt(kF, "%v", err)
	}
}

func (l *eventLine) completion(outcome Outcome) {
	o := &l.e.Op
	o.Outcome, o.Return, o.Call = outcome, o.Call, None
	l.e.Type = Completed
	if outcome == OK {
		if missing := shapes[o.Kind].answers &^ l.e.said; missing != 0 {
			l.failAt(kType, "%s => ok needs %s", o.Kind, missing)
			return
		}
	}
	l.allow(o.Kind.args()|o.Kind.results(outcome), fmt.Sprintf("%s => %s", o.Kind, outcome))
}

// allow fails at the first key of a field that is not allowed.
func (l *eventLine) allow(fields field, what string) {
	if l.e.said&^fields == 0 {
		return
	}
	for k, at := range l.e.at {
		bit := keyFields[k]
		if k == kOffset {
			bit = l.e.said & (fTo | fOffset)
		}
		if at != 0 && bit&^fields != 0 {
			l.failAt(k, "%s does not have %q", what, eventKeys[k])
		}
	}
}

func isMarker(f string) bool {
	word, _, _ := strings.Cut(f, " ")
	return word != "nemesis" && slices.Contains(markNames[:], word)
}

// mark takes a fault or a client's marker.
func (l *eventLine) mark() {
	l.e.Type = Marked
	l.only("a mark", kIndex, kTime, kProcess, kType, kF)
	if l.typ != "info" {
		l.failAt(kType, "a mark has the type info, found %s", excerpt(l.typ))
	}
	m := &l.e.Mark
	*m = Mark{Time: l.e.Op.Call, Offset: None, Line: l.line}
	if l.err != nil {
		return
	}
	if l.e.Op.Process == "nemesis" {
		m.Text = l.f
		if err := m.check(); err != nil {
			l.failAt(kF, "%v", err)
		}
		return
	}
	c := newCursor(l.file, l.line, []byte(l.f))
	if m.Process = l.e.Op.Process; m.Process == "client" {
		c.client(m)
	} else {
		c.marker(m)
	}
	var e *Error
	if errors.As(c.err, &e) {
		l.failAt(kF, "%s", e.Msg)
	} else if err := m.check(); err != nil { // of its process, which the event names
		l.failAt(kProcess, "%v", err)
	}
}
