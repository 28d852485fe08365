// Package gen draws schedules for the reference cluster with rapid.
//
// There is one generator. It is not tuned to any seeded bug: what helps to find
// one helps all. Each schedule has its own mix of faults (swarm testing, Groce
// et al., 2012), a small cluster, short timeouts so that sessions expire and
// leaders change within a few steps, and bursts of steps close together. In every
// other one, who can least afford it gets the lead at the worst moment, again and again.
// Schedules shrink towards calm: no fault, no step.
package gen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
	"pgregory.net/rapid"
)

// Options fixes what would be drawn otherwise.
type Options struct {
	Bugs     []string           // seeded bugs to switch on
	Settings []schedule.Setting // settings that take these values
	Steps    int                // at most so many are drawn, not counting those that motifs add; 0 means DefaultSteps
}

// DefaultSteps leaves room for what loses messages, and for many schedules a second.
const DefaultSteps = 30

// Schedule returns the generator of schedules.
func Schedule(opt Options) *rapid.Generator[schedule.Schedule] {
	return rapid.Custom(func(t *rapid.T) schedule.Schedule { return drawn(draw.Rapid(t), opt) })
}

// Example returns what the generator's Example of that seed returns, with the
// least work.
func Example(opt Options, seed uint64) schedule.Schedule { return drawn(draw.NewStream(seed), opt) }

func drawn(choices draw.Source, opt Options) schedule.Schedule {
	d := &drawing{choices: choices, opt: opt, leader: "1", pace: &unhurried}
	d.settings()
	d.steps()
	return schedule.Schedule{Settings: d.set, Bugs: opt.Bugs, Steps: d.list}
}

// A pace is how often brokers speak though nothing happens, and how long clients wait:
// what timers may be set to, in milliseconds, and sessions in heartbeats.
type pace struct{ fetchWait, checkpoint, beat, session, request, delivery []int }

var (
	// Hunts run as many schedules as they can: heartbeats and fetches that wait in
	// vain would be half of their events. Some of their clients are patient: who gave
	// up never learns that a leader counted a record as committed.
	unhurried = pace{[]int{20, 10, 4}, []int{100, 25, 1000}, []int{20, 10, 30}, []int{2, 3, 5}, []int{60, 20, 200}, []int{200, 60, 500}}

	// Scripts are few, and what they provoke has to happen while they last.
	hasty = pace{[]int{20, 5, 2}, []int{100, 10, 1000}, []int{10, 5, 20}, []int{4, 3, 10}, []int{60, 20}, []int{200, 60}}
)

type drawing struct {
	choices    draw.Source
	opt        Options
	pace       *pace
	set        []schedule.Setting
	list       []schedule.Step
	brokers    int
	partitions int
	now        int64
	value      int64 // of the last record sent
	faults     []impl.Fault
	victim     int    // the broker that many faults strike
	leader     string // the broker that was asked to lead last; at first the first of the assignment
	kind       int    // the kind of message that many faults strike
	deletes    bool   // whether somebody deletes records
	motifs     []func(*drawing)
	moments    []string // that faults may wait for
	sameAcks   bool     // sends leave it to the settings which acknowledgement they want
}

func (d *drawing) int(lo, hi int, label string) int { return d.choices.Int(lo, hi, label) }

func (d *drawing) oneIn(n int, label string) bool { return d.int(0, n-1, label) == n-1 }

// choose draws one of the items.
func choose[T any](d *drawing, label string, items ...T) T {
	return items[d.int(0, len(items)-1, label)]
}

