package histories

import (
	"bufio"
	"bytes"
	"io"
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
