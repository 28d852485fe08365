package logtest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An Ability is something a log may be able to do or to suffer.
type Ability string

// The abilities, by the interface that tells of each.
const (
	Crash      Ability = "crash"      // Crasher
	PowerLoss  Ability = "power-loss" // PowerLoser
	Isolation  Ability = "isolate"    // Isolator
	Pause      Ability = "pause"      // Pauser
	EndOffset  Ability = "list"       // EndTeller
	Partitions Ability = "partition"  // Partitioned
)

// abilities lists each with the words for a log that does not have it.
var abilities = []struct {
	Ability
	lacks string
}{
	{Crash, "cannot crash: it is no Crasher"},
	{PowerLoss, "cannot lose power: it is no PowerLoser"},
	{Isolation, "has no node that can be cut off: it is no Isolator with several nodes"},
	{Pause, "cannot pause: it is no Pauser"},
	{EndOffset, "does not tell its end: it is no EndTeller"},
	{Partitions, "has one partition: it is not Partitioned"},
}

// A means is what a run says about its log.
type means struct {
	nodes, partitions int
	can               []Ability
}

func (m means) has(a Ability) bool { return a == "" || slices.Contains(m.can, a) }

// A strike begins or ends a fault of one node.
type strike func(node int) error

// A fault is a verb of the nemesis. Its ability has the name of the verb.
type fault struct {
	Ability
	key   string // of the argument that names the node
	says  string
	nodes int // that a cluster needs for it to make sense
	of    func(log any) (begin, end strike)
}

// faults is the table of what can go wrong.
var faults = []fault{
	{Crash, "broker", "a process dies and comes back", 1,
		of(func(l Crasher) (begin, end strike) { return l.Crash, l.Restart })},
	{PowerLoss, "broker", "the power goes and comes back", 1,
		of(func(l PowerLoser) (begin, end strike) { return l.LosePower, l.Restart })},
	{Isolation, "node", "a node is cut off from the others", 2,
		of(func(l Isolator) (begin, end strike) { return l.Isolate, l.Reconnect })},
	{Pause, "broker", "a node stands still and goes on", 1,
		of(func(l Pauser) (begin, end strike) { return l.Pause, l.Resume })},
}

// of returns a function that gets a fault's methods from a log, and nil from one
// that does not have them.
func of[Suffers any](methods func(Suffers) (begin, end strike)) func(log any) (begin, end strike) {
	return func(log any) (begin, end strike) {
		if l, ok := log.(Suffers); ok {
			return methods(l)
		}
		return nil, nil
	}
}

// strikes reports whether the fault can strike a log.
func (f fault) strikes(log any) bool {
	begin, _ := f.of(log)
	return begin != nil && nodesOf(log) >= f.nodes
}

// step is the request for a fault.
func (f fault) step(at int64, node int, lasts int64) schedule.Step {
	return schedule.Step{At: at, Actor: schedule.Nemesis, Verb: string(f.Ability), Args: []schedule.Arg{
		{Key: f.key, Value: strconv.Itoa(node)}, {Key: "for", Value: strconv.FormatInt(lasts, 10)}}}
}

// mostMeans is how many nodes a log may have, and partitions: each is visited in
// every run, and a number beyond it is a mistake.
const mostMeans = 1000

// few demands a number of nodes or partitions that a log can have.
func few(what string, n int) error {
	if n < 1 || n > mostMeans {
		return fmt.Errorf("expected a log of 1 to %d %s, found %d", mostMeans, what, n)
	}
	return nil
}

func nodesOf(log any) int {
	if c, ok := log.(Cluster); ok {
		return c.Nodes()
	}
	return 1
}

// meansOf looks at the methods of a log.
func meansOf(log any, partitions []Log) means {
	m := means{nodes: nodesOf(log), partitions: len(partitions)}
	for _, f := range faults {
		if f.strikes(log) {
			m.can = append(m.can, f.Ability)
		}
	}
	if _, ok := partitions[0].(EndTeller); ok {
		m.can = append(m.can, EndOffset)
	}
	if len(partitions) > 1 {
		m.can = append(m.can, Partitions)
	}
	return m
}
