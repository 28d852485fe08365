package modeltest

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories"
)

// Linearizable reports whether some order of the operations, each taking
// effect between its call and its return, is a life of a committed log. It
// tries all of them: only small histories end in reasonable time, and of one that
// has too many, with more dead ends than patience, it says that it does not know.
//
// position tells where each read was asked to begin, None where that is not
// known.
func Linearizable(ops []histories.Op, opt Options, position func(*histories.Op) int64, patience int) (legal, known bool) {
	opt.Start = StartOf(ops, opt)
	e := &enumeration{opt: opt, position: position, patience: patience, dead: map[string]bool{}}
	for i := range ops {
		if o := &ops[i]; o.Outcome != histories.Fail && (o.Kind == histories.Send || o.IsRead() || o.Kind == histories.List && o.At != "ts" || o.Kind == histories.DeleteRecords) {
			if o.Outcome == histories.OK || o.Kind == histories.Send {
				e.ops = append(e.ops, o)
			}
		}
	}
	for _, o := range e.ops {
		e.top = max(e.top, o.Offset+1, o.End, o.HW, o.Start)
		for _, r := range o.Records {
			e.top = max(e.top, r.Offset+1)
		}
	}
	e.top += 2
	if opt.Retries {
		e.again = maxAgain
	}
	legal = e.try(nil, 0, make([]bool, len(e.ops)))
	return legal, legal || len(e.dead) < patience
}

// How many dead ends an enumeration remembers before it gives up.
const (
	Patient = 1 << 19 // some hundred megabytes, and a few seconds
	Brief   = 1 << 12 // some milliseconds, and enough for 99 in 100 drawn histories of 9 operations
)

// StartOf returns the log start that a history is judged by: the highest that
// anybody was told, or may have moved it to.
func StartOf(ops []histories.Op, opt Options) int64 {
	start := opt.Start
	for i := range ops {
		start = max(start, startTold(&ops[i]))
	}
	return start
}

// StartTold reports whether anybody was told a log start.
func StartTold(ops []histories.Op) bool {
	return slices.ContainsFunc(ops, func(o histories.Op) bool { return startTold(&o) != histories.None })
}

func startTold(o *histories.Op) int64 {
	switch {
	case o.Kind == histories.List && o.At == "earliest":
		return o.Offset
	case o.Kind == histories.DeleteRecords && o.Outcome != histories.Fail:
		return max(o.To, o.Start)
	}
	return o.Start
}

// maxAgain bounds how often sends land again, all together.
const maxAgain = 3

type enumeration struct {
	opt      Options
	position func(*histories.Op) int64
	ops      []*histories.Op
	top      int64 // no use in going further
	again    int   // times that a send may still land again

	patience int
	dead     map[string]bool // logs, with what is still to come, from which nothing led to the end
	key      []byte          // of the latest one
}

// try reports whether a log can be extended to the end, and remembers from where it
// cannot.
func (e *enumeration) try(log []histories.Record, end int64, used []bool) bool {
	if len(e.dead) >= e.patience || e.dead[string(e.keyOf(log, end, used))] {
		return false
	}
	if e.tryAll(log, end, used) {
		return true
	}
	e.dead[string(e.keyOf(log, end, used))] = true
	return false
}

// keyOf tells apart what a search may go on from.
func (e *enumeration) keyOf(log []histories.Record, end int64, used []bool) []byte {
	key := append(e.key[:0], byte(e.again))
	key = binary.AppendVarint(key, end)
	for _, u := range used {
		key = strconv.AppendBool(key, u)
	}
	for _, r := range log {
		key = binary.AppendVarint(key, r.Offset)
		value := r.Value.String()
		key = append(binary.AppendVarint(key, int64(len(value))), value...)
	}
	e.key = key
	return key
}

