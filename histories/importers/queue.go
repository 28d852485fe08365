package importers

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A queue translates the operations of Jepsen's Kafka workload, whose keys are
// partitions here.
//
// A process of Jepsen is a producer and a consumer of their own, and gets
// another number when they are closed: after an info, a crash, or the end of
// its process. So P3 is the producer of process 3, and its sends overlap where
// one operation holds several. C3:t/4 is its consumer as far as partition t/4
// goes, because one poll answers for many partitions. Where nobody knows any
// more where a consumer stands, it goes on under another name: C3:t/4+1.
type queue struct {
	in        *input
	made      made
	clock     clock
	names     partitions
	open      map[string]*invocation // by process
	consumers map[string]*consumer   // by process

	unsure  []batch      // sends of operations that ended as info
	refused []batch      // sends of operations that ended as fail
	written map[int]bool // those of them that were acknowledged before their operation failed
	aside   map[int]bool // reads of operations that did not end as ok
	aborts  bool         // the recording has transactions
	groups  bool         // it has consumer groups
}

// A batch is the sends of one operation, by their place among all.
type batch struct {
	from, to int
	said     refusal // by the error of one that was refused
}

// An invocation is an operation that was not completed yet.
type invocation struct {
	event
	call     int64
	lastCall int64 // of its sends, which are made one behind the other
	mops     []mop
}

// readQueue reads a recording of the workload. The settings are those that its
// source promises.
func readQueue(in *input, config histories.Config) (*made, error) {
	q := &queue{in: in, open: map[string]*invocation{}, consumers: map[string]*consumer{}, written: map[int]bool{}, aside: map[int]bool{}}
	r := events(in)
	for {
		e, err := r.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = q.event(&e)
		}
		if err != nil {
			return nil, err
		}
	}
	q.never()
	if len(q.made.ops) == 0 {
		return nil, nothingOf(in.name, "operations :send, :poll or :txn of the Kafka workload", &q.made.lost)
	}
	q.settle()
	q.made.config = append(config, histories.Setting{Key: "offsets", Value: "sparse"}, histories.Setting{Key: "reads", Value: "committed"})
	if q.groups {
		q.made.config = append(q.made.config, histories.Setting{Key: "assignment", Value: "subscribe"})
	}
	return &q.made, nil
}

func (q *queue) fail(at *form, format string, args ...any) error {
	return &histories.Error{File: q.in.name, Line: at.line, Column: at.col, Msg: fmt.Sprintf(format, args...)}
}

func (q *queue) event(e *event) error {
	now, err := q.clock.at(e.time)
	if err != nil {
		return q.fail(&e.at, "%v", err)
	}
	switch e.process.kind {
	case keyword:
		words := cmp.Or(e.f, "nemesis")
		if e.value != nil && e.value.kind != nothing {
			words += " " + e.value.String()
		}
		q.made.marks = append(q.made.marks, histories.Mark{Time: now, Kind: histories.Nemesis, Text: clip(words), Offset: histories.None, Line: e.at.line})
		return nil
	case integer:
	default:
		return q.fail(&e.process, "expected :process as an integer or a keyword, found %s", clip(e.process.String()))
	}
	running := q.open[e.process.text]
	switch {
	case e.typ == "invoke" && running != nil:
		return q.fail(&e.at, "process %s has an operation under way (line %d); expected its completion before", e.process.text, running.at.line)
	case e.typ != "invoke" && running == nil:
		return q.fail(&e.at, "process %s has no operation under way; expected its invocation before", e.process.text)
	case e.typ != "invoke" && running.f != e.f:
		return q.fail(&e.at, "process %s completes :%s, and its invocation (line %d) says :%s", e.process.text, clip(e.f), running.at.line, clip(running.f))
	case e.typ == "invoke":
		v := &invocation{event: *e, call: now}
		if v.mops, err = q.mops(e); err == nil {
			q.open[e.process.text] = v
			v.lastCall = q.clock.reserve(int64(max(0, len(v.mops)-1)))
		}
		return err
	}
	delete(q.open, e.process.text)
	return q.complete(running, e, now)
}

// complete translates an operation that ended at that time.
func (q *queue) complete(v *invocation, e *event, now int64) error {
	if e.typ == "ok" && e.err != nil && e.err.kind != nothing {
		q.made.lost.add(e.at.line, "an error told beside an ok :%s", clip(e.f))
	}
	switch e.f {
	case "send", "poll", "txn":
		told, err := q.mops(e)
		if err != nil {
			return err
		}
		if err := q.answer(v, told); err != nil {
			return err
		}
		begin := q.begin(v, e)
		q.sends(v, told, e, now)
		if err := q.polls(v, told, e, now); err != nil {
			return err
		}
		q.end(begin, v, e, now)
	case "assign", "subscribe":
		return q.assign(v, e, now)
	case "crash":
		q.forget(e.process.text)
		q.made.marks = append(q.made.marks, histories.Mark{Time: now, Kind: histories.Crash, Process: "C" + e.process.text, Offset: histories.None, Line: e.at.line})
	default:
		q.made.lost.add(v.at.line, "an operation :%s", clip(e.f))
	}
	return nil
}

// ties reports whether what an operation does is one transaction.
func (q *queue) ties(v *invocation) bool { return v.f == "txn" || q.in.transactions }

