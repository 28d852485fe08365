package histories

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// checkOverlap demands that a process does one thing at a time, except that
// its sends may be pipelined. Intervals that meet at an instant do not overlap.
func checkOverlap(name string, ops []Op) error {
	type busy struct {
		send, other int // operation that ends last, plus one
	}
	var last []busy // of each process
	for i := range ops {
		o := &ops[i]
		for len(last) <= o.ProcessNumber() {
			last = append(last, busy{})
		}
		b := &last[o.ProcessNumber()]
		rivals := [2]int{b.other, b.send}
		if o.Kind == Send {
			rivals[1] = 0
		}
		for _, r := range rivals {
			if r == 0 || !ops[r-1].overlaps(o) {
				continue
			}
			p, hint := &ops[r-1], ""
			if p.Kind == Send && (o.Kind == Commit || o.Kind == Abort) {
				hint = fmt.Sprintf(" (%s begins when the sends that it waits for have ended: flush them before)", o.Kind)
			}
			return &Error{File: name, Line: o.Line, Column: min(o.Line, 1), Msg: at(o.Line, "operation", i) +
				fmt.Sprintf("process %s calls %s at %d while its %s of time %d%s is under way; only sends of one process may overlap%s",
					excerpt(o.Process), o.Kind, o.Call, p.Kind, p.Call, onLine(p.Line), hint)}
		}
		mine := &b.other
		if o.Kind == Send {
			mine = &b.send
		}
		if *mine == 0 || ops[*mine-1].end() <= o.end() {
			*mine = i + 1
		}
	}
	return nil
}

func onLine(n int) string {
	if n == 0 {
		return ""
	}
	return " (line " + strconv.Itoa(n) + ")"
}

// end is the time at which the operation stops occupying its process.
func (o *Op) end() int64 {
	if o.Outcome == Open {
		return forever
	}
	return o.Return
}

// forever is later than every event.
const forever = math.MaxInt64

// overlaps reports whether the operation is under way when a later one of its
// process is called. One that never completed is for ever.
func (o *Op) overlaps(later *Op) bool { return o.Outcome == Open || o.Return > later.Call }

// check returns what is wrong with an operation by itself.
func (o *Op) check() error {
	if err := o.checkCall(); err != nil {
		return err
	}
	return o.checkReturn()
}

// checkCall returns what is wrong with the operation's invocation.
func (o *Op) checkCall() error {
	if int(o.Kind) >= len(kindNames) {
		return fmt.Errorf("unknown kind of operation %d", o.Kind)
	}
	if err := CheckProcess(o.Process); err != nil {
		return err
	}
	if err := checkPartition(o.On); err != nil {
		return err
	}
	if err := negative(stated{"time of invocation", o.Call}); err != nil {
		return err
	}
	has, s := o.stated(), shapes[o.Kind]
	const asked = fValues | fKey | fAcks | fTx | fFrom | fMax | fAt | fTS | fTo
	if missing := s.asks &^ has; missing != 0 {
		return fmt.Errorf("%s needs %s", o.Kind, missing)
	}
	if extra := has & asked &^ o.Kind.args(); extra != 0 {
		return fmt.Errorf("%s does not take %s (numbers that are not stated are None)", o.Kind, extra)
	}
	if err := negative(stated{"from", o.From}, stated{"max", o.Max}, stated{"ts", o.TS}, stated{"offset", o.To}); err != nil {
		return err
	}
	for _, v := range o.Values {
		if err := v.check(); err != nil {
			return err
		}
	}
	switch o.Acks {
	case "", "all", "1", "0":
	default:
		return fmt.Errorf("acks: expected all, 1 or 0, found %s", excerpt(o.Acks))
	}
	if o.Kind == List {
		return o.checkAt()
	}
	if o.Key != "" {
		return checkKey(o.Key)
	}
	return checkUTF8("tx", o.Tx)
}

func (o *Op) checkAt() error {
	switch o.At {
	case "latest", "earliest":
		if o.TS != None {
			return fmt.Errorf("list %s does not take ts", o.At)
		}
	case "ts":
		if o.TS == None {
			return fmt.Errorf("list at a timestamp needs ts")
		}
	default:
		return fmt.Errorf("list: expected latest, earliest or ts=N, found %s", excerpt(o.At))
	}
	return checkUTF8("tx", o.Tx)
}

