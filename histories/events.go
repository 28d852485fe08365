package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The events: one invocation, completion, mark or comment a line, as JSON. The
// first line is the header.
//
//	{"history":1,"config":{"acks":"all"}}
//	{"index":0,"time":1,"process":"P1","type":"invoke","f":"send","on":"t/0","values":[1]}
//	{"index":1,"time":2,"process":"P1","type":"ok","f":"send","on":"t/0","values":[1],"offset":0}
//	{"index":2,"time":5,"process":"nemesis","type":"info","f":"kill leader"}

// An EventType says what one line of events is.
type EventType uint8

// The types of events.
const (
	Invoked   EventType = iota // a client asked for something
	Completed                  // it learned what became of that
	Marked                     // a mark
	Commented                  // a line of commentary, or a blank one
)

// An Event is one line of a file of events.
type Event struct {
	Type EventType

	// Op is half an operation: what was asked and Call where it was invoked;
	// Outcome, Return and what came back where it was completed.
	Op      Op
	ID      int64  // pairs both events of a pipelined send; None if not stated
	Mark    Mark   // where Type is Marked
	Comment string // where Type is Commented
	Line    int

	said field // what the line states
	at   columns
}

// columns holds, for each key of an event, the place of it in the line,
// counted from 1; 0 where the line does not have it.
type columns [len(eventKeys)]int

// The keys of an event.
const (
	kIndex = iota
	kTime
	kProcess
	kType
	kF
	kOn
	kID
	kOffset
	kComment
	kValues // from here on a key is one field of an operation
	kKey
	kAcks
	kTx
	kFrom
	kMax
	kAt
	kTS
	kCode
	kRecords
	kHW
	kLSO
	kStart
	kEnd
)

var eventKeys = [...]string{"index", "time", "process", "type", "f", "on", "id", "offset", "x-comment",
	"values", "key", "acks", "tx", "from", "max", "at", "ts", "code", "records", "hw", "lso", "start", "end"}

var keyFields = [len(eventKeys)]field{kValues: fValues, kKey: fKey, kAcks: fAcks, kTx: fTx, kFrom: fFrom,
	kMax: fMax, kAt: fAt, kTS: fTS, kCode: fCode, kRecords: fRecords, kHW: fHW, kLSO: fLSO, kStart: fStart, kEnd: fEnd}

var eventKeyOf = func() map[string]int {
	m := make(map[string]int)
	for i, k := range eventKeys {
		m[k] = i
	}
	return m
}()

// An EventReader reads a file of events one at a time, in memory that depends
// on the longest line and not on the length of the file.
type EventReader struct {
	name   string
	lines  lineReader
	header Header
	words  map[string]string
}

// NewEventReader reads the header from r and returns a reader of the events
// that follow it. Files packed with gzip or zstd are unpacked.
func NewEventReader(name string, r io.Reader) (*EventReader, error) {
	u, err := Limit(0).Unpack(name, r)
	if err != nil {
		return nil, err
	}
	return newEventReader(name, u)
}

func newEventReader(name string, r *bufio.Reader) (*EventReader, error) {
	e := &EventReader{name: name, lines: lineReader{name: name, r: r}, words: make(map[string]string)}
	c, err := e.next()
	if err == io.EOF {
		return nil, &Error{File: name, Line: max(e.lines.line, 1), Column: 1, Msg: "the file is empty; expected a history"}
	}
	if err != nil {
		return nil, err
	}
	e.header = c.jsonHeader()
	return e, e.lines.explain(c.err)
}

// Header returns the header.
func (r *EventReader) Header() Header { return r.header }

// Next returns the next event, or [io.EOF] behind the last. It checks every
// event by itself; whether a completion has an invocation is seen only in the
// whole [History].
func (r *EventReader) Next() (Event, error) {
	c, err := r.next()
	if err != nil {
		return Event{}, err
	}
	e := c.event()
	return e, r.lines.explain(c.err)
}