// tryAll extends a log by every operation that may come next, in every way.
func (e *enumeration) tryAll(log []histories.Record, end int64, used []bool) bool {
	left := false
	for i, o := range e.ops {
		if e.again > 0 && o.Kind == histories.Send && e.mayBeNext(o, used) {
			told := *o
			told.Offset = histories.None
			e.again--
			ok := e.apply(&told, log, end, used)
			e.again++
			if ok {
				return true
			}
		}
		if used[i] {
			continue
		}
		left = left || e.must(o)
		if e.mayBeNext(o, used) {
			used[i] = true
			ok := e.apply(o, log, end, used)
			used[i] = false
			if ok {
				return true
			}
		}
	}
	return !left // operations of unknown outcome may never take effect
}

// must reports whether the operation certainly took effect in its interval.
func (e *enumeration) must(o *histories.Op) bool {
	return o.Outcome == histories.OK && (o.Kind != histories.Send || o.Acks == "" || o.Acks == "all")
}

// mayBeNext reports whether no other operation was over before this one began.
func (e *enumeration) mayBeNext(o *histories.Op, used []bool) bool {
	for i, other := range e.ops {
		if !used[i] && e.must(other) && other.Return < o.Call {
			return false
		}
	}
	return true
}

// apply lets the operation take effect in every way it can. Where offsets are
// sparse, and below the log start, the end may have moved on unseen.
func (e *enumeration) apply(o *histories.Op, log []histories.Record, end int64, used []bool) bool {
	highest := max(end, e.opt.Start)
	if !e.opt.Dense {
		highest = max(end, e.top)
	}
	for at := end; at <= highest; at++ {
		if o.Kind != histories.Send {
			if e.agrees(o, log, at) && e.try(log, at, used) {
				return true
			}
			continue
		}
		if o.Offset != histories.None && o.Offset != at {
			continue
		}
		longer := append(make([]histories.Record, 0, len(log)+len(o.Values)), log...)
		for j, v := range o.Values {
			longer = append(longer, histories.Record{Offset: at + int64(j), Value: v})
		}
		if e.try(longer, at+int64(len(o.Values)), used) {
			return true
		}
	}
	return false
}

// agrees reports whether a read's answer is right for a log.
func (e *enumeration) agrees(o *histories.Op, log []histories.Record, end int64) bool {
	exact := e.opt.Linearizable
	switch {
	case o.Kind == histories.DeleteRecords:
		return o.Start <= end
	case o.Kind == histories.List && o.At == "earliest":
		return o.Offset <= end
	case o.Kind == histories.List:
		return exact && o.Offset == end || !exact && o.Offset <= end
	case exact && o.HW != histories.None && o.HW != end, o.HW > end, o.Start > end, o.End != histories.None && o.End != end:
		return false
	}
	records := distinct(o.Records)
	from, to := e.position(o), int64(-1)
	if n := len(records); n > 0 {
		to = records[n-1].Offset + 1
		if from == histories.None || from > records[0].Offset {
			from = records[0].Offset
		}
	} else if exact && o.Kind != histories.Scan && from != histories.None {
		to = end // nothing was there
	}
	if o.Kind == histories.Scan {
		to = max(to, o.End)
	}
	// Records below the log start need not be returned. It moves behind whole
	// prefixes: a record that was returned shows that it was not behind that.
	start := e.opt.Start
	if len(records) > 0 {
		start = min(start, records[0].Offset)
	}
	var there []histories.Record
	for _, r := range log {
		if r.Offset < start {
			continue
		}
		if r.Offset >= from && r.Offset < to {
			there = append(there, r)
		}
	}
	// What was below the start at the end of all may be a hole, but not while an
	// answer still spoke for it.
	if first := max(from, start); e.opt.Dense && first < to && int64(len(records)) != to-first {
		return false
	}
	return slices.Equal(there, records)
}

// distinct returns the records of an answer in order, each once: that another
// order, or a record twice, breaks the promise to one client, and says no more
// and no less about the log.
func distinct(records []histories.Record) []histories.Record {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b histories.Record) int { return cmp.Compare(a.Offset, b.Offset) })
	return slices.Compact(records)
}
