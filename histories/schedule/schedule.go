// Package schedule holds what was asked of a cluster: settings, seeded bugs
// and steps, as plain values that print as text and parse back. It knows no
// implementation: which settings, bugs and verbs exist is for the cluster that
// runs a schedule to say.
//
// A schedule is a run. Nothing else, no seed and no clock, decides what
// happens, so equal schedules give equal histories on every machine.
//
// The text is one item a line:
//
//	set min.insync.replicas=2
//	bug truncate-to-high-watermark
//	12 P1 send 1,2 acks=all
//	20 nemesis crash broker=1 for=40
//	fingerprint 9c1f02ab55d01e77
package schedule

// A Schedule is a cluster's settings and the steps asked of it.
type Schedule struct {
	Settings    []Setting // in the order given; a key appears once
	Bugs        []string  // seeded bugs switched on
	Steps       []Step    // in order of time; steps of one time in the order given
	Fingerprint string    // of the run that was saved; "" if it was never run
}

// A Setting is one key of the cluster's configuration with its value.
type Setting struct{ Key, Value string }

// A Step asks for one thing at one time. It is a request: a step that does not
// apply when its time comes does nothing and says so in the trace. So any
// subset of a schedule's steps is a schedule too.
type Step struct {
	At    int64  // simulated milliseconds from the start
	Actor string // a client, or "nemesis" for faults
	Verb  string
	Words []string // positional arguments
	Args  []Arg    // key=value arguments
	Line  int      // line in the text it was parsed from, 0 if there is none
}

// An Arg is one key=value argument of a step.
type Arg struct{ Key, Value string }

// Nemesis is the actor of faults.
const Nemesis = "nemesis"
