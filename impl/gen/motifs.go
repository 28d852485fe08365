package gen

import (
	"strconv"

	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// motifs are short patterns of trouble that single faults rarely add up to by
// chance: replication protocols go wrong where changes follow each other
// faster than messages do. Each schedule uses some of them or none.
var motifs = []func(*drawing){bounce, exile, relapse, lag, fork, dusk, resettle, heir, strand, watch, oversleep, coup}

// bounce moves the leadership there and back.
func bounce(d *drawing) { d.swing(d.broker()) }

// fork makes the ends of logs differ before the leadership moves: a follower
// misses what is written, and is the next to lead.
func fork(d *drawing) {
	follower := strconv.Itoa(d.int(1, d.brokers, "follower"))
	d.nemesis("drop", "kind", "fetch-response", "to", follower, "for", strconv.Itoa(d.int(2, 20, "misses")))
	d.now += int64(d.int(0, 2, "pause"))
	d.send("P" + strconv.Itoa(d.int(1, 3, "producer")))
	d.now += int64(d.int(3, 10, "pause"))
	d.swing(follower)
}

// swing moves the leadership between a broker and another, mostly the one that
// led before, at some pace, with writes and reads in between, and sometimes
// somebody who asks each of them. Sometimes a broker hears late of a move, or only
// of the next one, or what followers and leaders tell each other arrives when the
// next one leads; and sometimes one of the two is the heir.
func (d *drawing) swing(first string) {
	leaders := [2]string{first, choose(d, "second", d.leader, d.leader, d.broker())}
	watched := d.oneIn(3, "watched")
	pace := choose(d, "pace", 9, 4, 1)
	if d.oneIn(3, "unaware") {
		held := choose(d, "who", leaders[0], leaders[1], d.broker())
		d.hold(held)
		if d.oneIn(2, "awaken") {
			d.awaken(held)
		}
	}
	moves := d.int(2, 5, "moves")
	heir := choose(d, "heir", -1, -1, moves)
	for i := range moves {
		for range choose(d, "late", 0, 1, 1, 2) {
			d.late()
		}
		d.leader = leaders[i%2]
		d.nemesis("move-leader", "to", d.leader)
		d.now += int64(d.int(0, pace, "pause"))
		if watched {
			d.ask(d.leader, leaders[(i+1)%2])
		}
		for range d.int(0, 2, "operations") {
			d.client()
			d.now += int64(d.int(0, min(4, pace), "pause"))
		}
	}
	if heir == moves {
		d.inherit(leaders[:]...)
	}
}

// ask asks a leader for the end, and reads from the one before it.
func (d *drawing) ask(leader, former string) {
	d.add("C1", "list", []string{"latest"}, schedule.Arg{Key: "via", Value: leader})
	d.add("C2", "fetch", nil, schedule.Arg{Key: "from", Value: "0"}, schedule.Arg{Key: "via", Value: former})
}

// oversleep lets a broker miss that another one leads for a while, in which the
// others go on without it. Often a record is written before that has not reached who
// is to lead; often some broker is late when the first leads again; and often one of
// the two is the heir.
func oversleep(d *drawing) {
	former, next := d.leader, strconv.Itoa(d.int(1, d.brokers, "next"))
	if d.oneIn(2, "fork") {
		d.nemesis("drop", "kind", "fetch-response", "to", next, "for", strconv.Itoa(d.int(5, 60, "misses")))
		d.send("P1")
		d.now += int64(d.int(3, choose(d, "how soon", 8, 50), "pause"))
	}
	sleeper := strconv.Itoa(d.int(1, d.brokers, "sleeper"))
	straggler := choose(d, "straggler", sleeper, strconv.Itoa(d.int(1, d.brokers, "another")))
	lasts := strconv.Itoa(d.int(5, 80, "for"))
	d.nemesis("drop", "kind", "metadata", "to", sleeper, "for", lasts)
	if d.oneIn(2, "fenced") {
		d.nemesis("fence", "broker", sleeper, "for", lasts)
	}
	heir := choose(d, "heir", -1, 1, 1, 2)
	for i, leader := range []string{next, former} {
		if i == heir {
			d.awaken(sleeper)
		}
		if i == 1 && d.oneIn(2, "late") {
			kind, end := choose(d, "kind", "fetch", "metadata", "fetch-response"), "to"
			if kind == "fetch" {
				end = "from"
			}
			d.nemesis("delay", "kind", kind, end, straggler, "by", strconv.Itoa(d.int(5, 60, "by")), "for", strconv.Itoa(d.int(5, 40, "for")))
		}
		d.leader = leader
		d.nemesis("move-leader", "to", leader)
		for range d.int(0, 2, "sends") {
			d.now += int64(d.int(1, 6, "pause"))
			d.send("P2")
		}
		d.now += int64(d.int(1, 6, "pause"))
	}
	if heir == 2 {
		d.inherit(sleeper, straggler)
	}
}

// hold lets a broker hear of nothing for some moves, and then of all at once.
func (d *drawing) hold(broker string) {
	d.nemesis("hold-metadata", "broker", broker, "for", strconv.Itoa(d.int(3, choose(d, "how long", 15, 60), "for")))
	d.now += int64(d.int(0, 2, "pause"))
}

// sluggish makes one or two kinds of messages slow for most of the schedule, so
// that what usually lasts a hop or two lasts long enough for something else to happen.
func (d *drawing) sluggish() {
	for range d.int(1, 2, "kinds") {
		pairs := []string{"kind", choose(d, "kind", "fetch", "fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata")}
		if d.oneIn(2, "one") {
			pairs = append(pairs, choose(d, "end", "from", "to"), d.broker())
		}
		d.nemesis("delay", append(pairs, "by", strconv.Itoa(d.int(2, 40, "by")), "for", strconv.Itoa(d.int(50, 500, "for")))...)
	}
}

// late delays or loses some of what brokers are told, for a few milliseconds.
func (d *drawing) late() {
	kind := choose(d, "kind", "metadata", "metadata", "fetch-response", "fetch", "alter-partition")
	end, who := choose(d, "end", "to", "from"), d.broker()
	if kind == "metadata" {
		end, who = "to", choose(d, "who", d.leader, who)
	}
	lasts := strconv.Itoa(d.int(1, 5, "for"))
	if d.oneIn(2, "lost") {
		d.nemesis("drop", "kind", kind, end, who, "for", lasts)
	} else {
		d.nemesis("delay", "kind", kind, end, who, "by", strconv.Itoa(d.int(2, 40, "by")), "for", lasts)
	}
	d.now += int64(d.int(0, 2, "pause"))
}

// resettle moves a partition to other replicas, and often changes its mind.
func resettle(d *drawing) {
	for range d.int(1, 2, "times") {
		d.nemesis("reassign", "to", d.replicas())
		if d.oneIn(2, "changed mind") {
			d.now += int64(d.int(0, 12, "pause"))
			d.nemesis("cancel-reassignment")
		}
		d.now += int64(d.int(0, 20, "pause"))
	}
}

// exile cuts a broker, often the leader, off the controller for longer than a
// session, while brokers and clients still reach it, or leaves it to a controller
// that was deposed. Often another one hears nothing from leaders meanwhile, and
// often that is the heir.
func exile(d *drawing) {
	broker, lasts := choose(d, "who", d.leader, d.broker()), d.lasts()+choose(d, "long", 0, 60, 120)
	if d.oneIn(2, "starved") {
		other := strconv.Itoa(d.int(1, d.brokers, "other"))
		d.nemesis("drop", "kind", "fetch-response", "to", other, "for", strconv.Itoa(lasts))
		if d.oneIn(2, "heir") {
			began := d.now
			d.now += int64(d.int(1, lasts, "later"))
			d.succeed(other)
			d.now = began
		}
	}
	if d.oneIn(3, "deposed") {
		d.nemesis("depose-controller", "broker", broker, "for", strconv.Itoa(lasts))
	} else {
		d.nemesis("partition", "a", broker, "b", "controller", "for", strconv.Itoa(lasts))
	}
}

// relapse takes a broker down and strikes it again about when it is back,
// sometimes while messages of some kinds are late everywhere, and sometimes the
// controller notices at once.
func relapse(d *drawing) {
	for range choose(d, "late kinds", 0, 2, 3) {
		d.nemesis("delay", "kind", choose(d, "late", "fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata"),
			"by", strconv.Itoa(d.int(5, choose(d, "how late", 60, 200), "by")), "for", strconv.Itoa(d.int(20, 150, "for")))
	}
	broker, down := strconv.Itoa(d.victim), d.int(1, 20, "down")
	for range d.int(2, 3, "times") {
		verb := choose(d, "how", "fence", "wipe", "crash", "power-loss")
		d.nemesis(verb, "broker", broker, "for", strconv.Itoa(down))
		if d.oneIn(2, "noticed") {
			d.nemesis("fence", "broker", broker, "for", "1")
		}
		d.now += int64(down + d.int(0, 30, "again after"))
	}
	if d.oneIn(2, "heir") {
		d.now -= int64(d.int(0, down, "while down"))
		d.inherit(broker)
	}
}

// coup takes the lead from a broker, in one way or another, at the moment at which
// something happens that others have not heard of yet.
func coup(d *drawing) {
	if len(d.moments) == 0 {
		d.moments = append(d.moments, choose(d, "moment", impl.AmbushArgs[0].Values...))
	}
	wait := []string{"when", choose(d, "when", d.moments...), "within", strconv.Itoa(d.lasts())}
	for range d.int(1, 3, "times") {
		switch way := choose(d, "way", "move-leader", "move-leader", "fence", "crash"); way {
		case "move-leader":
			d.nemesis(way, append([]string{"to", choose(d, "to whom", "hindmost", d.broker()), "for", strconv.Itoa(d.int(1, 30, "for"))}, wait...)...)
		default:
			d.nemesis(way, append([]string{"broker", choose(d, "who", d.leader, d.broker(), "leader"), "for", strconv.Itoa(d.int(1, 60, "for"))}, wait...)...)
		}
		d.now += int64(d.int(0, 20, "pause"))
	}
}

// heir is a broker that is to lead.
func heir(d *drawing) { d.inherit(d.broker()) }

// inherit makes one of some brokers the heir, or lets somebody usurp the lead.
func (d *drawing) inherit(brokers ...string) {
	if d.oneIn(2, "usurp") {
		d.usurp(choose(d, "when", critical...), "within", strconv.Itoa(d.int(5, choose(d, "how long", 30, 300), "within")))
		return
	}
	d.succeed(choose(d, "which heir", brokers...))
}

// succeed makes a broker the leader as soon as it can be, or something is committed,
// often while nothing that others have reaches it: what it lacks by then, it has no
// time to make up for.
func (d *drawing) succeed(heir string) {
	lasts := strconv.Itoa(d.int(5, choose(d, "how long", 30, 300), "for"))
	if d.oneIn(2, "deaf") {
		d.nemesis("drop", "kind", "fetch-response", "to", heir, "for", lasts)
		d.now += int64(d.int(0, choose(d, "how soon", 4, 40), "pause"))
	}
	d.leader = heir
	move := []string{"to", heir, "for", lasts}
	if d.oneIn(3, "commit") {
		move = append(move, "when", "commit", "within", lasts)
	}
	d.nemesis("move-leader", move...)
	d.now += int64(d.int(0, 9, "pause"))
}

// critical are the moments at which somebody in the ISR may lack what a client has
// been told of.
var critical = []string{"truncation", "isr-expansion", "first-commit"}

// usurp lets whoever lacks most of what the leader has take its place when a moment
// comes.
func (d *drawing) usurp(moment string, how ...string) {
	d.nemesis("move-leader", append([]string{"to", "hindmost", "when", moment}, how...)...)
}

// awaken lets it do so when a broker that has missed something is back among the
// others.
func (d *drawing) awaken(broker string) {
	d.usurp("first-commit", "of", broker, "within", "300")
	d.usurp("isr-expansion", "of", broker, "within", "300")
}

// intrigue lets it do so again and again in a schedule of so many steps.
func (d *drawing) intrigue(steps int) {
	for _, moment := range critical {
		if moment == "first-commit" && d.oneIn(2, "not then") {
			continue // it comes so often that hardly anything else happens
		}
		d.usurp(moment, "times", strconv.Itoa(d.int(1, 9, "times")), "within", strconv.Itoa(d.int(5*steps, 20*steps, "within")))
	}
}

// dusk takes one broker after another down, in some way, until none is left, and
// lets them come back in any order.
func dusk(d *drawing) {
	if d.oneIn(4, "at any price") {
		d.nemesis("elect-unclean", "when", "vacancy", "within", strconv.Itoa(d.int(50, 400, "within")))
	}
	broker := d.int(1, d.brokers, "first")
	for range d.brokers {
		verb := choose(d, "way", "shutdown", "shutdown", "fence", "crash", "power-loss", "wipe")
		d.nemesis(verb, "broker", strconv.Itoa(broker), "for", strconv.Itoa(d.int(10, 250, "for")))
		d.now += int64(d.int(2, 50, "next"))
		broker = broker%d.brokers + 1
	}
	if d.oneIn(2, "heir") {
		d.succeed(d.broker())
	}
}

// lag makes what one node sends to another late, for a while.
func lag(d *drawing) {
	from := d.broker()
	to := choose(d, "to", "controller", d.broker())
	d.nemesis("delay", "from", from, "to", to, "by", strconv.Itoa(d.lasts()), "for", strconv.Itoa(d.lasts()))
}

// strand deposes a leader that has records which nobody else has, and lets
// somebody read from it when it follows.
func strand(d *drawing) {
	leader := d.leader
	d.nemesis("drop", "kind", "fetch-response", "from", leader, "for", strconv.Itoa(d.int(2, 20, "misses")))
	d.now += int64(d.int(0, 2, "pause"))
	d.send("P1")
	d.now += int64(d.int(2, 8, "pause"))
	switch way := choose(d, "way", "fence", "crash", "move"); way {
	case "move":
		d.leader = d.broker()
		d.nemesis("move-leader", "to", d.leader)
	case "crash":
		d.nemesis("crash", "broker", leader, "for", strconv.Itoa(d.int(1, 30, "for")))
		fallthrough
	default:
		d.nemesis("fence", "broker", leader, "for", strconv.Itoa(d.int(1, 30, "for")))
	}
	d.send("P2")
	d.reads(leader)
}

// watch keeps a consumer reading from one broker while other things happen.
func watch(d *drawing) { d.reads(d.broker()) }

// reads adds some reads from one broker, without waiting for them.
func (d *drawing) reads(broker string) {
	began := d.now
	for range d.int(2, 8, "reads") {
		if via := (schedule.Arg{Key: "via", Value: broker}); d.oneIn(2, "poll") {
			d.add("C1", "poll", nil, via)
		} else {
			d.add("C2", "fetch", nil, schedule.Arg{Key: "from", Value: "0"}, via)
		}
		d.now += int64(d.int(1, 12, "pause"))
	}
	d.now = began
}

// nemesis adds a fault with its arguments given in pairs.
func (d *drawing) nemesis(verb string, pairs ...string) {
	var args []schedule.Arg
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, schedule.Arg{Key: pairs[i], Value: pairs[i+1]})
	}
	d.add(schedule.Nemesis, verb, nil, args...)
}
