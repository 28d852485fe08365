package histories

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// The notation: one whole operation a line, with both of its times.
//
//	history 1
//	config acks=all
//	1-2 P1 send 1,2 => ok @0
//	3 nemesis kill leader
//	4- P1 send 3
//
// Words are separated by spaces or tabs. A word of letters, digits and
// _-.:/#+, stands for itself, any other is a string in double quotes with the
// escapes of JSON. Only whole lines are comments.

// A notation is a .hist file while it is read.
type notation struct {
	file     string
	header   Header
	seen     map[string]bool // header words met so far
	keys     map[string]bool // config keys met so far
	words    map[string]string
	started  bool // the first item was met
	ops      []Op
	marks    []Mark
	comments []comment
	pending  []string // comments whose place is decided by what follows
	schedule *strings.Builder
	opened   int // line of the schedule block
	note     strings.Builder
	noted    int // line of the note
}

func readNotation(name string, r *bufio.Reader) (*History, error) {
	n := &notation{file: name, seen: make(map[string]bool), keys: make(map[string]bool), words: make(map[string]string)}
	lines := lineReader{name: name, r: r}
	for {
		text, err := lines.next()
		if err == io.EOF {
			return n.whole(lines.line)
		}
		if err != nil {
			return nil, err
		}
		c := newCursor(name, lines.line, text)
		c.words = n.words
		if c.err == nil {
			n.line(c)
		}
		if c.err != nil {
			return nil, c.err
		}
	}
}

// whole returns the history when the file has ended, with that line.
func (n *notation) whole(line int) (*History, error) {
	n.header.Note = n.note.String()
	switch {
	case n.schedule != nil:
		return nil, &Error{File: n.file, Line: n.opened, Column: 1, Msg: `expected a line "end" after the schedule, but the file ends`}
	case n.seen["note"] && n.header.Note == "":
		return nil, &Error{File: n.file, Line: n.noted, Column: 1, Msg: "expected a text after note"}
	case !n.seen["history"] && strings.Join(n.pending, "") == "":
		return nil, &Error{File: n.file, Line: 1, Column: 1, Msg: "the file is empty; expected a history"}
	case !n.seen["history"]:
		return nil, &Error{File: n.file, Line: max(line, 1), Column: 1, Msg: `expected "history 1", but the file ends here`}
	}
	n.start()
	return build(n.file, n.header, n.ops, n.marks, n.comments)
}

// maxComments bounds the memory that lines without content, which may be of a
// byte each, can take.
const maxComments = 1 << 20

// line reads one line, whatever it is.
func (n *notation) line(c *cursor) {
	if n.schedule != nil {
		n.scheduleLine(c, string(c.text))
		return
	}
	c.spaces()
	b := c.peek()
	switch {
	case (c.done() || b == '#') && len(n.comments)+len(n.pending) == maxComments:
		c.fail(0, "expected no more than %d blank lines and comments", maxComments)
	case c.done():
		n.comment("")
	case b == '#':
		n.comment(string(c.text))
	case !n.seen["history"]:
		n.version(c)
	case b >= '0' && b <= '9' || b == '-':
		n.start()
		n.item(c)
	default:
		n.headerLine(c)
	}
}

func (n *notation) comment(text string) {
	if n.started {
		n.comments = append(n.comments, comment{len(n.ops) + len(n.marks), text})
	} else {
		n.pending = append(n.pending, text)
	}
}

// start ends the header: comments after its last line belong to the items.
func (n *notation) start() {
	if n.started {
		return
	}
	n.started = true
	for _, text := range n.pending {
		n.comment(text)
	}
}

// version reads the line that every file must begin with.
func (n *notation) version(c *cursor) {
	start := c.pos
	if word := c.word(`"history 1"`); word != "history" {
		c.fail(start, `expected "history 1", found %s`, excerpt(word))
		return
	}
	c.gap()
	if v := c.integer("the version of the format"); v != 1 {
		c.fail(start, "version %d of the format is not supported; expected \"history 1\"", v)
	}
	n.end(c)
	n.enter("history")
}

// enter notes a header word and the comments before it.
func (n *notation) enter(word string) {
	n.seen[word] = true
	n.header.layout = append(append(n.header.layout, n.pending...), word)
	n.pending = nil
}

