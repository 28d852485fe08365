package importers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A kvLog is what one key held from one put to the next: that of the put, and
// what was appended behind it. The first one begins empty.
type kvLog struct {
	put      *kvOp // nil for the first
	on       string
	from, to int64 // it was there at no other time
	begun    int64 // it was by then
	until    int64 // it was there so long
	lastCall int64 // of the gets that read it and what they show: what had returned before has to be shown, too
}

// alive reports whether the log may have been there while an operation was
// under way.
func (l *kvLog) alive(o *kvOp) bool { return l.from <= o.ended() && o.call <= l.to }

// lasts reports whether the log was certainly there, and no other, all the while an
// operation was under way.
func (l *kvLog) lasts(o *kvOp) bool { return l.begun <= o.call && o.ended() <= l.until }

// ended is the time after which the operation takes no effect.
func (o *kvOp) ended() int64 {
	if o.outcome == histories.OK || o.outcome == histories.Fail {
		return o.returned
	}
	return math.MaxInt64
}

// key translates the operations on one key. Each put begins a log of its own. A
// get says by its first word which one it read. An append belongs to the log in
// which it was read, or to the only one that was there at the time; one that
// was not read can be left out, for it is behind everything that was.
func (s *kvStore) key(key string, ops []*kvOp) {
	logs, ok := s.logs(key, ops)
	if !ok {
		for _, o := range ops {
			s.made.lost.addAnswer(o.line, "an operation on key %s, where a put writes the same value as another write, so that a get does not tell what it read", clip(key))
		}
		return
	}
	words, sent := newDictionary(ops), map[string][]*kvOp{}
	for _, o := range ops {
		if o.f != "get" {
			sent[o.value] = append(sent[o.value], o)
		}
	}
	gets := s.gets(words, ops)
	s.succession(logs, sent, gets)
	read := map[string][]*kvLog{} // the values in gets
	for _, o := range ops {
		g, stale := gets[o], false
		if g == nil {
			continue
		}
		switch g.log, stale = logOf(logs, sent, o, &g.answer); {
		case stale && g.log.begun >= o.call: // it may have shown nothing of that one
			s.made.lost.addAnswer(o.line, "what a :get read that was there at no time, as other gets show it")
			g.answer.Records, g.answer.HW = nil, 0
		case stale:
			s.made.lost.add(o.line, "the words of a :get that read what was there before a :put that was done: it is a read that shows nothing of what that one wrote")
			g.answer.Records, g.answer.HW = nil, 0
		}
		if o.outcome == histories.OK {
			g.log.lastCall = max(g.log.lastCall, o.call)
		}
		for _, r := range g.answer.Records {
			v, _ := r.Value.Text()
			if !slices.Contains(read[v], g.log) {
				read[v] = append(read[v], g.log)
			}
			if by := sent[v]; len(by) > 0 { // one of them, so not before the first
				g.log.lastCall = max(g.log.lastCall, by[0].call)
			}
		}
	}
	for _, o := range ops {
		switch {
		case o.f == "put":
			s.put(logs, o, read[o.value])
		case o.f == "append" && o.value != "":
			s.append(logs, o, read[o.value], len(sent[o.value]) > 1)
		case gets[o] != nil:
			s.emit(gets[o].answer, gets[o].log)
		}
	}
}

// logs returns the logs that a key was. It reports false if a get does not tell
// which one it read.
func (s *kvStore) logs(key string, ops []*kvOp) ([]*kvLog, bool) {
	logs := []*kvLog{{on: s.names.free(key), to: math.MaxInt64, begun: math.MinInt64, until: math.MinInt64}}
	written := map[string]*kvOp{}
	for _, o := range ops {
		if o.f == "get" || o.f == "put" && o.outcome == histories.Fail {
			continue
		}
		if other := written[o.value]; o.f == "put" && (o.value == "" || other != nil) || other != nil && other.f == "put" {
			return nil, false
		}
		if written[o.value] = o; o.f == "put" {
			on := s.names.free(fmt.Sprintf("%s#%d", key, len(logs)+1))
			logs = append(logs, &kvLog{put: o, on: on, from: o.call, to: math.MaxInt64, begun: o.ended(), until: o.call})
		}
	}
	for _, l := range logs {
		for _, next := range logs[1:] {
			if l.begun < next.until {
				l.to = min(l.to, next.begun)
			}
		}
	}
	return logs, true
}

