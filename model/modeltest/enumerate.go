package modeltest

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// Linearizable reports whether some order of the operations, each taking
// effect between its call and its return, is a life of a committed log. It
// tries all of them: only small histories end in reasonable time.
//
// position tells where each read was asked to begin, None where that is not
// known.
func Linearizable(ops []histories.Op, opt Options, position func(*histories.Op) int64) bool {
	e := &enumeration{opt: opt, position: position}
	for i := range ops {
		if o := &ops[i]; o.Outcome != histories.Fail && (o.Kind == histories.Send || o.IsRead() || o.Kind == histories.List) {
			if o.Outcome == histories.OK || o.Kind == histories.Send {
				e.ops = append(e.ops, o)
			}
		}
	}
	for _, o := range e.ops {
		e.top = max(e.top, o.Offset+1, o.End, o.HW)
		for _, r := range o.Records {
			e.top = max(e.top, r.Offset+1)
		}
	}
	e.top += 2
	if opt.Retries {
		e.again = maxAgain
	}
	return e.try(nil, 0, make([]bool, len(e.ops)))
}

// maxAgain bounds how often sends land again, all together.
const maxAgain = 3

type enumeration struct {
	opt      Options
	position func(*histories.Op) int64
	ops      []*histories.Op
	top      int64 // no use in going further
	again    int   // times that a send may still land again
}

// try extends a log by every operation that may come next, in every way.
func (e *enumeration) try(log []histories.Record, end int64, used []bool) bool {
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
		longer := slices.Clone(log)
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
	case o.Kind == histories.List:
		return exact && o.Offset == end || !exact && o.Offset <= end
	case exact && o.HW != histories.None && o.HW != end, o.HW > end, o.End != histories.None && o.End != end:
		return false
	}
	from, to := e.position(o), int64(-1)
	if n := len(o.Records); n > 0 {
		to = o.Records[n-1].Offset + 1
		if from == histories.None || from > o.Records[0].Offset {
			from = o.Records[0].Offset
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
	if len(o.Records) > 0 {
		start = min(start, o.Records[0].Offset)
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
	return slices.Equal(there, o.Records)
}
