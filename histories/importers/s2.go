package importers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// s2 is what the collector of s2-verification writes: one event a line, in the
// order in which they happened, of the operations on one stream of S2. A read
// takes in the whole stream and tells its end and a hash of its contents.
var s2 = Source{
	Name:       "s2",
	Says:       "the JSON lines of s2-verification's collector",
	recognises: regexp.MustCompile(`^\s*\{\s*("event"\s*:\s*\{|"(client_id|op_id)"\s*:)`).Match,
	read:       readS2,
}

// An s2Event is one line.
type s2Event struct {
	Event struct {
		Start, Finish json.RawMessage
	} `json:"event"`
	ClientID *int64 `json:"client_id"`
	OpID     *int64 `json:"op_id"`
}

// An s2Append is what an append asks for.
type s2Append struct {
	NumRecords      *int64   `json:"num_records"`
	RecordHashes    []uint64 `json:"record_hashes"`
	SetFencingToken *string  `json:"set_fencing_token"`
	FencingToken    *string  `json:"fencing_token"`
	MatchSeqNum     *int64   `json:"match_seq_num"`
}

// An s2Answer is what a success tells.
type s2Answer struct {
	Tail       *int64  `json:"tail"`
	StreamHash *uint64 `json:"stream_hash"`
}

// An s2Op is one operation with its answer.
type s2Op struct {
	kind    histories.Kind // Send, Fetch or List
	client  int64
	asked   s2Append
	outcome histories.Outcome
	tail    int64 // that an ok tells
	hash    uint64

	call, returned   int64
	line, returnLine int

	look int // the last one that found it spent, see streams.longer
}

// base is where an acknowledged append landed.
func (o *s2Op) base() int64 { return o.tail - o.records() }

// records is how many an append adds.
func (o *s2Op) records() int64 { return int64(len(o.asked.RecordHashes)) }

// An s2Reader puts events together to operations.
type s2Reader struct {
	in    *input
	line  int
	clock clock
	ops   []*s2Op
	open  map[int64]*s2Op // by op_id
	seen  map[int64]bool
}

func readS2(in *input) (*made, error) {
	r := &s2Reader{in: in, open: map[int64]*s2Op{}, seen: map[int64]bool{}}
	for {
		text, err := in.r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, failed(in.name, r.line+1, err)
		}
		r.line++
		if text = bytes.TrimRight(text, "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			if err := r.event(text); err != nil {
				return nil, err
			}
		}
		if err == io.EOF && len(text) > 0 {
			return nil, lineCutOff(in.name, r.line, len(text)+1)
		}
		if err == io.EOF {
			break
		}
	}
	if len(r.ops) == 0 {
		return nil, nothingOf(in.name, "events of s2-verification", &tally{})
	}
	return translateS2(r.ops), nil
}

func (r *s2Reader) fail(col int, format string, args ...any) error {
	return &histories.Error{File: r.in.name, Line: r.line, Column: col, Msg: fmt.Sprintf(format, args...)}
}

// decode reads JSON that begins at a byte of the line.
func (r *s2Reader) decode(text []byte, at int, into any, expected string) error {
	err := json.Unmarshal(text, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return r.fail(at+max(int(syntax.Offset), 1), "expected %s as JSON: %v", expected, err)
	case errors.As(err, &kind):
		return r.fail(at+max(int(kind.Offset), 1), "expected %s: %s is a %s", expected, cmp.Or(kind.Field, "it"), kind.Value)
	}
	return r.fail(at+1, "expected %s: %v", expected, err)
}

func (r *s2Reader) event(text []byte) error {
	var e s2Event
	if err := r.decode(text, 0, &e, `{"event":{"Start" or "Finish":...},"client_id":N,"op_id":N}`); err != nil {
		return err
	}
	switch {
	case (e.Event.Start == nil) == (e.Event.Finish == nil):
		return r.fail(1, `expected an "event" with either "Start" or "Finish"`)
	case e.ClientID == nil || e.OpID == nil:
		return r.fail(1, `expected "client_id" and "op_id"`)
	}
	now, err := r.clock.at(histories.None)
	if err != nil {
		return r.fail(1, "%v", err)
	}
	if e.Event.Start != nil {
		return r.start(&e, max(bytes.Index(text, e.Event.Start), 0), now)
	}
	return r.finish(&e, max(bytes.Index(text, e.Event.Finish), 0), now)
}