// headerLine reads a line that begins with a word.
func (n *notation) headerLine(c *cursor) {
	start := c.pos
	word := c.word("a time, a header word or a comment")
	if c.err != nil {
		return
	}
	switch word {
	case "history", "expect", "schedule":
		if n.seen[word] {
			c.fail(start, "%s is stated twice", word)
			return
		}
	case "config", "note":
	default:
		c.fail(start, "unknown word %s; expected a time, or one of config, note, expect, schedule", excerpt(word))
		return
	}
	if n.started {
		c.fail(start, "%s belongs to the header, which ends before the first operation", word)
		return
	}
	if word == "note" {
		n.noteLine(c)
		return
	}
	c.gap()
	switch word {
	case "config":
		n.config(c)
	case "expect":
		at := c.pos
		e, err := parseExpect(c.rest())
		if err != nil {
			c.fail(at, "%v", err)
		}
		n.header.Expect = e
	case "schedule":
		n.end(c)
		n.schedule, n.opened = new(strings.Builder), c.line
	}
	n.enter(word)
}

// noteLine reads a line of the note, verbatim behind one space.
func (n *notation) noteLine(c *cursor) {
	if !c.done() && !c.take(' ') && !c.take('\t') {
		c.expected("a space")
		return
	}
	if n.seen["note"] {
		n.note.WriteByte('\n')
	}
	n.note.Write(c.text[c.pos:])
	n.noted = c.line
	n.enter("note")
}

func (n *notation) config(c *cursor) {
	if c.done() {
		c.expected("key=value")
	}
	for !c.done() {
		start := c.pos
		key := c.word("a config key")
		if !c.take('=') {
			c.expected(`"=" and a value`)
		}
		s := Setting{key, c.word("a value")}
		c.gap()
		if err := s.check(); err != nil {
			c.fail(start, "%v", err)
		} else if n.keys[key] {
			c.fail(start, "config key %s is stated twice", excerpt(key))
		}
		n.keys[key] = true
		n.header.Config = append(n.header.Config, s)
	}
}

func (n *notation) scheduleLine(c *cursor, text string) {
	if strings.Trim(text, " \t") != "end" {
		n.schedule.WriteString(text)
		n.schedule.WriteByte('\n')
		return
	}
	if n.schedule.Len() == 0 {
		c.fail(0, "expected the lines of a schedule before \"end\"")
	}
	n.header.Schedule, n.schedule = n.schedule.String(), nil
	n.header.scheduleLine = n.opened + 1
}

// end demands that nothing follows on the line.
func (n *notation) end(c *cursor) {
	if c.spaces(); !c.done() {
		c.expected("the end of the line")
	}
}

// item reads an operation or a mark.
func (n *notation) item(c *cursor) {
	place := len(n.ops) + len(n.marks)
	start := c.pos
	call := c.natural("a time")
	if !c.take('-') {
		c.gap()
		m := Mark{Time: call, Offset: None, Index: place, Line: c.line}
		c.mark(&m)
		n.marks = append(n.marks, m)
		return
	}
	o := NewOp("", Send)
	o.Call, o.Index, o.Line = call, place, c.line
	if b := c.peek(); b != ' ' && b != '\t' && b != 0 {
		o.Outcome, o.ReturnLine = Info, c.line
		if o.Return = c.natural("the time of the completion"); c.err == nil && o.Return < call {
			c.fail(start, "the completion at %d is before the invocation at %d", o.Return, call)
		}
	}
	c.gap()
	c.operation(&o)
	n.ops = append(n.ops, o)
}

// operation reads what stands behind the times.
func (c *cursor) operation(o *Op) {
	start := c.pos
	o.Process = c.word("a process")
	c.gap()
	if err := CheckProcess(o.Process); err != nil {
		c.fail(start, "%v", err)
	}
	start = c.pos
	name := c.word("an operation")
	kind, ok := ParseKind(name)
	if !ok {
		c.fail(start, "unknown operation %s; expected one of %s", excerpt(name), strings.Join(kindNames[:], ", "))
	}
	o.Kind = kind
	c.gap()
	c.positional(o)
	c.arguments(o)
	if missing := shapes[kind].asks &^ o.stated(); missing != 0 {
		c.fail(start, "%s needs %s", kind, missing)
	}
	if o.Return == None {
		if !c.done() {
			c.fail(c.pos, `an operation that never completed has no result; expected the end of the line`)
		}
		return
	}
	if !c.take('=') || !c.take('>') {
		c.expected(`an argument or "=> ok", "=> fail" or "=> info"`)
	}
	c.gap()
	c.result(o)
}

