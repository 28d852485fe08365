package checker

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
)

// A weight is what decides how much memory the judgement of a history takes.
type weight struct{ ops, records int64 }

// What the rules and the engines hold for an operation and for a record of it,
// with what the history itself holds and the collector leaves lying.
const (
	opBytes     = 800
	recordBytes = 400
)

// weigh returns the weight of a history.
func weigh(h *histories.History) *weight {
	w := &weight{}
	for i := range h.Ops() {
		w.add(&h.Ops()[i])
	}
	return w
}

func (w *weight) add(o *histories.Op) {
	w.ops++
	w.records += int64(len(o.Values) + len(o.Records))
}

// weight is that of a history that was judged.
func (e *Exercised) weight() *weight {
	return &weight{int64(e.Operations), int64(e.Values + e.Records)}
}

func (w *weight) bytes() int64 { return w.ops*opBytes + w.records*recordBytes }

// exceeds says why a history of that weight, or what looks wrong in one, is not
// judged within the budget; "" if it is.
func (w *weight) exceeds(budget int64, what string) string {
	if budget == 0 {
		budget = DefaultMemory
	}
	if w.bytes() <= budget {
		return ""
	}
	return fmt.Sprintf("%s takes about %d MiB to judge, %s with %s, and the memory budget is %d bytes",
		what, w.bytes()>>20, Counted(w.ops, "operation"), Counted(w.records, "record"), budget)
}

// tooHeavy is the result of a history that was not judged for its weight.
func tooHeavy(c histories.Config, e Exercised, why string) *Result {
	j := emptyJudge(c, Options{})
	j.result.Exercised = e
	j.assume(c)
	j.ending = ending{} // nobody looked for it
	j.doubt("the history takes more memory to judge than the budget", "%s", why)
	j.conclude()
	return &j.result
}

// A scale weighs a history.
type scale struct {
	weight
	header histories.Header
}

func (s *scale) Header(h histories.Header) bool {
	s.weight, s.header = weight{}, h
	return true
}

func (s *scale) Op(o *histories.Op, _ int) bool {
	s.add(o)
	return true
}

func (s *scale) Mark(*histories.Mark) bool { return true }
