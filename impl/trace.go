package impl

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories"
)

// An env is what every node of a cluster sees: the time, the settings, and
// the books in which what happens is recorded.
type env struct {
	now     int64
	cfg     config
	bugs    bugSet
	ghosts  []ghost // by partition
	stats   Stats
	dirty   changes           // since the invariants were last checked
	came    uint              // the moments that came since faults last looked, a bit for each
	about   [momentCount]node // the broker that each of them was about
	tracing bool
	trace   []string
	ops     []histories.Op
	marks   []histories.Mark
	memory  memory
}

// memory is where lists are that nobody needs after a run: a history is a copy.
type memory struct {
	records arena[record]
	sent    arena[histories.Value]
	read    arena[histories.Record]
}

// Changes are what of a cluster's state changed.
type changes uint8

const (
	logsGrew        changes = 1 << iota // by records at their ends, or by what is known of epochs
	logsCut                             // anything else about records
	marksMoved                          // high watermarks
	metadataChanged                     // what the controller has decided
	imagesChanged                       // what of it has reached brokers
	beliefsChanged                      // what they make of it, and what they propose
	logsChanged     = logsGrew | logsCut | marksMoved
	stateChanged    = metadataChanged | beliefsChanged
	allChanged      = logsChanged | stateChanged | imagesChanged
)

// tracef adds a line to the trace, if there is one.
func (e *env) tracef(who, format string, args ...any) {
	if e.tracing {
		e.trace = append(e.trace, fmt.Sprintf("t=%-6d %-10s %s", e.now, who, fmt.Sprintf(format, args...)))
	}
}

// traceOf adds a line about a partition, which it names where there are others.
func (e *env) traceOf(who string, p int32, format string, args ...any) {
	if len(e.ghosts) > 1 {
		format = partitionName(p) + ": " + format
	}
	e.tracef(who, format, args...)
}

// record adds an operation to the history.
func (e *env) record(op histories.Op) {
	e.ops = append(e.ops, op)
	if e.tracing {
		e.tracef("client", "%s%s", op.String(), whyFailed(op.Code))
	}
}

// whyFailed puts the code of an operation that failed into words, for traces.
func whyFailed(code string) string {
	i := slices.Index(errorNames[:], code)
	if i < 0 || errorMeans[i] == "" {
		return ""
	}
	return " (" + errorMeans[i] + ")"
}

// mark adds a mark at the present time to the history.
func (e *env) mark(m histories.Mark) {
	m.Time = e.now
	e.marks = append(e.marks, m)
}

// nemesis notes a fault or its end, in words.
func (e *env) nemesis(text string) {
	e.mark(histories.Mark{Kind: histories.Nemesis, Offset: histories.None, Text: text})
	if e.tracing {
		e.tracef("nemesis", "%s", text)
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