// next returns a cursor over the next line that is not blank.
func (r *EventReader) next() (*cursor, error) {
	for {
		line, err := r.lines.next()
		if err != nil {
			return nil, err
		}
		if len(bytes.Trim(line, " \t")) > 0 {
			c := newCursor(r.name, r.lines.line, line)
			c.words = r.words
			c.spaces()
			return c, r.lines.explain(c.err)
		}
	}
}

// A lineReader reads lines of any reasonable length.
type lineReader struct {
	name string
	r    *bufio.Reader
	buf  []byte
	line int  // number of the line read last
	open bool // it had no line break
}

// maxLine bounds the memory that a file without line breaks can take.
const maxLine = 1 << 28

// next returns a line without its line break, valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	l.line++
	for {
		part, err := l.r.ReadSlice('\n')
		if l.line == 1 && len(l.buf) == 0 {
			part = bytes.TrimPrefix(part, bom)
		}
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLine:
			return nil, &Error{File: l.name, Line: l.line, Column: 1, Msg: fmt.Sprintf("the line is longer than %d bytes; expected one event a line", maxLine)}
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.buf) == 0:
			l.line--
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, &Error{File: l.name, Line: l.line, Column: len(l.buf) + 1, Msg: err.Error(), cause: err}
		}
		l.open = err == io.EOF
		line := bytes.TrimSuffix(l.buf, []byte("\n"))
		return bytes.TrimSuffix(line, []byte("\r")), nil
	}
}

// explain adds to the error of a last line that ends in the middle what is most
// likely wrong with it.
func (l *lineReader) explain(err error) error {
	var e *Error
	if l.open && !bytes.HasSuffix(l.buf, []byte("}")) && errors.As(err, &e) {
		e.Msg += " (the file ends in this line without a line break: it may have been cut off)"
	}
	return err
}

// jsonHeader reads the first line.
func (c *cursor) jsonHeader() (h Header) {
	begin := c.pos
	seen := make(map[string]bool)
	c.object(func(key string, start int) {
		if seen[key] {
			c.fail(start, "%s is stated twice", excerpt(key))
			return
		}
		seen[key] = true
		at := c.pos
		switch key {
		case "history":
			if version := c.integer("the version of the format"); version != 1 {
				c.fail(at, `version %d of the format is not supported; expected "history":1`, version)
			}
		case "config":
			h.Config = c.jsonConfig()
		case "expect":
			e, err := parseExpect(c.quoted("a string"))
			if err != nil {
				c.fail(at, "%v", err)
			}
			h.Expect = e
		case "note":
			h.Note = c.quoted("a string")
		case "schedule":
			h.Schedule = c.quoted("a string")
		case "x-layout":
			c.array(func() { h.layout = append(h.layout, c.quoted("a string")) })
		default:
			c.unknownKey(key, start, `history, config, expect, note, schedule`)
		}
	})
	if !seen["history"] {
		c.fail(begin, `expected "history":1 in the first line`)
	}
	c.endOfEvent()
	if err := h.check(); err != nil {
		c.fail(begin, "%v", err)
	}
	return h
}

func (c *cursor) jsonConfig() (config Config) {
	seen := make(map[string]bool)
	c.object(func(key string, at int) {
		s := Setting{key, c.quoted("a string")}
		if err := s.check(); err != nil {
			c.fail(at, "%v", err)
		} else if seen[key] {
			c.fail(at, "config key %s is stated twice", excerpt(key))
		}
		seen[key] = true
		config = append(config, s)
	})
	return config
}

// unknownKey skips the value of an extension and rejects any other key.
func (c *cursor) unknownKey(key string, start int, known string) {
	if strings.HasPrefix(key, "x-") {
		c.skip(0)
		return
	}
	c.fail(start, "unknown key %s; expected one of %s, or x-...", excerpt(key), known)
}

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
