package impl

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A moment is something that happens inside a cluster and that a fault may wait
// for. Replication protocols go wrong where one thing follows another before
// anybody has heard of it; who strikes at drawn times alone seldom strikes then.
type moment uint8

const (
	noMoment moment = iota
	cutting
	leadership
	isrShrink
	isrExpansion
	commit
	restart
	vacancy
	firstCommit
	momentCount
)

// A Moment is a row of the table of them.
type Moment struct{ Name, Says string }

// Moments are what faults may wait for.
var Moments = []Moment{
	cutting - 1:      {"truncation", "a broker cuts its log"},
	leadership - 1:   {"leadership", "a broker begins to lead"},
	isrShrink - 1:    {"isr-shrink", "the controller takes somebody out of an ISR"},
	isrExpansion - 1: {"isr-expansion", "the controller takes somebody into an ISR"},
	commit - 1:       {"commit", "a leader's high watermark rises"},
	restart - 1:      {"restart", "a broker that was down is back"},
	vacancy - 1:      {"vacancy", "a partition has no leader any more"},
	firstCommit - 1:  {"first-commit", "a leader's high watermark rises for the first time in its epoch"},
}

func momentNames() (names []string) {
	for _, m := range Moments {
		names = append(names, m.Name)
	}
	return names
}

// AmbushArgs are the arguments that every fault has: it may wait for a moment, or
// for one that is about some broker, and gives up if that does not come soon enough.
// It strikes once, or so many times, each time that there is something to strike.
var AmbushArgs = []ArgSpec{
	{Key: "when", Kind: MessageArg, Optional: true, Values: momentNames()},
	{Key: "of", Kind: BrokerArg, Optional: true},
	{Key: "times", Kind: CountArg, Optional: true},
	{Key: "within", Kind: DurationArg, Optional: true},
}

// defaultWithin is how long a fault waits that does not say.
const defaultWithin = 1_000

// comes notes that a moment has come, and which broker it is about: the one that
// does something, comes or goes.
func (e *env) comes(m moment, about node) {
	e.came |= 1 << m
	e.about[m] = about
}

// checkAmbush refuses what says how to wait where nothing is waited for.
func (a *args) checkAmbush(s *schedule.Step) error {
	if a.when != noMoment {
		return nil
	}
	for _, spec := range AmbushArgs[1:] {
		if j := argOf(s.Args, spec.Key); j >= 0 {
			return at(spec.Key+"="+s.Args[j].Value, "%s= says how a fault waits; expected when=, for what", spec.Key)
		}
	}
	return nil
}

// lieInWait lets a fault wait for its moment.
func (c *Cluster) lieInWait(a *action) {
	within := a.args.within
	if within == 0 {
		within = defaultWithin
	}
	a.args.left = max(a.args.times, 1)
	c.waiting = append(c.waiting, a.args.step)
	c.later(within, &message{kind: ambushTimer, to: controllerNode, id: int64(a.args.step)})
}

// spring performs the faults whose moment has come, in the order of their steps.
// What they bring about in turn is a moment for others only after the next event.
func (c *Cluster) spring() {
	came := c.came
	c.came = 0
	for i := 0; i < len(c.waiting); {
		a := &c.actions[c.waiting[i]]
		if came&(1<<a.args.when) == 0 || a.args.of != 0 && c.whoIs(a.args.of, a.args.partition) != c.about[a.args.when] {
			i++
			continue
		}
		if c.carryOut(a) || a.args.times == 0 {
			a.args.left--
		}
		if a.args.left == 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
		} else {
			i++
		}
	}
}

// giveUp ends the wait of a fault whose moment did not come.
func (c *Cluster) giveUp(step int) {
	i := slices.Index(c.waiting, step)
	if i < 0 {
		return
	}
	c.waiting = slices.Delete(c.waiting, i, i+1)
	a := &c.actions[step]
	if a.args.left < max(a.args.times, 1) {
		return // it struck, but not as often as it may
	}
	c.notApplied(a.args.text, "no "+Moments[a.args.when-1].Name+" came")
	if c.watch != nil {
		c.watch(step, c.View(), false)
	}
}