// positional reads the argument that has no key.
func (c *cursor) positional(o *Op) {
	switch o.Kind {
	case Send:
		for more := true; more && c.err == nil; more = c.take(',') {
			o.Values = append(o.Values, c.value("a value"))
		}
	case Seek, CommitOffset, DeleteRecords:
		o.To = c.natural("an offset")
	case List:
		if bytes.HasPrefix(c.text[c.pos:], []byte("ts=")) {
			o.At = "ts"
			break
		}
		start := c.pos
		if o.At = c.word("latest, earliest or ts=N"); o.At != "latest" && o.At != "earliest" {
			c.fail(start, "expected latest, earliest or ts=N, found %s", excerpt(o.At))
		}
	default:
		return
	}
	if o.At != "ts" {
		c.gap()
	}
}

// arguments reads key=value pairs in any order, up to the result.
func (c *cursor) arguments(o *Op) {
	var few [8]string
	seen := few[:0]
	for !c.done() && c.peek() != '=' {
		start := c.pos
		key := c.word("an argument")
		if !c.take('=') {
			c.fail(start, `expected key=value or "=>", found %s`, excerpt(key))
			return
		}
		if slices.Contains(seen, key) {
			c.fail(start, "%s is stated twice", key)
			return
		}
		seen = append(seen, key)
		if !c.argument(o, key) {
			c.fail(start, "unknown argument %s of %s%s", excerpt(key), o.Kind, takes(o.Kind.args()&^(fValues|fAt|fTo)))
			return
		}
		c.gap()
	}
}

// takes lists what may stand there instead.
func takes(f field) string {
	if f == 0 {
		return "; expected on"
	}
	return "; expected one of " + f.String() + ", on"
}

// argument reads the value of one argument. It reports false for a key that
// operations of that kind do not have.
func (c *cursor) argument(o *Op, key string) bool {
	start := c.pos
	var bit field
	switch key {
	case "on":
		o.On = c.word("TOPIC/PARTITION")
		if err := checkPartition(o.On); err != nil {
			c.fail(start, "%v", err)
		}
		return true
	case "key":
		o.Key, bit = c.value("an integer or a quoted string").String(), fKey
	case "acks":
		bit = fAcks
		switch o.Acks = c.word("all, 1 or 0"); o.Acks {
		case "all", "1", "0":
		default:
			c.fail(start, "acks: expected all, 1 or 0, found %s", excerpt(o.Acks))
		}
	case "tx":
		if o.Tx, bit = c.word("the name of a transaction"), fTx; o.Tx == "" {
			c.fail(start, "expected the name of a transaction")
		}
	case "from":
		o.From, bit = c.natural("an offset"), fFrom
	case "max":
		o.Max, bit = c.natural("a number of records"), fMax
	case "ts":
		o.TS, bit = c.natural("a timestamp"), fTS
	}
	if o.Kind == List && o.At != "ts" {
		bit &^= fTS
	}
	return bit&o.Kind.args() != 0
}

// result reads what came back.
func (c *cursor) result(o *Op) {
	start := c.pos
	switch word := c.word("ok, fail or info"); word {
	case "ok":
		o.Outcome = OK
	case "fail":
		o.Outcome = Fail
	case "info":
		o.Outcome = Info
	default:
		c.fail(start, "expected ok, fail or info, found %s", excerpt(word))
		return
	}
	c.gap()
	may := o.Kind.results(o.Outcome)
	var has field
	for !c.done() {
		start := c.pos
		bit, what := c.answer(o)
		switch {
		case bit&may == 0:
			c.fail(start, "%s => %s does not have %s; expected %s", o.Kind, o.Outcome, what, answers(may))
		case bit&has != 0:
			c.fail(start, "%s is stated twice", what)
		}
		has |= bit
		c.gap()
	}
	if need := c.needs(o); need&^has != 0 {
		c.expected("the result " + answers(need&^has))
	}
}

// needs returns what must be written behind the outcome. An ok send says @- if
// it was told no offset.
func (c *cursor) needs(o *Op) field {
	if o.Outcome != OK {
		return 0
	}
	if o.Kind == Send {
		return fOffset
	}
	return shapes[o.Kind].answers
}

// answers describes results as the notation writes them.
func answers(f field) string {
	var out []string
	for _, a := range []struct {
		bit  field
		text string
	}{{fCode, "code=NAME"}, {fOffset, "@N"}, {fRecords, "[off:val ...]"}, {fHW, "hw=N"}, {fLSO, "lso=N"}, {fStart, "start=N"}, {fEnd, "end=N"}} {
		if f&a.bit != 0 {
			out = append(out, a.text)
		}
	}
	if out == nil {
		return "the end of the line"
	}
	return strings.Join(out, ", ")
}

