package importers

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
)

// A consumer is that of one process.
type consumer struct {
	seats map[string]*seat // by partition
	term  int              // counts what made it forget where it stands
}

// A seat is where a consumer stands in one partition, as far as its name goes.
type seat struct {
	name   string
	term   int // of the consumer: what is of an earlier one is forgotten
	breaks int // how often the position was lost
}

// seat returns a process's consumer in a partition.
func (q *queue) seat(process, on string) *seat {
	c := q.consumers[process]
	if c == nil {
		c = &consumer{seats: map[string]*seat{}}
		q.consumers[process] = c
	}
	s := c.seats[on]
	if s == nil {
		s = &seat{name: "C" + process + ":" + on, term: c.term}
		c.seats[on] = s
	}
	if s.term != c.term {
		s.term = c.term
		s.lose(process, on)
	}
	return s
}

// lose gives the consumer another name: nobody knows where it stands.
func (s *seat) lose(process, on string) {
	s.breaks++
	s.name = fmt.Sprintf("C%s:%s+%d", process, on, s.breaks)
}

// forget loses the position of a process's consumer in all partitions but those.
func (q *queue) forget(process string, but ...string) {
	c := q.consumers[process]
	if c == nil {
		return
	}
	c.term++
	for _, on := range but {
		if s := c.seats[on]; s != nil && s.term == c.term-1 {
			s.term = c.term
		}
	}
}

// assign translates :assign and :subscribe, which replace what the consumer
// reads: it keeps its position in what it had before and still has.
func (q *queue) assign(v *invocation, e *event, now int64) error {
	value := e.value
	if value == nil || value.kind == nothing {
		value = &form{kind: sequence}
	}
	if value.kind != sequence {
		return q.fail(value, "expected a vector of keys, found %s", formNames[value.kind])
	}
	process := e.process.text
	var ons []string
	for i := range value.items {
		ons = append(ons, q.names.of(&value.items[i]))
	}
	if e.typ == "fail" { // and what of it was done is not told
		ons = nil
	}
	q.forget(process, ons...)
	seek := isTrue(v.at.get("seek-to-beginning?")) || isTrue(e.at.get("seek-to-beginning?"))
	q.groups = q.groups || e.f == "subscribe"
	done := map[string]bool{}
	for _, on := range ons {
		if done[on] {
			continue
		}
		done[on] = true
		o := histories.NewOp(q.seat(process, on).name, histories.Subscribe)
		if e.f == "assign" && !seek {
			continue // where it begins is not told
		}
		if e.f == "assign" {
			o.Kind, o.From = histories.Assign, 0
		}
		o.On, o.Call, o.Return, o.Line, o.ReturnLine = on, v.call, now, v.at.line, e.at.line
		if o.Outcome = histories.OK; e.typ == "info" {
			o.Outcome, o.Code = histories.Info, code(e.err)
		}
		q.made.ops = append(q.made.ops, o)
	}
	return nil
}

func isTrue(f *form) bool { return f != nil && f.kind == atom && f.text == "true" }

// A harvest is what one operation polled of one partition.
type harvest struct {
	on      string
	records []histories.Record
}

