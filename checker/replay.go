package checker

import (
	"github.com/isrcheck/isrcheck/histories"
)

// A replay hands a history to a sink, again and again.
type replay struct {
	to      func(histories.Sink) bool // false if it could not be handed over to the end
	inOrder bool                      // in the order of calls; else operations come as they are completed
}

// handOver hands a history in memory to a sink, in order.
func handOver(h *histories.History) replay {
	return replay{inOrder: true, to: func(sink histories.Sink) bool {
		if !sink.Header(h.Header()) {
			return false
		}
		for i := range h.Marks() {
			if !sink.Mark(&h.Marks()[i]) {
				return false
			}
		}
		return handOps(h.Ops(), sink)
	}}
}

// An opsSink takes operations that come in order one behind the other at once.
type opsSink interface {
	Ops([]histories.Op) bool
}

func handOps(ops []histories.Op, sink histories.Sink) bool {
	if s, ok := sink.(opsSink); ok {
		return s.Ops(ops)
	}
	for i := range ops {
		if !sink.Op(&ops[i], ops[i].ProcessNumber()) {
			return false
		}
	}
	return true
}
