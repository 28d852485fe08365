package histories

import (
	"fmt"
	"math"

	"pgregory.net/rapid"
)

// genHistory draws well-formed histories: every operation, outcome and mark,
// odd strings, comments, headers in any order. They mean nothing.
func genHistory() *rapid.Generator[*History] {
	return rapid.Custom(func(t *rapid.T) *History {
		header := genHeader(t)
		var ops []Op
		var marks []Mark
		var comments []comment
		now := int64(0)
		free := make(map[string]int64) // process -> the time from which it may call
		processes := rapid.SliceOfNDistinct(genProcess(), 1, 3, rapid.ID).Draw(t, "processes")
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			now += rapid.Int64Range(0, 3).Draw(t, "gap")
			place := len(ops) + len(marks)
			if rapid.IntRange(0, 3).Draw(t, "comment") == 0 {
				comments = append(comments, comment{place, genComment(t)})
			}
			p := rapid.SampledFrom(processes).Draw(t, "process")
			if rapid.IntRange(0, 3).Draw(t, "mark") == 0 || free[p] > now {
				m := genMark(t, p, now)
				m.Index = place
				marks = append(marks, m)
				continue
			}
			o := genOp(t, p, now)
			o.Index = place
			switch {
			case o.Kind == Send && rapid.Bool().Draw(t, "pipelined"):
				o.Outcome, o.Return, o.Code = OK, now+rapid.Int64Range(0, 9).Draw(t, "took"), ""
				second := o
				second.Index++
				second.Return = now + rapid.Int64Range(0, 9).Draw(t, "took")
				ops = append(ops, o)
				o = second
				free[p] = max(ops[len(ops)-1].Return, o.Return)
			case o.Outcome == Open:
				free[p] = math.MaxInt64
			default:
				free[p] = o.Return
			}
			ops = append(ops, o)
		}
		if rapid.Bool().Draw(t, "last comment") {
			comments = append(comments, comment{len(ops) + len(marks), genComment(t)})
		}
		h, err := build("drawn", header, ops, marks, comments)
		if err != nil {
			t.Fatalf("the generator draws a malformed history: %v", err)
		}
		return h
	})
}

func genHeader(t *rapid.T) Header {
	var h Header
	for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom(ConfigKeys), func(k ConfigKey) string { return k.Name }).Draw(t, "config") {
		s := Setting{Key: k.Name}
		switch {
		case k.List:
			s.Value = rapid.SampledFrom([]string{"duplicate", "lost-write,gap", "invariant hw"}).Draw(t, "list")
		case k.Integer:
			s.Value = fmt.Sprint(rapid.Int32Range(1, math.MaxInt32).Draw(t, "integer"))
		default:
			s.Value = rapid.SampledFrom(k.Values).Draw(t, "value")
		}
		h.Config = append(h.Config, s)
	}
	if rapid.Bool().Draw(t, "more config") {
		p := genProcess().Draw(t, "process")
		h.Config = append(h.Config, Setting{isolationPrefix + p, "read_committed"}, Setting{"x-" + rapid.String().Draw(t, "key"), rapid.String().Draw(t, "value")})
	}
	h.Expect = rapid.SampledFrom([]Expect{{}, {Verdict: "ok"}, {Verdict: "unknown"},
		{Verdict: "violation", Names: []string{"lost-write", "invariant high-watermark"}}}).Draw(t, "expect")
	h.Note = rapid.SampledFrom([]string{"", "source=a cluster", "  two\n\n\tlines ", "\n", "x\n"}).Draw(t, "note")
	h.Schedule = rapid.SampledFrom([]string{"", "set a=b\n", "# begin\n\n1 P1 send 1", "history 1\n"}).Draw(t, "schedule")
	for range rapid.IntRange(0, 6).Draw(t, "layout") {
		if rapid.Bool().Draw(t, "commented") {
			h.layout = append(h.layout, genComment(t))
		} else {
			h.layout = append(h.layout, rapid.SampledFrom(headerWords).Draw(t, "word"))
		}
	}
	return h
}

func genComment(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "#", "# why", "  # indented\t", "#é\u2028"}).Draw(t, "comment")
}