// polls translates the polls of an operation. Whatever became of the operation,
// what they handed out was read. All polls of one operation count as one, as
// they do for Jepsen: nothing but a rebalance may move the consumer between them.
func (q *queue) polls(v *invocation, told []mop, e *event, now int64) error {
	process := e.process.text
	harvests, silent, err := q.harvest(v, told, e)
	if err != nil {
		return err
	}
	moved, err := q.rebalanced(e)
	if err != nil {
		return err
	}
	from := len(q.made.ops)
	for _, h := range harvests {
		s := q.seat(process, h.on)
		pieces := [][]histories.Record{h.records}
		if moved[h.on] { // how the rebalance lies among the records is not told
			pieces = pieces[:0]
			for i := range h.records {
				pieces = append(pieces, h.records[i:i+1])
			}
		}
		for _, records := range pieces {
			if moved[h.on] {
				s.lose(process, h.on)
			}
			o := histories.NewOp(s.name, histories.Poll)
			o.On, o.Call, o.Return, o.Outcome, o.Records = h.on, v.call, now, histories.OK, records
			o.Line, o.ReturnLine = v.at.line, e.at.line
			q.made.ops = append(q.made.ops, o)
		}
		if e.typ != "ok" && len(h.records) > 0 && !silent { // the client seeks back to where the operation began
			q.made.marks = append(q.made.marks, histories.Mark{Time: now, Kind: histories.Reset, Process: s.name, On: h.on, Offset: h.records[0].Offset, Line: e.at.line})
		}
	}
	for i := from; e.typ != "ok" && i < len(q.made.ops); i++ {
		q.aside[i] = true
	}
	for on := range moved {
		q.seat(process, on).lose(process, on)
	}
	if silent {
		q.forget(process)
	}
	return nil
}

// harvest collects what an operation polled, by partition in order of first
// mention. It is silent if a poll does not tell what it handed out.
func (q *queue) harvest(v *invocation, told []mop, e *event) (out []harvest, silent bool, err error) {
	place := map[string]int{}
	for i := range max(len(v.mops), len(told)) {
		if i < len(told) && told[i].key != nil || i >= len(told) && v.mops[i].key != nil {
			continue // a send
		}
		if i >= len(told) || told[i].polled == nil {
			silent = true
			q.made.lost.add(v.at.line, "a poll that ended (%s) without telling what it handed out", e.typ)
			continue
		}
		polled := told[i].polled.items
		if len(polled) == 0 {
			q.made.lost.add(v.at.line, "a poll that handed out nothing, which says nothing of any partition")
		}
		for k := 0; k < len(polled); k += 2 {
			on := q.names.of(&polled[k])
			n, ok := place[on]
			if !ok {
				n = len(out)
				place[on], out = n, append(out, harvest{on: on})
			}
			if out[n].records, err = q.records(out[n].records, &polled[k+1]); err != nil {
				return nil, false, err
			}
		}
	}
	return out, silent, nil
}

// records appends the [offset value] pairs of a poll.
func (q *queue) records(to []histories.Record, f *form) ([]histories.Record, error) {
	if f.kind != sequence && f.kind != nothing {
		return nil, q.fail(f, "expected a vector of [offset value] pairs, found %s", formNames[f.kind])
	}
	for i := range f.items {
		pair := &f.items[i]
		if pair.kind != sequence || len(pair.items) != 2 {
			return nil, q.fail(pair, "expected an [offset value] pair, found %s", clip(pair.String()))
		}
		offset := &pair.items[0]
		n, ok := offset.int()
		switch {
		case offset.kind == nothing:
			q.made.lost.add(pair.line, "a polled record without an offset")
		case !ok || n < 0:
			return nil, q.fail(offset, "expected an offset of 0 or more that fits in 64 bits, found %s", clip(offset.String()))
		default:
			to = append(to, histories.Record{Offset: n, Value: valueOf(&pair.items[1])})
		}
	}
	return to, nil
}

// rebalanced returns the partitions that moved between consumers of a group
// while an operation was under way.
func (q *queue) rebalanced(e *event) (map[string]bool, error) {
	log := e.at.get("rebalance-log")
	if log == nil || len(log.items) == 0 {
		return nil, nil
	}
	moved := map[string]bool{}
	for i := range log.items {
		keys := log.items[i].get("keys")
		if keys == nil || keys.kind != sequence {
			return nil, q.fail(&log.items[i], "expected a map with :keys in the :rebalance-log, found %s", clip(log.items[i].String()))
		}
		for k := range keys.items {
			moved[q.names.of(&keys.items[k])] = true
		}
	}
	return moved, nil
}
