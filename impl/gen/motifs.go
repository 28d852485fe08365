package gen

import (
	"fmt"
	"strconv"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// motifs are short patterns of trouble that single faults rarely add up to by
// chance: replication protocols go wrong where changes follow each other
// faster than messages do. Each schedule uses some of them or none.
var motifs = []func(*drawing){bounce, exile, relapse, lag, fork, swing}

// bounce moves the leadership about, with writes and reads in between.
func bounce(d *drawing) {
	at := d.now
	for range draw.Int(d.t, 2, 3, "moves") {
		d.nemesis("move-leader", "to", d.broker())
		d.now += int64(draw.Int(d.t, 0, 6, "pause"))
		for range draw.Int(d.t, 0, 2, "operations") {
			d.client()
			d.now += int64(draw.Int(d.t, 0, 4, "pause"))
		}
	}
	d.now = max(at, d.now)
}

// swing moves the leadership back and forth between two brokers, while some of
// the answers to fetches come late: they arrive when the same broker leads again.
func swing(d *drawing) {
	one := draw.Int(d.t, 1, d.brokers, "one")
	two := one%d.brokers + 1
	for i := range draw.Int(d.t, 3, 5, "moves") {
		if draw.OneIn(d.t, 3, "late answers") {
			d.nemesis("delay", "kind", "fetch-response", "by", strconv.Itoa(draw.Int(d.t, 5, 40, "by")), "for", strconv.Itoa(draw.Int(d.t, 1, 6, "for")))
		}
		d.nemesis("move-leader", "to", strconv.Itoa([]int{two, one}[i%2]))
		d.now += int64(draw.Int(d.t, 1, 4, "pause"))
		if draw.OneIn(d.t, 2, "operation") {
			d.client()
		}
		d.now += int64(draw.Int(d.t, 1, 8, "pause"))
	}
}

// fork makes the ends of logs differ before the leadership moves: a follower
// misses what is written, and a broker or two hear late of the moves, or only of
// the last of them.
func fork(d *drawing) {
	d.nemesis("drop", "kind", "fetch-response", "to", d.broker(), "for", strconv.Itoa(draw.Int(d.t, 2, 30, "misses")))
	d.now += int64(draw.Int(d.t, 0, 2, "pause"))
	d.send(fmt.Sprintf("P%d", draw.Int(d.t, 1, 3, "producer")))
	d.now += int64(draw.Int(d.t, 1, 6, "pause"))
	for range draw.Int(d.t, 0, 2, "deaf") {
		to, lasts := strconv.Itoa(draw.Int(d.t, 1, d.brokers, "who")), strconv.Itoa(draw.Int(d.t, 2, 30, "for"))
		if draw.OneIn(d.t, 2, "late") {
			d.nemesis("delay", "kind", "metadata", "to", to, "by", strconv.Itoa(draw.Int(d.t, 2, 30, "by")), "for", lasts)
		} else {
			d.nemesis("drop", "kind", "metadata", "to", to, "for", lasts)
		}
	}
	bounce(d)
}

// exile cuts a broker off the controller for longer than a session, while
// brokers and clients still reach it.
func exile(d *drawing) {
	d.nemesis("partition", "a", d.broker(), "b", "controller", "for", strconv.Itoa(d.lasts()+draw.From(d.t, "long", 0, 60, 120)))
}

// relapse takes a broker down and strikes it again about when it is back,
// sometimes while messages of some kinds are late everywhere.
func relapse(d *drawing) {
	for range draw.From(d.t, "late kinds", 0, 2, 3) {
		d.nemesis("delay", "kind", draw.From(d.t, "late", "fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata"),
			"by", strconv.Itoa(draw.Int(d.t, 5, draw.From(d.t, "how late", 60, 200), "by")), "for", strconv.Itoa(draw.Int(d.t, 20, 150, "for")))
	}
	broker, down := strconv.Itoa(d.victim), draw.Int(d.t, 1, 20, "down")
	for range draw.Int(d.t, 2, 3, "times") {
		verb := draw.From(d.t, "how", "fence", "wipe", "crash", "power-loss")
		d.nemesis(verb, "broker", broker, "for", strconv.Itoa(down))
		d.now += int64(down + draw.Int(d.t, 0, 30, "again after"))
	}
}

// lag makes what one node sends to another late, for a while.
func lag(d *drawing) {
	from := d.broker()
	to := draw.From(d.t, "to", "controller", d.broker())
	d.nemesis("delay", "from", from, "to", to, "by", strconv.Itoa(d.lasts()), "for", strconv.Itoa(d.lasts()))
}

// nemesis adds a fault with its arguments given in pairs.
func (d *drawing) nemesis(verb string, pairs ...string) {
	var args []schedule.Arg
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, schedule.Arg{Key: pairs[i], Value: pairs[i+1]})
	}
	d.add(schedule.Nemesis, verb, nil, args...)
}
