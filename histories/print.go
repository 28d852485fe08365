package histories

import (
	"strconv"
	"strings"
)

// AppendNotation appends the history in the notation (.hist).
func (h *History) AppendNotation(b []byte) []byte {
	b = h.header.appendNotation(b)
	h.each(func(c *comment, o *Op, m *Mark) {
		switch {
		case c != nil:
			b = append(b, c.text...)
		case o != nil:
			b = o.append(b)
		default:
			b = m.append(b)
		}
		b = append(b, '\n')
	})
	return b
}

// each visits comments, operations and marks in the order of the file; one of
// the three is not nil.
func (h *History) each(visit func(*comment, *Op, *Mark)) {
	o, m, c := 0, 0, 0
	for i := 0; ; i++ {
		for ; c < len(h.comments) && h.comments[c].index == i; c++ {
			visit(&h.comments[c], nil, nil)
		}
		switch {
		case o < len(h.ops) && h.ops[o].Index == i:
			visit(nil, &h.ops[o], nil)
			o++
		case m < len(h.marks):
			visit(nil, nil, &h.marks[m])
			m++
		default:
			return
		}
	}
}

func (h *Header) appendNotation(b []byte) []byte {
	for _, word := range h.lines() {
		switch {
		case isComment(word):
			b = append(b, word...)
		case !h.has(word):
			continue
		case word == "history":
			b = append(b, "history 1"...)
		case word == "config":
			b = append(b, word...)
			for _, s := range h.Config {
				b = append(appendWord(append(b, ' '), s.Key), '=')
				b = appendWord(b, s.Value)
			}
		case word == "note":
			b = append(b, strings.ReplaceAll("note "+h.Note, "\n", "\nnote ")...)
		case word == "expect":
			b = append(append(b, "expect "...), h.Expect.String()...)
		case word == "schedule":
			b = append(append(append(b, "schedule\n"...), h.Schedule...), "end"...)
		}
		b = append(b, '\n')
	}
	return b
}

// String returns the operation as its line in the notation.
func (o *Op) String() string { return string(o.append(nil)) }

func (o *Op) append(b []byte) []byte {
	b = append(strconv.AppendInt(b, o.Call, 10), '-')
	if o.Outcome != Open {
		b = strconv.AppendInt(b, o.Return, 10)
	}
	b = appendWord(append(b, ' '), o.Process)
	b = append(append(b, ' '), o.Kind.String()...)
	b = o.appendArguments(b)
	if o.Outcome == Open {
		return b
	}
	b = append(append(b, " => "...), o.Outcome.String()...)
	return o.appendResult(b)
}

func (o *Op) appendArguments(b []byte) []byte {
	switch o.Kind {
	case Send:
		for i, v := range o.Values {
			b = v.append(append(b, " ,"[min(i, 1)]))
		}
	case Seek, CommitOffset, DeleteRecords:
		b = strconv.AppendInt(append(b, ' '), o.To, 10)
	case List:
		if o.At != "ts" {
			b = append(append(b, ' '), o.At...)
		}
	}
	if o.Key != "" {
		b = append(append(b, " key="...), o.Key...)
	}
	if o.Acks != "" {
		b = append(append(b, " acks="...), o.Acks...)
	}
	b = appendNumber(b, " from=", o.From)
	b = appendNumber(b, " max=", o.Max)
	if o.Kind == List {
		b = appendNumber(b, " ts=", o.TS)
	}
	if o.Tx != "" {
		b = appendWord(append(b, " tx="...), o.Tx)
	}
	if o.Kind != List {
		b = appendNumber(b, " ts=", o.TS)
	}
	if o.On != DefaultPartition {
		b = appendWord(append(b, " on="...), o.On)
	}
	return b
}

func (o *Op) appendResult(b []byte) []byte {
	if o.Code != "" {
		b = appendWord(append(b, " code="...), o.Code)
	}
	switch {
	case o.Offset != None:
		b = strconv.AppendInt(append(b, " @"...), o.Offset, 10)
	case o.Kind == Send && o.Outcome != Fail: // it may have happened, where was not told
		b = append(b, " @-"...)
	}
	if o.Outcome == OK && o.IsRead() {
		b = append(b, " ["...)
		for i, r := range o.Records {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(strconv.AppendInt(b, r.Offset, 10), ':')
			b = r.Value.append(b)
		}
		b = append(b, ']')
	}
	b = appendNumber(b, " hw=", o.HW)
	b = appendNumber(b, " lso=", o.LSO)
	b = appendNumber(b, " start=", o.Start)
	return appendNumber(b, " end=", o.End)
}

// appendNumber appends a number if it is stated.
func appendNumber(b []byte, before string, n int64) []byte {
	if n == None {
		return b
	}
	return strconv.AppendInt(append(b, before...), n, 10)
}

// append appends the value as both encodings write it.
func (v Value) append(b []byte) []byte {
	if s, ok := v.Text(); ok {
		return appendQuoted(b, s)
	}
	return strconv.AppendInt(b, v.num, 10)
}

// String returns the mark as its line in the notation.
func (m *Mark) String() string { return string(m.append(nil)) }

func (m *Mark) append(b []byte) []byte {
	b = strconv.AppendInt(b, m.Time, 10)
	if m.Kind == Nemesis {
		return append(append(b, " nemesis "...), m.Text...)
	}
	return m.appendMarker(append(b, " client "...))
}

// appendMarker appends a client's mark without its time.
func (m *Mark) appendMarker(b []byte) []byte {
	b = append(append(appendWord(b, m.Process), ' '), m.Kind.String()...)
	switch m.Kind {
	case Reset:
		b = append(append(b, ' '), m.To...)
		if m.Offset != None {
			b = strconv.AppendInt(b, m.Offset, 10)
		}
	case Assigned:
		b = appendNumber(b, " from=", m.Offset)
	case Note:
		b = append(append(b, ' '), m.Text...)
	}
	if m.On != "" {
		b = appendWord(append(b, " on="...), m.On)
	}
	return b
}
