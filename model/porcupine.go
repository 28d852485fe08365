package model

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/histories"
)

// closing is the input of the sentinel operation behind everything that
// returned: from there on no uncertain send takes effect any more. It lets a
// search that applies uncertain sends eagerly leave some of them out.
const closing = -1

// Operations returns the operations for porcupine, less those that others imply:
// inputs are indexes into the log's operations, outputs are part of them. An
// operation without a return ends after everything else.
func (l *Log) Operations() []porcupine.Operation {
	var last int64
	uncertain := false
	for i := range l.ops {
		op := &l.ops[i]
		last = max(last, op.Call, op.Return)
		uncertain = uncertain || op.uncertain()
	}
	closed, never := last+1, last+2
	if last > math.MaxInt64-2 {
		closed, never = math.MaxInt64, math.MaxInt64
	}
	implied := l.implied()
	out := make([]porcupine.Operation, 0, len(l.ops)+1)
	for i := range l.ops {
		if implied[i] {
			continue
		}
		op := &l.ops[i]
		ret := op.Return
		if ret == histories.None {
			ret = never
		}
		out = append(out, porcupine.Operation{ClientId: i, Input: i, Call: op.Call, Return: ret})
	}
	if uncertain {
		out = append(out, porcupine.Operation{ClientId: len(l.ops), Input: closing, Call: closed, Return: closed})
	}
	return out
}

// A Meter counts the work of a search, so that a budget does not depend on the
// speed of a machine. Porcupine cannot be interrupted: once Step has reported
// false the model accepts whatever comes, so that the search ends in one pass,
// and what it says is worth nothing.
type Meter interface {
	Step() bool // before each step; false gives the search up
	Hold(State) // behind each step that is accepted: the search's cache holds its state
	Drop(State) // it was there before
}

// CommittedLog is the porcupine model of one partition. Its operations are
// those of [Log.Operations]. The meter counts what the search does and may end
// it.
//
// The model is total: any well-formed history may be given to it, and no state
// it has returned ever changes.
func (l *Log) CommittedLog(m Meter) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return l.Initial() },
		StepContext: func(_ context.Context, state, input, _ any) (bool, any) {
			s := state.(State)
			if !m.Step() {
				return true, state
			}
			next := State{Points: s.Points, Closed: true}
			if input.(int) != closing {
				next = l.Step(s, input.(int))
			}
			if len(next.Points) == 0 {
				return false, state
			}
			m.Hold(next)
			if next.is(s) {
				return true, state // which it takes no memory to return
			}
			return true, next
		},
		Equal: func(a, b any) bool {
			equal := a.(State).Equal(b.(State))
			if equal {
				m.Drop(b.(State))
			}
			return equal
		},
		Hash:              func(s any) uint64 { return s.(State).Hash() },
		DescribeOperation: func(input, _ any) string { return l.describe(input.(int)) },
		DescribeState:     func(s any) string { return s.(State).String() },
	}
}

func (l *Log) describe(i int) string {
	if i == closing {
		return "end of the history"
	}
	if l.ops[i].Source == nil {
		return "what is certain"
	}
	return l.ops[i].Source.String()
}

// String describes the logs that could be there by their ends.
func (s State) String() string {
	ends := make([]string, len(s.Points))
	for i, p := range s.Points {
		ends[i] = fmt.Sprint(p.End)
	}
	return "end " + strings.Join(ends, " or ")
}