// logOf returns the log that a get read, by its first word. If a put that was done
// before the get had taken the place of each log that may have held the word, it
// returns the log of that put, of which the get shows nothing.
func logOf(logs []*kvLog, sent map[string][]*kvOp, o *kvOp, answer *histories.Op) (l *kvLog, stale bool) {
	if o.outcome != histories.OK {
		return logs[0], false
	}
	now := current(logs, o)
	if len(answer.Records) == 0 {
		return now, false
	}
	first, _ := answer.Records[0].Value.Text()
	holding := holders(logs, sent[first])
	if len(holding) == 0 {
		return now, false // nobody wrote it
	}
	for _, l := range holding {
		if l.alive(o) || l.from > o.returned { // the latter is read before it was written
			return l, false
		}
	}
	return now, true
}

// holders are the logs that may begin with what those operations wrote: the log of a
// put, and the first one of all with an append.
func holders(logs []*kvLog, writers []*kvOp) []*kvLog {
	var holding []*kvLog
	for _, l := range logs {
		if slices.ContainsFunc(writers, func(o *kvOp) bool { return l.put == o || o.f == "append" && l.put == nil && l.alive(o) }) {
			holding = append(holding, l)
		}
	}
	return holding
}

// current returns a log that was there while an operation was under way, one that
// was there already when it began if there is any.
func current(logs []*kvLog, o *kvOp) *kvLog {
	var now *kvLog
	for _, l := range logs {
		if l.alive(o) && (now == nil || l.begun < o.call) {
			now = l
		}
	}
	if now == nil { // what gets show contradicts itself
		now = slices.MaxFunc(logs, func(a, b *kvLog) int { return cmp.Compare(a.to, b.to) })
	}
	return now
}

// put translates a put, which is the first record of its log. One that failed has
// none, and should be in none.
func (s *kvStore) put(logs []*kvLog, o *kvOp, read []*kvLog) {
	i := slices.IndexFunc(logs, func(l *kvLog) bool { return l.put == o })
	op := o.op(histories.Send)
	switch {
	case i < 0 && len(read) > 0:
		s.emit(op, read[0])
		return
	case i < 0:
		s.made.lost.add(o.line, "a :put that failed")
		return
	}
	if o.outcome == histories.OK {
		op.Offset = 0
	}
	if logs[i].passedOver(o, read) {
		s.made.lost.add(o.line, "a :put that another one followed before any :get, so that nobody can have read it")
		return
	}
	s.emit(op, logs[i])
}

// passedOver reports whether nobody can read any more what was written to a log and
// nobody did, since a put has taken its place: all that was read of the log may have
// been there before.
func (l *kvLog) passedOver(o *kvOp, read []*kvLog) bool {
	return l.to != math.MaxInt64 && !slices.Contains(read, l) && o.returned >= l.lastCall
}

// append translates an append, which was read in those logs. Where another has
// its value, or it may belong to several logs, it may be in each of them.
func (s *kvStore) append(logs []*kvLog, o *kvOp, read []*kvLog, repeated bool) {
	var there []*kvLog
	for _, l := range logs {
		if l.alive(o) {
			there = append(there, l)
		}
	}
	if i := slices.IndexFunc(there, func(l *kvLog) bool { return l.lasts(o) }); i >= 0 {
		there = there[i : i+1]
	}
	op := o.op(histories.Send)
	switch {
	case !repeated && len(read) > 0:
		s.emit(op, read[0])
	case !repeated && slices.ContainsFunc(there, func(l *kvLog) bool { return l.passedOver(o, read) }):
		s.made.lost.add(o.line, "an :append that a :put followed before any :get, so that nobody can have read it")
	case !repeated && len(there) > 0: // if none need not show it yet, each would have to
		s.emit(op, there[max(slices.IndexFunc(there, func(l *kvLog) bool { return o.returned >= l.lastCall }), 0)])
	case len(there) == 1:
		s.emit(op, there[0])
	default:
		if op.Outcome == histories.OK {
			op.Outcome = histories.Info
		}
		for _, l := range there {
			s.emit(op, l)
		}
	}
}

// op returns an operation of that kind, with what was written or read left out.
func (o *kvOp) op(kind histories.Kind) histories.Op {
	op := histories.NewOp("C"+o.process, kind)
	op.Call, op.Return, op.Outcome = o.call, o.returned, o.outcome
	op.Line, op.ReturnLine = o.line, o.returnLine
	if kind == histories.Send {
		op.Values = []histories.Value{histories.String(o.value)}
	}
	return op
}

func (s *kvStore) emit(op histories.Op, l *kvLog) {
	op.On = l.on
	s.made.ops = append(s.made.ops, op)
}