// variant takes apart what is a string, or an object of one key.
func (r *s2Reader) variant(text json.RawMessage, at int, expected string) (name string, arguments json.RawMessage, err error) {
	if len(text) > 0 && text[0] == '"' {
		err = r.decode(text, at, &name, expected)
		return name, nil, err
	}
	var object map[string]json.RawMessage
	if err := r.decode(text, at, &object, expected); err != nil {
		return "", nil, err
	}
	if len(object) != 1 {
		return "", nil, r.fail(at+1, "expected %s, found an object of %d keys", expected, len(object))
	}
	for name, arguments = range object {
	}
	return name, arguments, nil
}

func (r *s2Reader) start(e *s2Event, at int, now int64) error {
	const expected = `"Read", "CheckTail" or {"Append":{...}}`
	name, arguments, err := r.variant(e.Event.Start, at, expected)
	if err != nil {
		return err
	}
	o := &s2Op{client: *e.ClientID, outcome: histories.Open, call: now, returned: histories.None, line: r.line}
	switch {
	case name == "Read" && arguments == nil:
		o.kind = histories.Fetch
	case name == "CheckTail" && arguments == nil:
		o.kind = histories.List
	case name == "Append" && arguments != nil:
		o.kind = histories.Send
		a := &o.asked
		if err := r.decode(arguments, at, a, "the arguments of an append"); err != nil {
			return err
		}
		if a.NumRecords == nil || *a.NumRecords != int64(len(a.RecordHashes)) {
			return r.fail(at+1, "expected as many record_hashes as num_records; there are %d", len(a.RecordHashes))
		}
		if a.MatchSeqNum != nil && *a.MatchSeqNum < 0 {
			return r.fail(at+1, "expected a match_seq_num of 0 or more, found %d", *a.MatchSeqNum)
		}
	default:
		return r.fail(at+1, "expected %s, found %s", expected, clip(string(e.Event.Start)))
	}
	if r.seen[*e.OpID] {
		return r.fail(1, "op_id %d was used before; expected each once", *e.OpID)
	}
	r.seen[*e.OpID], r.open[*e.OpID] = true, o
	r.ops = append(r.ops, o)
	return nil
}

// s2Finishes is what a finish means.
var s2Finishes = map[string]struct {
	kind    histories.Kind
	outcome histories.Outcome
}{
	"AppendSuccess":           {histories.Send, histories.OK},
	"AppendDefiniteFailure":   {histories.Send, histories.Fail},
	"AppendIndefiniteFailure": {histories.Send, histories.Info},
	"ReadSuccess":             {histories.Fetch, histories.OK},
	"ReadFailure":             {histories.Fetch, histories.Fail},
	"CheckTailSuccess":        {histories.List, histories.OK},
	"CheckTailFailure":        {histories.List, histories.Fail},
}

func (r *s2Reader) finish(e *s2Event, at int, now int64) error {
	const expected = `the success or failure of an append, a read or a check of the tail`
	name, arguments, err := r.variant(e.Event.Finish, at, expected)
	if err != nil {
		return err
	}
	o, how := r.open[*e.OpID], s2Finishes[name]
	switch {
	case how.outcome == histories.Open || (arguments != nil) != (how.outcome == histories.OK):
		return r.fail(at+1, "expected %s, found %s", expected, clip(string(e.Event.Finish)))
	case o == nil:
		return r.fail(1, "op_id %d is not under way; expected its Start before", *e.OpID)
	case o.client != *e.ClientID:
		return r.fail(1, "op_id %d was started by client %d (line %d)", *e.OpID, o.client, o.line)
	case o.kind != how.kind:
		return r.fail(at+1, "%s does not finish what op_id %d started (line %d)", name, *e.OpID, o.line)
	}
	delete(r.open, *e.OpID)
	o.outcome, o.returned, o.returnLine = how.outcome, now, r.line
	if how.outcome != histories.OK {
		return nil
	}
	var a s2Answer
	if err := r.decode(arguments, at, &a, "what a success tells"); err != nil {
		return err
	}
	if a.Tail == nil || *a.Tail < 0 || o.kind == histories.Fetch && a.StreamHash == nil {
		return r.fail(at+1, `expected a "tail" of 0 or more, and of a read its "stream_hash"`)
	}
	if o.tail = *a.Tail; o.kind == histories.Send && o.base() < 0 {
		return r.fail(at+1, "expected a tail behind the %d records of the append, found %d", len(o.asked.RecordHashes), o.tail)
	}
	if a.StreamHash != nil {
		o.hash = *a.StreamHash
	}
	return nil
}

