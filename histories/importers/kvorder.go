package importers

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A kvGet is a get with what it read.
type kvGet struct {
	*kvOp
	answer histories.Op
	log    *kvLog
}

// gets cuts what the gets of a key returned into what was written to it.
func (s *kvStore) gets(words *dictionary, ops []*kvOp) map[*kvOp]*kvGet {
	gets := map[*kvOp]*kvGet{}
	for _, o := range ops {
		if o.f != "get" {
			continue
		}
		g := &kvGet{kvOp: o, answer: o.op(histories.Fetch)}
		if g.answer.From = 0; o.outcome == histories.OK && !words.read(o.got.text, &g.answer) {
			s.made.lost.addAnswer(o.line, "a :get that can be cut into what was written in more than one way, or in too many to try")
			continue
		}
		gets[o] = g
	}
	return gets
}

// succession narrows down when each log was there by what gets show. A log had
// begun when its put had returned, or a get that read it, or an append that a get
// shows in it, and was there until the last of these was called. A log that had begun before that of another
// comes before that one. Each is there once, without a break: if each of two would
// have to come before the other, no order of the puts is legal, which is told where
// no get shows it by itself.
func (s *kvStore) succession(logs []*kvLog, sent map[string][]*kvOp, gets map[*kvOp]*kvGet) {
	stale := false
	for _, g := range inReturnOrder(gets) {
		l := firstRead(logs, g)
		if !l.alive(g.kvOp) {
			stale = true // it shows nothing of what is there
			continue
		}
		l.touch(g.kvOp)
		for _, r := range g.answer.Records {
			v, _ := r.Value.Text()
			if by := sent[v]; len(by) == 1 && by[0].f == "append" {
				l.touch(by[0])
			}
		}
		for _, m := range logs {
			if m != l && m.begun < g.call {
				m.to = min(m.to, l.begun)
			}
		}
	}
	for i, l := range logs {
		for _, m := range logs[:i] {
			before, behind := l.begun < m.until, m.begun < l.until
			switch {
			case before && behind && !stale:
				s.made.lost.addAnswer(l.put.line, "the order of the puts of a key, of which no two can follow each other as the gets show them")
				return
			case before && !behind:
				m.from, l.to = max(m.from, l.until), min(l.to, m.begun)
			case behind && !before:
				l.from, m.to = max(l.from, m.until), min(m.to, l.begun)
			}
		}
	}
}

// touch takes note of an operation that certainly was on the log.
func (l *kvLog) touch(o *kvOp) {
	l.begun, l.until = min(l.begun, o.ended()), max(l.until, o.call)
}

// firstRead is the log whose put a get shows first; what begins otherwise is the
// first log.
func firstRead(logs []*kvLog, g *kvGet) *kvLog {
	if len(g.answer.Records) > 0 {
		first, _ := g.answer.Records[0].Value.Text()
		if i := slices.IndexFunc(logs[1:], func(l *kvLog) bool { return l.put.value == first }); i >= 0 {
			return logs[1+i]
		}
	}
	return logs[0]
}

// inReturnOrder are those that were answered, in order of their answers.
func inReturnOrder(gets map[*kvOp]*kvGet) []*kvGet {
	var out []*kvGet
	for _, g := range gets {
		if g.outcome == histories.OK {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *kvGet) int { return cmp.Compare(a.returned, b.returned) })
	return out
}