// answer reads one part of a result and says what it was.
func (c *cursor) answer(o *Op) (bit field, what string) {
	switch {
	case c.take('@'):
		if o.Kind == Send && c.take('-') {
			return fOffset, "@-"
		}
		o.Offset = c.natural("an offset")
		return fOffset, "an offset"
	case c.peek() == '[':
		c.records(o)
		return fRecords, "records"
	}
	start := c.pos
	key := c.word("a result")
	if !c.take('=') {
		c.fail(start, "expected a result, found %s", excerpt(key))
		return 0, key
	}
	switch key {
	case "hw":
		o.HW, bit = c.natural("an offset"), fHW
	case "lso":
		o.LSO, bit = c.natural("an offset"), fLSO
	case "start":
		o.Start, bit = c.natural("an offset"), fStart
	case "end":
		o.End, bit = c.natural("an offset"), fEnd
	case "code":
		at := c.pos
		if o.Code, bit = c.word("an error code"), fCode; o.Code == "" {
			c.fail(at, "expected an error code")
		}
	}
	return bit, excerpt(key)
}

// records reads [off:val off:val ...].
func (c *cursor) records(o *Op) {
	c.take('[')
	c.spaces()
	for !c.take(']') {
		r := Record{Offset: c.natural("OFFSET:VALUE or \"]\"")}
		if !c.take(':') {
			c.expected(`":" and a value`)
			return
		}
		r.Value = c.value("a value")
		if c.peek() != ']' {
			if c.gap(); c.done() {
				c.expected(`OFFSET:VALUE or "]"`)
				return
			}
		}
		o.Records = append(o.Records, r)
	}
}

// mark reads what stands behind the time of a mark.
func (c *cursor) mark(m *Mark) {
	start := c.pos
	switch word := c.word("nemesis or client"); word {
	case "nemesis":
		c.gap()
		if m.Text = c.rest(); m.Text == "" {
			c.expected("a fault, in words")
		}
	case "client":
		c.gap()
		c.client(m)
	default:
		c.fail(start, "expected nemesis or client, found %s (an operation has two times: CALL-RETURN, or CALL- if it never completed)", excerpt(word))
	}
}

// client reads a process and its marker.
func (c *cursor) client(m *Mark) {
	start := c.pos
	m.Process = c.word("a process")
	if err := CheckProcess(m.Process); err != nil {
		c.fail(start, "%v", err)
	}
	c.gap()
	c.marker(m)
}

// marker reads what a client did beside its operations.
func (c *cursor) marker(m *Mark) {
	start := c.pos
	word := c.word("a marker")
	c.gap()
	switch word {
	case "reset":
		m.Kind = Reset
		if b := c.peek(); b == 'l' || b == 'e' {
			at := c.pos
			if m.To = c.word("latest"); m.To != "latest" && m.To != "earliest" {
				c.fail(at, "expected an offset, latest or earliest, found %s", excerpt(m.To))
			}
		} else {
			m.Offset = c.natural("an offset, latest or earliest")
		}
		c.gap()
	case "assigned":
		m.Kind = Assigned
		if !bytes.HasPrefix(c.text[c.pos:], []byte("from=")) {
			c.expected("from=N")
			return
		}
		c.pos += len("from=")
		m.Offset = c.natural("an offset")
		c.gap()
	case "revoked":
		m.Kind = Revoked
	case "crash":
		m.Kind = Crash
	case "note":
		m.Kind = Note
		if m.Text = c.rest(); m.Text == "" {
			c.expected("a text")
		}
		return
	default:
		c.fail(start, "unknown marker %s; expected one of reset, revoked, assigned, crash, note", excerpt(word))
		return
	}
	c.markerPartition(m)
}

func (c *cursor) markerPartition(m *Mark) {
	if c.done() {
		return
	}
	if !bytes.HasPrefix(c.text[c.pos:], []byte("on=")) {
		c.expected("on=TOPIC/PARTITION or the end of the line")
		return
	}
	c.pos += len("on=")
	start := c.pos
	m.On = c.word("TOPIC/PARTITION")
	if err := checkPartition(m.On); err != nil {
		c.fail(start, "%v", err)
	}
	c.gap()
	if !c.done() {
		c.expected("the end of the line")
	}
}
