package histories

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzNotation and FuzzEvents demand that no input makes a reader panic, and
// that what it accepts survives both printers.
func FuzzNotation(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfhistory 1\r\nconfig  acks=all\r\n1-1 \"a\\u0000b\" send -9223372036854775808,\"\\ud83d\\ude00\" on=\"/\u202e\"/0 => ok @9223372036854775800\r\n"))
	fuzz(f, (*History).AppendNotation)
}

// FuzzEvents also compares the ways of reading events with each other and with
// encoding/json.
func FuzzEvents(f *testing.F) {
	const head = "{\"history\":1}\n"
	for _, line := range []string{
		`{"f":"send","time":1,"process":"P1","type":"invoke","values":[1,"\u0041",-9223372036854775808],"id":7}`,
		`{"values":[1],"x-a":{"b":[1e3,null]},"type":"invoke","f":"send","process":"P\u00e9","time":1}`,
		`{ "time" : 1 , "process" : "C1" , "type" : "invoke" , "f" : "fetch" , "from" : 0 , "max" : 9223372036854775807 }`,
		`{"time":1,"time":2,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":1.0,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":-0,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":1e3,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":9223372036854775808,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":01,"process":"C1","type":"invoke","f":"poll"}`,
		`{"Time":1,"process":"C1","type":"invoke","f":"poll"}`,
		`{"time":1,"process":"C1","type":"invoke","f":"poll",}`,
		`{"time":1,"process":"C1","type":"invoke","f":"poll"} x`,
		`{"time":1,"process":"C1","type":"invoke","f":"list","at":"ts","ts":0}`,
		`{"time":1,"process":"C1","type":"invoke","f":"seek","offset":null}`,
		`{"time":1,"process":"C1","type":"info","f":"reset latest on=t/1"}`,
		`{"time":1,"process":"P1","type":"invoke","f":"send","values":[-5],"key":-7}`,
		`{"time":1,"process":"P1","type":"invoke","f":"send","values":[- 5]}`,
		`{"time":1,"process":"P1","type":"invoke","f":"send","values":[5],"key": "a b" }`,
	} {
		f.Add([]byte(head + line + "\r\n" + `{"time":9,"process":"C1","type":"ok","f":"poll","records":[[0,1],[1,"b"]],"hw":2}` + "\n"))
	}
	fuzz(f, (*History).AppendEvents)
}