// begin ties what follows together, if that is asked for, and returns its place.
func (q *queue) begin(v *invocation, e *event) int {
	q.aborts = q.aborts || e.f == "txn"
	if q.ties(v) {
		o := histories.NewOp("T"+v.process.text, histories.Begin)
		o.Tx, o.Line, o.ReturnLine = fmt.Sprintf("T%d", v.at.line), v.at.line, v.at.line
		o.Call, o.Return, o.Outcome = v.call, v.call, histories.OK
		q.made.ops = append(q.made.ops, o)
	}
	return len(q.made.ops)
}

// end ends a transaction that may have begun before that place, with whatever
// is in it.
func (q *queue) end(from int, v *invocation, e *event, now int64) {
	switch {
	case !q.ties(v):
		return
	case from == len(q.made.ops):
		q.made.ops = q.made.ops[:from-1] // it was empty
		return
	}
	begin := &q.made.ops[from-1]
	for i := range q.made.ops[from:] {
		q.made.ops[from+i].Tx = begin.Tx
	}
	begin.On = q.made.ops[from].On
	o := *begin
	// When in the operation the client asked for it, nobody tells, so it is a
	// process of its own whose commit lasts as long.
	if q.seesItself(q.made.ops[from:]) { // its poll came before
		o.Call = now
	}
	o.Kind, o.Return, o.Line, o.ReturnLine = histories.Commit, now, v.at.line, e.at.line
	switch {
	case e.typ == "ok":
	case e.typ == "fail" && refusalOf(e.err) != unclear:
		o.Kind = histories.Abort
	default:
		o.Outcome, o.Code = histories.Info, code(e.err)
	}
	q.made.ops = append(q.made.ops, o)
}

// seesItself reports whether operations read what one of them sent.
func (q *queue) seesItself(ops []histories.Op) bool {
	own := map[sent]bool{}
	for _, o := range ops {
		for _, v := range o.Values {
			own[sent{o.On, v}] = true
		}
	}
	return slices.ContainsFunc(ops, func(o histories.Op) bool {
		return slices.ContainsFunc(o.Records, func(r histories.Record) bool { return own[sent{o.On, r.Value}] })
	})
}

// never translates what was never completed.
func (q *queue) never() {
	var left []*invocation
	for _, v := range q.open {
		left = append(left, v)
	}
	slices.SortFunc(left, func(a, b *invocation) int { return cmp.Compare(a.call, b.call) })
	for _, v := range left {
		if !slices.Contains([]string{"send", "poll", "txn"}, v.f) {
			q.made.lost.add(v.at.line, "an operation :%s that never completed", clip(v.f))
			continue
		}
		for i := range v.mops {
			if m := &v.mops[i]; m.key != nil {
				q.send(v, m, i, histories.Open, histories.None)
			} else {
				q.made.lost.add(v.at.line, "a poll that never returned")
			}
		}
	}
}

// sends translates the sends of an operation. Jepsen waits for each before the
// next, so each is a batch of its own somewhere in the operation's interval.
func (q *queue) sends(v *invocation, told []mop, e *event, now int64) {
	from := len(q.made.ops)
	for i := range max(len(v.mops), len(told)) {
		outcome := outcomes[e.typ]
		var m *mop
		switch {
		case i < len(told) && told[i].key != nil:
			m = &told[i]
		case i < len(v.mops) && v.mops[i].key != nil: // nothing is told of it
			if m = &v.mops[i]; outcome == histories.OK {
				outcome = histories.Info
			}
		default:
			continue
		}
		if m.answered && outcome == histories.Fail {
			q.written[len(q.made.ops)] = true
		}
		o := q.send(v, m, i, outcome, now)
		o.ReturnLine, o.Offset = e.at.line, m.offset
		if outcome != histories.OK {
			o.Code = code(e.err)
		}
	}
	switch b := (batch{from, len(q.made.ops), refusalOf(e.err)}); {
	case b.from == b.to:
	case e.typ == "info":
		q.unsure = append(q.unsure, b)
	case e.typ == "fail":
		q.refused = append(q.refused, b)
	}
}

// send translates a send, which was the one behind i other parts of its operation.
func (q *queue) send(v *invocation, m *mop, i int, outcome histories.Outcome, returned int64) *histories.Op {
	o := histories.NewOp("P"+v.process.text, histories.Send)
	o.On, o.Values, o.Line = q.names.of(m.key), []histories.Value{valueOf(m.value)}, v.at.line
	o.Call, o.Return, o.Outcome = min(v.call+int64(i), v.lastCall), returned, outcome
	q.made.ops = append(q.made.ops, o)
	return &q.made.ops[len(q.made.ops)-1]
}

// valueOf returns the value of a record: an integer or a string as it is,
// anything else as it is written.
func valueOf(f *form) histories.Value {
	if n, ok := f.int(); ok {
		return histories.Int(n)
	}
	if f.kind == text {
		return histories.String(f.text)
	}
	return histories.String(f.String())
}

// code is an error in a word, where it has one.
func code(err *form) string {
	for err != nil && err.kind == sequence && len(err.items) > 0 {
		err = &err.items[0]
	}
	if err == nil || err.kind == nothing {
		return ""
	}
	if err.kind == keyword || err.kind == text {
		return clip(err.text)
	}
	if t := err.get("type"); t != nil {
		return code(t)
	}
	return clip(err.String())
}