// settings draws a cluster in which everything happens fast: hops take one
// millisecond, sessions a few dozen.
func (d *drawing) settings() {
	d.brokers = choose(d, "brokers", 3, 3, 2)
	d.is("brokers", d.brokers)
	d.partitions = choose(d, "partitions", 1, 1, 1, 1, 1, 1, 2, 3)
	d.is("partitions", d.partitions)
	d.is("default.replication.factor", d.brokers-choose(d, "spare", 0, 0, 0, 1))
	d.is("min.insync.replicas", choose(d, "min isr", 1, 2, 1, d.brokers-1))
	d.is("replica.fetch.wait.max.ms", choose(d, "fetch wait", d.pace.fetchWait...))
	d.is("replica.fetch.backoff.ms", choose(d, "fetch backoff", 10, 3))
	d.is("replica.lag.time.max.ms", choose(d, "lag", 300, 100, 30, 10))
	d.is("replica.high.watermark.checkpoint.interval.ms", choose(d, "checkpoint", d.pace.checkpoint...))
	beat := choose(d, "heartbeat", d.pace.beat...)
	d.is("broker.heartbeat.interval.ms", beat)
	d.is("broker.session.timeout.ms", beat*choose(d, "session", d.pace.session...))
	d.is("request.timeout.ms", choose(d, "request timeout", d.pace.request...))
	d.is("retry.backoff.ms", choose(d, "retry backoff", 5, 2))
	d.is("delivery.timeout.ms", choose(d, "delivery timeout", d.pace.delivery...))
	d.is("default.api.timeout.ms", choose(d, "api timeout", 200, 60))
	d.is("controlled.shutdown.timeout.ms", 50)
	d.is("log.flush.interval.messages", choose(d, "flush", 0, 0, 0, 1, 2))
	d.fix(schedule.Setting{Key: "eligible.leader.replicas.enable", Value: choose(d, "elr", "false", "true")})
	d.fix(schedule.Setting{Key: "reads", Value: choose(d, "reads", "committed", "committed", "linearizable")})
	if d.oneIn(5, "follower reads") {
		d.fix(schedule.Setting{Key: "fetch.from", Value: "any"})
	}
	if d.oneIn(8, "asking") {
		d.fix(schedule.Setting{Key: "truncation", Value: "kip279"})
	}
	if d.oneIn(12, "unclean") {
		d.fix(schedule.Setting{Key: "unclean.leader.election.enable", Value: "true"})
	}
	if d.oneIn(5, "idempotence") {
		d.fix(schedule.Setting{Key: "enable.idempotence", Value: "true"})
	}
	if d.oneIn(6, "pipelining") {
		d.is("max.in.flight.requests.per.connection", choose(d, "in flight", 5, 2))
	}
	if d.oneIn(4, "sessions") {
		d.is("max.incremental.fetch.session.cache.slots", 1000)
	}
	if d.oneIn(10, "retries") {
		d.is("retries", d.int(1, 3, "attempts"))
	}
	for _, s := range d.opt.Settings {
		d.fix(s)
	}
}

func (d *drawing) is(key string, value int) {
	d.fix(schedule.Setting{Key: key, Value: strconv.Itoa(value)})
}

// fix gives a setting a value, and takes back one it had.
func (d *drawing) fix(s schedule.Setting) {
	if n, err := strconv.Atoi(s.Value); err == nil && n > 0 {
		switch s.Key {
		case "brokers":
			d.brokers = n
		case "partitions":
			d.partitions = n
		}
	}
	for i := range d.set {
		if d.set[i].Key == s.Key {
			d.set[i] = s
			return
		}
	}
	d.set = append(d.set, s)
}

// steps draws the mix of trouble of this schedule, and then its steps.
func (d *drawing) steps() {
	d.deletes = d.oneIn(6, "deletes")
	d.sameAcks = !d.oneIn(3, "mixed acks")
	d.victim = d.int(1, d.brokers, "victim")
	d.kind = d.int(0, 6, "kind of message")
	for range d.int(0, 5, "kinds of faults") {
		d.faults = append(d.faults, choose(d, "fault", impl.Faults...))
	}
	for _, m := range motifs {
		if d.oneIn(3, "motif") {
			d.motifs = append(d.motifs, m)
		}
	}
	if d.oneIn(4, "ambushes") {
		for range d.int(1, 2, "moments") {
			d.moments = append(d.moments, choose(d, "moment", impl.AmbushArgs[0].Values...))
		}
	}
	d.now = 20 // the cluster has elected its first leader by then
	if d.oneIn(3, "sluggish") {
		d.sluggish()
	}
	n := d.int(2, cmp.Or(d.opt.Steps, DefaultSteps), "steps")
	if d.oneIn(2, "intrigue") {
		d.intrigue(n)
	}
	d.list = slices.Grow(d.list, 2*n) // with what motifs add, mostly enough
	for range n {
		d.now += int64(d.gap())
		switch pick := d.int(0, 9, "step"); {
		case pick < 4: // side by side they see more of a moment, and it costs no more time
			for range choose(d, "at once", 1, 2, 3, 4) {
				d.client()
			}
		case pick >= 7 && len(d.motifs) > 0:
			choose(d, "which motif", d.motifs...)(d)
		case len(d.faults) > 0:
			d.fault(choose(d, "which fault", d.faults...))
		}
	}
	d.inOrder()
}

// inOrder sorts the steps by time.
func (d *drawing) inOrder() {
	slices.SortStableFunc(d.list, func(a, b schedule.Step) int { return cmp.Compare(a.At, b.At) })
}

// gap draws the time between two steps: mostly a hop or a few, sometimes long
// enough for a session to expire.
func (d *drawing) gap() int {
	switch d.int(0, 5, "pace") {
	case 0:
		return 0
	case 1, 2:
		return d.int(1, 4, "gap")
	case 3, 4:
		return d.int(3, 18, "gap")
	}
	return d.int(10, 90, "gap")
}

// lasts draws how long a fault goes on.
func (d *drawing) lasts() int {
	return choose(d, "lasts", 3, 8, 25, 60, 150) + d.int(0, 7, "more")
}

func (d *drawing) add(actor, verb string, words []string, args ...schedule.Arg) {
	d.list = append(d.list, schedule.Step{At: d.now, Actor: actor, Verb: verb, Words: words, Args: args})
}