// checkReturn returns what is wrong with the operation's completion.
func (o *Op) checkReturn() error {
	if int(o.Outcome) >= len(outcomeNames) {
		return fmt.Errorf("unknown outcome %d", o.Outcome)
	}
	if o.Outcome == Open {
		if o.Return != None {
			return fmt.Errorf("an operation that never completed has no time of completion (it is None)")
		}
	} else if o.Return < o.Call {
		return fmt.Errorf("the completion at %d is before the invocation at %d", o.Return, o.Call)
	}
	const answered = fCode | fOffset | fRecords | fHW | fLSO | fStart | fEnd
	has := o.stated() & answered
	if o.Outcome == OK {
		if missing := shapes[o.Kind].answers &^ has; missing != 0 {
			return fmt.Errorf("%s => ok needs %s", o.Kind, missing)
		}
	}
	if extra := has &^ o.Kind.results(o.Outcome); extra != 0 {
		return fmt.Errorf("%s => %s does not have %s (numbers that are not stated are None)", o.Kind, o.Outcome, extra)
	}
	if err := negative(stated{"offset", o.Offset}, stated{"hw", o.HW}, stated{"lso", o.LSO}, stated{"start", o.Start}, stated{"end", o.End}); err != nil {
		return err
	}
	if o.Kind == Send && o.Offset > math.MaxInt64-int64(len(o.Values)) {
		return fmt.Errorf("offset %d and a batch of %d records do not fit in 64 bits", o.Offset, len(o.Values))
	}
	for _, r := range o.Records {
		if r.Offset < 0 || r.Offset == math.MaxInt64 {
			return fmt.Errorf("offset of a record: expected 0 to 2^63-2, found %d", r.Offset)
		}
		if err := r.Value.check(); err != nil {
			return err
		}
	}
	return checkUTF8("code", o.Code)
}

// stated is a number that may be None.
type stated struct {
	what string
	n    int64
}

func negative(numbers ...stated) error {
	for _, s := range numbers {
		if s.n < 0 && (s.n != None || s.what == "time of invocation") {
			return fmt.Errorf("%s %d is negative", s.what, s.n)
		}
	}
	return nil
}

// check returns what is wrong with a mark by itself.
func (m *Mark) check() error {
	if int(m.Kind) >= len(markNames) {
		return fmt.Errorf("unknown kind of mark %d", m.Kind)
	}
	if m.Time < 0 {
		return fmt.Errorf("time %d is negative", m.Time)
	}
	if m.Kind == Nemesis || m.Kind == Note {
		return m.checkText()
	}
	if err := CheckProcess(m.Process); err != nil {
		return err
	}
	if m.On != "" {
		if err := checkPartition(m.On); err != nil {
			return err
		}
	}
	if m.Text != "" {
		return fmt.Errorf("%s has no text; a note does", m.Kind)
	}
	named := m.To == "latest" || m.To == "earliest"
	switch {
	case m.To != "" && (m.Kind != Reset || !named):
		return fmt.Errorf("%s: unexpected target %s", m.Kind, excerpt(m.To))
	case m.Offset < None:
		return fmt.Errorf("offset %d is negative", m.Offset)
	case m.Kind == Assigned && m.Offset == None, m.Kind == Reset && (m.Offset == None) != named:
		return fmt.Errorf("%s needs one place to go to", m.Kind)
	case m.Kind != Assigned && m.Kind != Reset && m.Offset != None:
		return fmt.Errorf("%s has no offset (it is None)", m.Kind)
	}
	return nil
}

func (m *Mark) checkText() error {
	if m.Kind == Nemesis && m.Process != "" {
		return fmt.Errorf("nemesis is not the mark of a process")
	}
	if m.Kind == Note {
		if err := CheckProcess(m.Process); err != nil {
			return err
		}
	}
	if m.On != "" || m.To != "" || m.Offset != None {
		return fmt.Errorf("%s has nothing but text", m.Kind)
	}
	if m.Text == "" || m.Text != strings.Trim(m.Text, " \t") {
		return fmt.Errorf("expected a text without spaces around it, found %s", excerpt(m.Text))
	}
	if _, msg := unclean([]byte(m.Text)); msg != "" {
		return fmt.Errorf("%s: %s", m.Kind, msg)
	}
	return nil
}

func (v Value) check() error {
	if s, ok := v.Text(); ok {
		return checkUTF8("value", s)
	}
	return nil
}

func checkUTF8(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %s is not valid UTF-8", what, excerpt(s))
	}
	return nil
}

// CheckProcess returns what is wrong with the name of a process, nil if
// operations may have it.
func CheckProcess(p string) error {
	switch p {
	case "":
		return fmt.Errorf("expected the name of a process")
	case "nemesis", "client":
		return fmt.Errorf("%q is not the name of a process: the format uses it for marks", p)
	}
	return checkUTF8("process", p)
}

// checkPartition accepts TOPIC/PARTITION. The partition is what stands behind
// the last slash: a topic may contain slashes.
func checkPartition(on string) error {
	i := strings.LastIndexByte(on, '/')
	if i > 0 {
		n, err := strconv.ParseInt(on[i+1:], 10, 32)
		if err == nil && n >= 0 && strconv.FormatInt(n, 10) == on[i+1:] {
			return checkUTF8("partition", on)
		}
	}
	return fmt.Errorf("expected TOPIC/PARTITION, found %s", excerpt(on))
}

// checkKey accepts a key as the notation writes it.
func checkKey(key string) error {
	c := newCursor("", 0, []byte(key))
	if v := c.value("key"); c.err != nil || !c.done() || v.String() != key {
		return fmt.Errorf("key: expected an integer or a quoted string, found %s", excerpt(key))
	}
	return nil
}
