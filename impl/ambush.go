package impl

import "slices"

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
}

func momentNames() (names []string) {
	for _, m := range Moments {
		names = append(names, m.Name)
	}
	return names
}

// AmbushArgs are the arguments that every fault has: it may wait for a moment, and
// gives up if that does not come soon enough.
var AmbushArgs = []ArgSpec{
	{Key: "when", Kind: MessageArg, Optional: true, Values: momentNames()},
	{Key: "within", Kind: DurationArg, Optional: true},
}

// defaultWithin is how long a fault waits that does not say.
const defaultWithin = 1_000

// comes notes that a moment has come.
func (e *env) comes(m moment) { e.came |= 1 << m }

// lieInWait lets a fault wait for its moment.
func (c *Cluster) lieInWait(a *action) {
	within := a.args.within
	if within == 0 {
		within = defaultWithin
	}
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
		if came&(1<<a.args.when) == 0 {
			i++
			continue
		}
		c.waiting = slices.Delete(c.waiting, i, i+1)
		c.carryOut(a)
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
	c.notApplied(a.args.text, "no "+Moments[a.args.when-1].Name+" came")
	if c.watch != nil {
		c.watch(step, c.View(), false)
	}
}
