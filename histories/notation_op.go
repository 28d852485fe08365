package histories

import (
	"bytes"
	"slices"
	"strings"
)

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