// s2Config is what S2 promises.
var s2Config = histories.Config{
	{Key: "system", Value: "other"}, {Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
	{Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"},
}

// translateS2 makes a history of operations in order of their calls.
func translateS2(all []*s2Op) *made {
	m := &made{config: s2Config}
	contents, asked := explainReads(all), conditionsOf(all)
	for _, o := range all {
		op := histories.NewOp(fmt.Sprintf("C%d", o.client), o.kind)
		op.On, op.Call, op.Return, op.Outcome, op.Line, op.ReturnLine = "stream/0", o.call, o.returned, o.outcome, o.line, o.returnLine
		ok := o.outcome == histories.OK
		switch o.kind {
		case histories.Send:
			if len(o.asked.RecordHashes) == 0 {
				m.lost.add(o.line, "an append of no records")
				continue
			}
			m.append(o, &op, asked)
		case histories.List:
			if op.At = "latest"; ok {
				op.Offset = o.tail
			}
		case histories.Fetch:
			if op.From = 0; ok {
				m.read(o, &op, contents[o])
			}
		}
		m.ops = append(m.ops, op)
	}
	return m
}

// append translates an append. One whose place was asked for lands there or
// nowhere. One that was acknowledged although its condition did not hold should have been
// refused: it stands as refused, and its records as read.
func (m *made) append(o *s2Op, op *histories.Op, asked *conditions) {
	for _, h := range o.asked.RecordHashes {
		op.Values = append(op.Values, s2Value(h))
	}
	if o.outcome == histories.OK {
		op.Offset = o.base()
	}
	if match := o.asked.MatchSeqNum; match != nil && o.outcome == histories.Info {
		op.Offset = *match
	}
	if asked.undecided(o) {
		m.lost.add(o.line, "a fencing token of which nobody knows whether it was the stream's")
	}
	code, says := asked.broken(o)
	if code == "" {
		return
	}
	m.lost.add(o.line, "an append that succeeded with %s: it stands as refused, and its records as read", says)
	read := histories.NewOp(op.Process+":took-effect", histories.Fetch)
	read.On, read.Call, read.Return, read.Line, read.ReturnLine = op.On, op.Call, op.Return, op.Line, op.ReturnLine
	read.Outcome, read.From = histories.OK, o.base()
	for i, v := range op.Values {
		read.Records = append(read.Records, histories.Record{Offset: o.base() + int64(i), Value: v})
	}
	m.ops = append(m.ops, read)
	op.Outcome, op.Code, op.Offset = histories.Fail, code, histories.None
}

// s2Value is the value of a record, of which only the hash is known.
func s2Value(hash uint64) histories.Value { return histories.String(fmt.Sprintf("%016x", hash)) }

// read translates a read that succeeded.
func (m *made) read(o *s2Op, op *histories.Op, c content) {
	op.From, op.HW = c.from, o.tail
	op.Records = c.records
	switch {
	case c.known:
	case c.untold:
		m.lost.addAnswer(o.line, "the hash of a read, which too many orders of appends of unknown outcome could explain")
	default:
		op.Records = []histories.Record{{Offset: max(o.tail-1, 0), Value: histories.String(fmt.Sprintf("unexplained: no order of appends has hash %d", o.hash))}}
	}
}

// byReturn sorts operations by when they returned.
func byReturn(all []*s2Op) []*s2Op {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *s2Op) int { return cmp.Compare(a.returned, b.returned) })
	return out
}