func fuzz(f *testing.F, print func(*History, []byte) []byte) {
	all, err := Corpus()
	if err != nil {
		f.Fatal(err)
	}
	for _, h := range all {
		if len(h.Ops()) < 100 {
			f.Add(print(h, nil))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, line := range bytes.Split(text, []byte("\n")) {
			compareLine(t, line)
		}
		h, err := Parse("x", text)
		compareStream(t, text, h)
		if err != nil {
			var e *Error
			if e = err.(*Error); e.Line < 1 || e.Column < 1 || e.File != "x" {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		for _, again := range [][]byte{h.AppendNotation(nil), h.AppendEvents(nil)} {
			if g, err := Parse("x", again); err != nil || !same(h, g) {
				t.Errorf("%v: printed as\n%s", err, again)
			}
		}
	})
}

// A gathering is a sink that keeps everything.
type gathering struct {
	header Header
	ops    map[int]Op // by Index
	marks  []Mark
}

func (g *gathering) Header(h Header) bool { g.header = h; return true }

func (g *gathering) Op(o *Op, _ int) bool {
	c := *o
	c.Values, c.Records = slices.Clone(o.Values), slices.Clone(o.Records)
	// A sink may be lent an empty part of a shared array where a history has none.
	if len(c.Values) == 0 {
		c.Values = nil
	}
	if len(c.Records) == 0 {
		c.Records = nil
	}
	g.ops[o.Index] = c
	return true
}

func (g *gathering) Mark(m *Mark) bool { g.marks = append(g.marks, *m); return true }

// compareStream demands that a history which is streamed to its end is the one
// that is read as a whole, which is nil if there is none.
func compareStream(t *testing.T, text []byte, h *History) {
	t.Helper()
	g := &gathering{ops: map[int]Op{}}
	if Stream("x", bytes.NewReader(text), g) != nil {
		return
	}
	if h == nil {
		t.Fatalf("streamed, and not read: %q", text)
	}
	var ops []Op
	for _, i := range slices.Sorted(maps.Keys(g.ops)) {
		ops = append(ops, g.ops[i])
	}
	streamed, err := New("x", g.header, ops, g.marks)
	if err != nil {
		t.Fatalf("%v: streamed: %q", err, text)
	}
	plain := *h
	plain.comments = streamed.comments
	if !same(streamed, &plain) {
		t.Errorf("%q: streamed as\n%s\nread as\n%s", text, streamed.AppendNotation(nil), h.AppendNotation(nil))
	}
}

// compareLine demands that the scanner understands a line as the general
// decoder does, and that what that accepts is JSON of the same content.
func compareLine(t *testing.T, line []byte) {
	t.Helper()
	b := &block{text: line, line: 1, events: []scanned{{line: 1}}}
	e := &b.events[0]
	s := scanner{block: b, e: e, text: line}
	scans := s.event() && (e.on == nil || checkPartition(string(e.on)) == nil) // as streaming asks for
	c := newCursor("x", 1, bytes.TrimSuffix(line, []byte("\r")))
	c.spaces()
	if blank := c.done(); blank && c.err == nil {
		return
	}
	var general Event
	if c.err == nil {
		general = c.event()
	}
	if c.err != nil {
		if scans {
			t.Errorf("%q is scanned and rejected: %v", line, c.err)
		}
		return
	}
	compareJSON(t, line, &general)
	if !scans {
		return
	}
	o := &general.Op
	if e.kind != o.Kind || e.time != max(o.Call, o.Return) || e.id != general.ID || string(e.process) != o.Process ||
		string(e.words[wordKey]) != o.Key || e.said != general.said || (e.typ == scannedInvoke) != (general.Type == Invoked) ||
		!slices.Equal(b.values[e.values[0]:e.values[1]], o.Values) || !slices.Equal(b.records[e.records[0]:e.records[1]], o.Records) {
		t.Errorf("%q is scanned as %+v and read as %+v", line, *e, general)
	}
}

// compareJSON compares an event with what encoding/json reads in its line.
func compareJSON(t *testing.T, line []byte, e *Event) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil || !json.Valid(line) {
		t.Fatalf("%q is read, and no JSON: %v", line, err)
	}
	if e.Type == Commented || e.Type == Marked {
		return
	}
	got := map[string]any{}
	for key := range m {
		if strings.HasPrefix(key, "x-") || key == "index" || key == "offset" && m[key] == nil {
			delete(m, key)
		}
	}
	o := &e.Op
	for k, key := range eventKeys {
		if e.at[k] == 0 || k == kIndex {
			continue
		}
		got[key] = map[int]any{
			kTime: Int(max(o.Call, o.Return)), kProcess: o.Process, kOn: o.On, kID: Int(e.ID), kOffset: Int(max(o.Offset, o.To)),
			kF: o.Kind.String(), kType: m["type"], kValues: o.Values, kKey: m["key"], kAcks: o.Acks, kTx: o.Tx, kFrom: Int(o.From), kMax: Int(o.Max),
			kAt: o.At, kTS: Int(o.TS), kCode: o.Code, kRecords: o.Records, kHW: Int(o.HW), kLSO: Int(o.LSO), kStart: Int(o.Start), kEnd: Int(o.End),
		}[k]
	}
	if a, b := plainJSON(got), plainJSON(m); !reflect.DeepEqual(a, b) {
		t.Errorf("%q is read as\n%v\nand is\n%v", line, a, b)
	}
}

// plainJSON brings both kinds of values into one form.
func plainJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = plainJSON(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, plainJSON(e))
		}
		return out
	case []Value:
		out := []any{}
		for _, e := range v {
			out = append(out, plainJSON(e))
		}
		return out
	case []Record:
		out := []any{}
		for _, r := range v {
			out = append(out, []any{plainJSON(Int(r.Offset)), plainJSON(r.Value)})
		}
		return out
	case Value:
		if s, ok := v.Text(); ok {
			return s
		}
		return json.Number(v.String())
	}
	return v
}
