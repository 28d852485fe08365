package importers

import "github.com/isrcheck/isrcheck/histories"

// settle decides what only the whole recording tells.
func (q *queue) settle() {
	if committed := q.in.config.Get("isolation.level") == "read_committed"; committed || !q.aborts {
		q.proveCommitted()
	}
	for _, b := range q.refused {
		for i := b.from; i < b.to; i++ {
			q.refuse(&q.made.ops[i], q.aborts || q.written[i], b.said)
		}
	}
}

// proveCommitted finds the operations of unknown outcome one of whose values was
// read. It was acknowledged before that, or committed with it: so are the other
// sends that were told an offset.
func (q *queue) proveCommitted() {
	proofs := q.proofs()
	proven := map[int]bool{}
	for i := range q.made.ops {
		o := &q.made.ops[i]
		if len(proofs) == 0 || q.aside[i] {
			continue
		}
		for _, r := range o.Records {
			if p, ok := proofs[sent{o.On, r.Value}]; ok && (p.told == histories.None || p.told == r.Offset) {
				proven[p.batch] = true
			}
		}
	}
	for n, b := range q.unsure {
		for i := b.from; proven[n] && i < b.to; i++ {
			if o := &q.made.ops[i]; o.Offset != histories.None {
				o.Outcome, o.Code = histories.OK, ""
			}
		}
	}
}

// A sent is a value in a partition.
type sent struct {
	on    string
	value histories.Value
}

// A proof is what a read of a value proves: that a batch took effect, if it is
// read where its producer was told, or that was told nothing.
type proof struct {
	batch int
	told  int64
}

// proofs returns the values that only one send can have put in the log.
func (q *queue) proofs() map[sent]proof {
	if len(q.unsure) == 0 {
		return nil
	}
	times := map[sent]int{}
	for i := range q.made.ops {
		if o := &q.made.ops[i]; o.Kind == histories.Send {
			times[sent{o.On, o.Values[0]}]++
		}
	}
	out := map[sent]proof{}
	for n, b := range q.unsure {
		for i := b.from; i < b.to; i++ {
			o := &q.made.ops[i]
			if s := (sent{o.On, o.Values[0]}); times[s] == 1 {
				out[s] = proof{n, o.Offset}
			}
		}
	}
	return out
}

// refuse settles a send that ended as fail. One that belongs to a transaction
// was perhaps written and then aborted, which hides it only from those who
// read what is committed. And most errors do not say that nothing was written.
func (q *queue) refuse(o *histories.Op, written bool, said refusal) {
	hidden := q.in.config.Get("isolation.level") == "read_committed"
	switch {
	case written && !hidden:
		o.Outcome = histories.Info
		q.made.lost.add(o.Line, "a failed send that may have been written and aborted, which counts as unknown unless isolation.level=read_committed")
	case said == certain, said == aborted && hidden:
		o.Offset = histories.None
	default:
		o.Outcome = histories.Info
		q.made.lost.add(o.Line, "a failed send whose error (%s) does not say that it had no effect, which counts as unknown", o.Code)
	}
}

// A refusal is what the error of an operation that ended as fail says of its
// sends.
type refusal uint8

const (
	unclear refusal = iota
	aborted         // whatever was written is hidden from those who read what is committed
	certain         // nothing was written
)

// refusalOf says what an error says. Without one, fail means what it means to
// Jepsen: it did not happen.
func refusalOf(err *form) refusal {
	word := code(err)
	switch {
	case err == nil || err.kind == nothing || isDefinite(word):
		return certain
	case word == "abort" && wasAborted(err):
		return aborted
	}
	return unclear
}

// wasAborted reports whether an error of a transaction says that it will never be
// committed. Jepsen's clients tell in a map whether that is so.
func wasAborted(err *form) bool {
	if err.kind != mapping {
		return true
	}
	if told := err.get("definite?"); told != nil {
		return isTrue(told)
	}
	return isTrue(err.get("abort-ok?"))
}
