package histories

import (
	"bufio"
	"io"
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