// client draws an operation of one of a few producers and consumers.
func (d *drawing) client() {
	if d.deletes && d.oneIn(8, "delete") {
		d.add("A1", "delete-records", []string{strconv.Itoa(d.int(0, int(d.value), "to"))}, d.where()...)
		return
	}
	if d.int(0, 4, "role") <= 2 {
		d.send("P" + strconv.Itoa(d.int(1, 3, "producer")))
		return
	}
	actor := "C" + strconv.Itoa(d.int(1, 2, "consumer"))
	where := d.where()
	switch d.int(0, 5, "read") {
	case 0, 1:
		d.add(actor, "list", []string{"latest"}, where...)
	case 2:
		from := schedule.Arg{Key: "from", Value: strconv.Itoa(d.int(0, int(d.value), "from"))}
		d.add(actor, "fetch", nil, append([]schedule.Arg{from}, where...)...)
	default:
		d.add(actor, "poll", nil, where...)
	}
}

func (d *drawing) send(actor string) {
	var values []string
	for range max(1, d.int(0, 5, "batch")-2) {
		d.value++
		values = append(values, strconv.FormatInt(d.value, 10))
	}
	d.add(actor, "send", []string{strings.Join(values, ",")}, append(d.acks(), d.where()...)...)
}

// acks draws how many replicas a send waits for.
func (d *drawing) acks() []schedule.Arg {
	if d.sameAcks {
		return nil
	}
	if acks := choose(d, "acks", "all", "all", "all", "1", "1", "0"); acks != "all" {
		return []schedule.Arg{{Key: "acks", Value: acks}}
	}
	return nil
}

// where draws the partition that a client means, and sometimes the broker that it
// asks first, so that clients stay on one side of a cut.
func (d *drawing) where() (args []schedule.Arg) {
	if d.oneIn(4, "via") {
		args = append(args, schedule.Arg{Key: "via", Value: d.broker()})
	}
	if p := d.partition(); p != "0" {
		args = append(args, schedule.Arg{Key: "partition", Value: p})
	}
	return args
}

// partition draws one of them, mostly the first.
func (d *drawing) partition() string {
	if d.partitions == 1 || d.oneIn(2, "first") {
		return "0"
	}
	return strconv.Itoa(d.int(0, d.partitions-1, "partition"))
}

func (d *drawing) broker() string {
	if d.oneIn(2, "victim again") {
		return strconv.Itoa(d.victim)
	}
	return strconv.Itoa(d.int(1, d.brokers, "broker"))
}

// cast draws a broker, or a role for one.
func (d *drawing) cast() string {
	if d.oneIn(2, "role") {
		return impl.Roles[d.int(0, len(impl.Roles)-1, "which role")].Name
	}
	return d.broker()
}

// replicas draws some brokers in some order.
func (d *drawing) replicas() string {
	brokers := d.choices.Order(numbers(d.brokers), "replicas")
	return strings.Join(brokers[:d.int(1, d.brokers, "how many")], ",")
}

func numbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// fault draws the arguments of a fault by their kinds. How long it lasts is
// always drawn, so that no fault outlives the steps by much.
func (d *drawing) fault(f impl.Fault) {
	var args []schedule.Arg
	for _, spec := range f.Args {
		if spec.Optional && spec.Kind != impl.DurationArg && d.oneIn(2, spec.Key) {
			continue
		}
		args = append(args, schedule.Arg{Key: spec.Key, Value: d.argument(spec)})
	}
	d.add(schedule.Nemesis, f.Verb, nil, append(args, d.ambush()...)...)
}

// ambush lets some faults wait for one of the moments of the schedule.
func (d *drawing) ambush() []schedule.Arg {
	if len(d.moments) == 0 || d.oneIn(2, "at once") {
		return nil
	}
	return []schedule.Arg{{Key: "when", Value: choose(d, "when", d.moments...)}, {Key: "within", Value: strconv.Itoa(d.lasts())}}
}

func (d *drawing) argument(spec impl.ArgSpec) string {
	switch spec.Kind {
	case impl.BrokerArg:
		return d.cast()
	case impl.NodeArg:
		if d.oneIn(4, "controller") {
			return "controller"
		}
		return d.cast()
	case impl.DurationArg:
		return strconv.Itoa(d.lasts())
	case impl.CountArg:
		return strconv.Itoa(d.int(1, 3, spec.Key))
	case impl.MessageArg:
		if d.oneIn(2, "kind again") {
			return spec.Values[d.kind%len(spec.Values)]
		}
		return choose(d, "kind", spec.Values...)
	case impl.PartitionArg:
		return d.partition()
	case impl.ReplicasArg:
		return d.replicas()
	case impl.ClientArg:
		return "P" + strconv.Itoa(d.int(1, 3, "client"))
	}
	return "0"
}
