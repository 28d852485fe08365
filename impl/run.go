package impl

import (
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// Options of a run. The zero value is a run that judges and does not trace.
type Options struct {
	Trace        bool // collect a line per change of state
	NoInvariants bool // do not judge the invariants

	// Watch, if it is not nil, is told of each step that was performed, by its
	// place in the schedule, and of the state it found, of a fault that waits for its
	// moment each time. applied is false of a fault that did nothing.
	Watch func(step int, found View, applied bool)
}

// A Result is what came of a schedule.
type Result struct {
	History     *histories.History
	Fingerprint string   // 16 hex digits folded over every event
	Breaches    []Breach // invariants that broke, in order
	Unsafe      string   // why a partition left the safe configuration, so that losses are permitted (see [Invariant]); "" if none did
	Stats       Stats
	Trace       []string
}

// Run executes a schedule to its end: until the cluster is calm after the last
// step and fault and everything was read once more, or until it is clear that
// it never will be. The error is about the schedule, never about what happened.
func Run(s schedule.Schedule, opts Options) (*Result, error) {
	return new(Runner).Run(s, opts)
}