// genLine draws text that stands on one line, without spaces around it.
func genLine() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"kill leader", "on=t/0", "=> ok", `"`, `\`, "# no comment", "\ufeff", "a\u0085b", "reset 1"}),
		rapid.StringMatching(`[!-~](.*[!-~])?`).Filter(func(s string) bool { _, msg := unclean([]byte(s)); return msg == "" }),
	)
}

func genProcess() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"P1", "C1", "a b", `"`, "#", "note", "invoke", "x\n\u0000"}), rapid.StringN(1, 5, -1)).
		Filter(func(s string) bool { return CheckProcess(s) == nil })
}

func genValue() *rapid.Generator[Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), Int),
		rapid.Map(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "1", "a,b", "]", "\"\\\n\t\r\b\x00\x7f", "\u2028\U000e0001\U0001f600"})), String),
	)
}

func genOffset() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64Range(0, math.MaxInt64-9))
}

// maybe draws a number that may not be stated.
func maybe(t *rapid.T, name string) int64 {
	return rapid.OneOf(rapid.Just(None), genOffset()).Draw(t, name)
}

func genOp(t *rapid.T, process string, now int64) Op {
	o := NewOp(process, Kind(rapid.IntRange(0, len(kindNames)-1).Draw(t, "kind")))
	o.On = rapid.SampledFrom([]string{"t/0", "t#2/0", "a b/c/12", "é/2147483647"}).Draw(t, "on")
	o.Call = now
	o.Tx = rapid.SampledFrom([]string{"", "T1", "a tx"}).Draw(t, "tx")
	switch o.Kind {
	case Send:
		o.Values = rapid.SliceOfN(genValue(), 1, 3).Draw(t, "values")
		if rapid.Bool().Draw(t, "keyed") {
			o.Key = genValue().Draw(t, "key").String()
		}
		o.Acks = rapid.SampledFrom([]string{"", "all", "1", "0"}).Draw(t, "acks")
		o.TS = maybe(t, "ts")
	case Fetch:
		o.From, o.Max = genOffset().Draw(t, "from"), maybe(t, "max")
	case List:
		if o.At = rapid.SampledFrom([]string{"latest", "earliest", "ts"}).Draw(t, "at"); o.At == "ts" {
			o.TS = genOffset().Draw(t, "ts")
		}
	case Assign:
		o.From = genOffset().Draw(t, "from")
	case Seek, CommitOffset, DeleteRecords:
		o.To = genOffset().Draw(t, "to")
	case Begin, Commit, Abort:
		o.Tx = "T1"
	}
	o.Outcome = Outcome(rapid.IntRange(0, len(outcomeNames)-1).Draw(t, "outcome"))
	if o.Outcome != Open {
		o.Return = now + rapid.Int64Range(0, 9).Draw(t, "took")
		genAnswer(t, &o)
	}
	return o
}

func genAnswer(t *rapid.T, o *Op) {
	may := o.Kind.results(o.Outcome)
	if may&fCode != 0 {
		o.Code = rapid.SampledFrom([]string{"", "NOT_LEADER_OR_FOLLOWER", "nats: connection closed"}).Draw(t, "code")
	}
	if may&fOffset != 0 {
		o.Offset = maybe(t, "offset")
		if o.Kind == List {
			o.Offset = max(o.Offset, 0)
		}
	}
	if may&fRecords != 0 {
		o.Records = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Record {
			return Record{genOffset().Draw(t, "offset"), genValue().Draw(t, "value")}
		}), 0, 3).Draw(t, "records")
	}
	for bit, n := range map[field]*int64{fHW: &o.HW, fLSO: &o.LSO, fStart: &o.Start, fEnd: &o.End} {
		if may&bit != 0 {
			*n = 7
		}
	}
}

func genMark(t *rapid.T, process string, now int64) Mark {
	m := Mark{Time: now, Kind: MarkKind(rapid.IntRange(0, len(markNames)-1).Draw(t, "mark")), Process: process, Offset: None}
	switch m.Kind {
	case Nemesis:
		m.Process = ""
		m.Text = genLine().Draw(t, "fault")
		return m
	case Note:
		m.Text = genLine().Draw(t, "text")
		return m
	case Assigned:
		m.Offset = genOffset().Draw(t, "from")
	case Reset:
		if m.To = rapid.SampledFrom([]string{"", "latest", "earliest"}).Draw(t, "to"); m.To == "" {
			m.Offset = genOffset().Draw(t, "offset")
		}
	}
	m.On = rapid.SampledFrom([]string{"", "t/0", "a b/1"}).Draw(t, "on")
	return m
}
