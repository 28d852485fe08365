package importers

import (
	"bufio"
	"bytes"
	"io"
	"regexp"

	"github.com/isrcheck/isrcheck/histories"
)

// An event is an operation map of Jepsen: an invocation, a completion, or
// something that the nemesis did.
type event struct {
	typ, f  string
	process form
	value   *form // nil if it has none
	err     *form
	at      form // the map, for its place and its other keys
	time    int64
}

// An eventReader reads events one after another, up to io.EOF.
type eventReader interface{ next() (event, error) }

// events returns the reader that fits the text: lines of a history.txt, or EDN.
func events(in *input) eventReader {
	head, _ := in.r.Peek(headSize)
	if lineOfText.Match(head) {
		return &textReader{file: in.name, r: in.r}
	}
	return &mapReader{edn: newEDN(in.name, in.r, 1, 1), last: histories.None}
}

// A mapReader reads operation maps as EDN: one behind the other, or in a vector
// or list.
type mapReader struct {
	edn    *ednReader
	end    byte  // that closes the vector, 0 outside
	closed bool  // a vector was closed, behind which a line break says nothing
	last   int64 // index of the event before
}

func (m *mapReader) next() (event, error) {
	for {
		b, err := m.edn.skip(0)
		switch {
		case err == io.EOF && m.end != 0:
			return event{}, m.edn.cutOff(err, string(m.end))
		case err == io.EOF && m.edn.col > 1 && !m.closed:
			return event{}, lineCutOff(m.edn.file, m.edn.line, m.edn.col)
		case err != nil:
			return event{}, err
		case m.end == 0 && b == '#' && m.edn.tagged():
			if b, err = m.edn.tag(); err != nil {
				return event{}, err
			}
			if b != '[' && b != '(' { // it is that of a map
				return m.operation(1)
			}
		case m.end == 0 && (b == '[' || b == '('):
			m.end = closing[b]
			m.edn.byte()
		case m.end != 0 && b == m.end:
			m.end, m.closed = 0, true
			m.edn.byte()
		default:
			return m.operation(0)
		}
	}
}

// operation reads an operation map that is nested so deep.
func (m *mapReader) operation(depth int) (event, error) {
	f, err := m.edn.form(depth)
	if err != nil {
		return event{}, err
	}
	return m.event(f)
}

// event takes the fields out of a map.
func (m *mapReader) event(f form) (event, error) {
	fail := func(at *form, format string, args ...any) (event, error) {
		return event{}, m.edn.errorAt(at.line, at.col, format, args...)
	}
	if f.kind != mapping {
		return fail(&f, "expected a map, an operation of Jepsen, found %s", formNames[f.kind])
	}
	typ, process := f.get("type"), f.get("process")
	switch {
	case process == nil:
		return fail(&f, "expected an operation with :process")
	case typ == nil:
		return fail(&f, "expected an operation with :type")
	case typ.kind != keyword || !isType(typ.text):
		return fail(typ, "expected :invoke, :ok, :fail or :info, found %s", clip(typ.String()))
	}
	e := event{typ: typ.text, process: *process, at: f, value: f.get("value"), err: f.get("error"), time: histories.None}
	if name := f.get("f"); name != nil && name.kind != nothing {
		if e.f = name.text; name.kind != keyword {
			e.f = name.String()
		}
	}
	if t := f.get("time"); t != nil && t.kind != nothing {
		n, ok := t.int()
		if !ok {
			return fail(t, "expected :time as an integer that fits in 64 bits, found %s", clip(t.String()))
		}
		e.time = n
	}
	if i := f.get("index"); i != nil && i.kind != nothing {
		n, ok := i.int()
		if !ok || n <= m.last && n >= 0 {
			return fail(i, "expected an :index higher than the one before (%d), found %s", m.last, clip(i.String()))
		}
		m.last = n
	}
	return e, nil
}

// outcomes are the types of completions.
var outcomes = map[string]histories.Outcome{"ok": histories.OK, "fail": histories.Fail, "info": histories.Info}

func isType(typ string) bool { return typ == "invoke" || outcomes[typ] != histories.Open }

// lineOfText is how a line of a history.txt begins.
var lineOfText = regexp.MustCompile(`^(-?\d+|:[^\s]+)\t:(invoke|ok|fail|info)\t`)

// A textReader reads the lines of a history.txt: process, type, f, value and,
// where there is one, the error, between tabs. It tells no times.
type textReader struct {
	file string
	r    byteLines
	line int
	held []byte // the line was read and belongs to the next event
}

// byteLines is what reads up to a delimiter.
type byteLines interface{ ReadBytes(byte) ([]byte, error) }

func (t *textReader) next() (event, error) {
	line, err := t.read()
	if err != nil {
		return event{}, err
	}
	start := t.line
	if !lineOfText.Match(line) {
		return event{}, &histories.Error{File: t.file, Line: start, Column: 1,
			Msg: "expected a process, a tab, :invoke, :ok, :fail or :info, and a tab, found " + clip(string(bytes.ToValidUTF8(line, []byte("?"))))}
	}
	e, err := t.event(line, start)
	if err != nil || e.err == nil {
		return e, err
	}
	for { // an error is printed as it is, and may have several lines
		more, err := t.read()
		if err == io.EOF {
			return e, nil
		}
		if err != nil {
			return e, err
		}
		if lineOfText.Match(more) {
			t.held = more
			return e, nil
		}
	}
}

// read returns the next line that is not blank.
func (t *textReader) read() ([]byte, error) {
	if line := t.held; line != nil {
		t.held = nil
		return line, nil
	}
	for {
		line, err := t.r.ReadBytes('\n')
		t.line++
		if err != nil && err != io.EOF {
			return nil, failed(t.file, t.line, err)
		}
		if err == io.EOF && len(line) == 0 {
			return nil, err
		}
		if err == io.EOF {
			return nil, lineCutOff(t.file, t.line, len(line)+1)
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			return line, nil
		}
	}
}

// event takes the fields out of a line.
func (t *textReader) event(line []byte, number int) (event, error) {
	e := event{time: histories.None, at: form{line: number, col: 1}}
	fields := bytes.SplitN(line, []byte("\t"), 5)
	col := 1
	for i, field := range fields {
		f, err := t.form(field, number, col)
		if i == 4 {
			if err != nil || len(field) == 0 { // it is in words, perhaps in the lines below
				f = form{kind: text, text: string(bytes.ToValidUTF8(field, []byte("?"))), line: number, col: col}
			}
			e.err = &f
			break
		}
		if err != nil {
			return event{}, err
		}
		switch i {
		case 0:
			e.process = f
		case 1:
			e.typ = f.text
		case 2:
			e.f = f.text
		case 3:
			e.value = &f
		}
		col += len(field) + 1
	}
	return e, nil
}

// form reads a field, which is one form; an empty field is nil.
func (t *textReader) form(field []byte, line, col int) (form, error) {
	e := newEDN(t.file, bufio.NewReaderSize(bytes.NewReader(field), 16), line, col)
	f, err := e.next()
	if err == io.EOF {
		return form{line: line, col: col}, nil
	}
	if err != nil {
		return f, err
	}
	if _, err := e.skip(0); err != io.EOF {
		return f, e.fail("expected a tab behind %s", formNames[f.kind])
	}
	return f, nil
}
