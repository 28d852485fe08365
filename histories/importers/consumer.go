package importers

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A consumer is that of one process.
type consumer struct {
	seats   map[string]*seat // by partition
	term    int              // counts what made it forget where it stands
	grouped bool             // others may take its partitions at any time
}

// A seat is where a consumer stands in one partition, as far as its name goes.
type seat struct {
	name   string
	term   int // of the consumer: what is of an earlier one is forgotten
	breaks int // how often the position was lost
}

// consumer returns that of a process.
func (q *queue) consumer(process string) *consumer {
	c := q.consumers[process]
	if c == nil {
		c = &consumer{seats: map[string]*seat{}}
		q.consumers[process] = c
	}
	return c
}

// seat returns a process's consumer in a partition.
func (q *queue) seat(process, on string) *seat {
	c := q.consumer(process)
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
	c := q.consumer(process)
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
	if e.f == "subscribe" {
		q.groups, q.consumer(process).grouped = true, true
	} else if e.typ == "ok" {
		q.consumer(process).grouped = false
	}
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

// A harvest is what one operation polled of one partition, answer by answer.
type harvest struct {
	on      string
	answers [][]histories.Record
}

// cut returns the parts in which the consumer moved on from record to record:
// all, for nothing but a rebalance may move it between two polls of one
// operation. In a group not every one is told, and those that are may lie
// between any two records.
func (h *harvest) cut(grouped, moved bool) [][]histories.Record {
	switch all := h.records(); {
	case moved && len(all) > 0:
		return slices.Collect(slices.Chunk(all, 1))
	case grouped:
		return h.answers
	default:
		return [][]histories.Record{all}
	}
}

// records are those of all answers.
func (h *harvest) records() []histories.Record {
	if len(h.answers) == 1 {
		return h.answers[0]
	}
	return slices.Concat(h.answers...)
}

// polls translates the polls of an operation. Whatever became of the operation,
// what they handed out was read.
func (q *queue) polls(v *invocation, told []mop, e *event, now int64) error {
	process := e.process.text
	harvests, silent, err := q.harvest(v, told, e)
	if err != nil {
		return err
	}
	moved := q.rebalanced(e, harvests)
	grouped := q.consumer(process).grouped
	for _, h := range harvests {
		s := q.seat(process, h.on)
		for i, records := range h.cut(grouped, moved[h.on]) {
			if i > 0 || moved[h.on] {
				s.lose(process, h.on)
			}
			o := histories.NewOp(s.name, histories.Poll)
			o.On, o.Call, o.Return, o.Outcome, o.Records = h.on, v.call, now, histories.OK, records
			o.Line, o.ReturnLine = v.at.line, e.at.line
			if e.typ != "ok" {
				q.aside[len(q.made.ops)] = true
			}
			q.made.ops = append(q.made.ops, o)
		}
		if e.typ != "ok" && len(h.records()) > 0 && !silent { // the client seeks back to where the operation began
			q.made.marks = append(q.made.marks, histories.Mark{Time: q.clock.reserve(1), Kind: histories.Reset, Process: s.name, On: h.on, Offset: h.records()[0].Offset, Line: e.at.line})
		}
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
			records, err := q.records(&polled[k+1])
			if err != nil {
				return nil, false, err
			}
			out[n].answers = append(out[n].answers, records)
		}
	}
	return out, silent, nil
}

// records returns the [offset value] pairs of a poll.
func (q *queue) records(f *form) ([]histories.Record, error) {
	if f.kind != sequence && f.kind != nothing {
		return nil, q.fail(f, "expected a vector of [offset value] pairs, found %s", formNames[f.kind])
	}
	to := make([]histories.Record, 0, len(f.items))
	for i := range f.items {
		pair := &f.items[i]
		if pair.kind != sequence || len(pair.items) != 2 {
			return nil, q.fail(pair, "expected an [offset value] pair, found %s", clip(pair.String()))
		}
		if pair.items[0].kind == nothing {
			q.made.lost.addAnswer(pair.line, "a polled record without an offset")
			continue
		}
		n, err := q.offset(&pair.items[0])
		if err != nil {
			return nil, err
		}
		to = append(to, histories.Record{Offset: n, Value: valueOf(&pair.items[1])})
	}
	return to, nil
}

// rebalanced returns the partitions that moved between consumers of a group
// while an operation was under way: the :keys of the maps in its :rebalance-log,
// which some clients cut into :before and :during. If it names no keys, all that
// were polled may have moved.
func (q *queue) rebalanced(e *event, polled []harvest) map[string]bool {
	log := e.at.get("rebalance-log")
	if log == nil || len(log.items) == 0 {
		return nil
	}
	var entries []form
	switch log.kind {
	case sequence:
		entries = log.items
	case mapping:
		for i := 1; i < len(log.items); i += 2 {
			entries = append(entries, log.items[i].items...)
		}
	}
	moved, all := map[string]bool{}, len(entries) == 0
	for i := range entries {
		keys := entries[i].get("keys")
		if all = all || keys == nil; keys != nil {
			for k := range keys.items {
				moved[q.names.of(&keys.items[k])] = true
			}
		}
	}
	if all {
		q.made.lost.add(e.at.line, "a :rebalance-log that does not name :keys, so that every key may have moved")
		for _, h := range polled {
			moved[h.on] = true
		}
	}
	return moved
}
