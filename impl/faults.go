package impl

import "slices"

// A Fault is something that can go wrong around the protocol. Each carries its
// own end, so leaving one out always moves a run towards calm.
type Fault struct {
	Verb, Says string
	Args       []ArgSpec

	// apply does it and returns "", or says why it does not apply now.
	apply func(c *Cluster, a *args) string
}

// An ArgKind is the type of an argument.
type ArgKind uint8

// The types of arguments.
const (
	BrokerArg    ArgKind = iota // a broker's number
	NodeArg                     // a broker's number, or "controller"
	DurationArg                 // milliseconds, at least 1
	CountArg                    // an integer, at least 1
	MessageArg                  // one of Values: a kind of message, or of acknowledgement
	ClientArg                   // a client's name
	PartitionArg                // a partition's number
	OffsetArg                   // an offset
	ReplicasArg                 // brokers' numbers, comma separated
)

// An ArgSpec is one key=value argument.
type ArgSpec struct {
	Key      string
	Kind     ArgKind
	Optional bool
	Values   []string // of a MessageArg
}

// messageKinds are the messages that faults may name. Produce requests and
// their answers are never duplicated: TCP does not.
var (
	copiedKinds  = []string{"fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata"}
	messageKinds = append(copiedKinds[:len(copiedKinds):len(copiedKinds)], "produce", "produce-response")
)

var (
	brokerArg   = ArgSpec{Key: "broker", Kind: BrokerArg}
	forArg      = ArgSpec{Key: "for", Kind: DurationArg}
	optionalFor = ArgSpec{Key: "for", Kind: DurationArg, Optional: true}
	countArg    = ArgSpec{Key: "count", Kind: CountArg, Optional: true}
	fromArg     = ArgSpec{Key: "from", Kind: NodeArg, Optional: true}
	toArg       = ArgSpec{Key: "to", Kind: NodeArg, Optional: true}
)

// Faults is the table. Rows are added at the end. It is filled by init because
// the functions it names lead back to it.
var Faults []Fault

// faultArgs are the arguments of each fault, with those that all have.
var faultArgs [][]ArgSpec

func init() {
	Faults = []Fault{
		{"crash", "a broker's process dies and comes back; the page cache survives",
			[]ArgSpec{brokerArg, forArg}, applyCrash},
		{"power-loss", "a broker loses power, and with it records that were not flushed: the last lose, or all",
			[]ArgSpec{brokerArg, forArg, {Key: "lose", Kind: CountArg, Optional: true}}, applyPowerLoss},
		{"wipe", "a broker crashes and comes back with an empty disk",
			[]ArgSpec{brokerArg, forArg}, applyWipe},
		{"pause", "a broker stands still, as in a garbage collection; its messages and timers wait",
			[]ArgSpec{brokerArg, forArg}, applyPause},
		{"cut", "messages from one node to another are lost",
			[]ArgSpec{{Key: "from", Kind: NodeArg}, {Key: "to", Kind: NodeArg}, forArg}, applyCut},
		{"partition", "messages between two nodes are lost, both ways",
			[]ArgSpec{{Key: "a", Kind: NodeArg}, {Key: "b", Kind: NodeArg}, forArg}, applyPartition},
		{"isolate", "a node is cut off from brokers and controller; clients still reach it",
			[]ArgSpec{{Key: "node", Kind: NodeArg}, forArg}, applyIsolate},
		{"delay", "messages arrive later: those of one kind, or all between brokers and controller",
			[]ArgSpec{{Key: "kind", Kind: MessageArg, Values: messageKinds, Optional: true}, fromArg, toArg, {Key: "by", Kind: DurationArg}, forArg}, applyDelay},
		{"drop", "messages of one kind are lost, some or for some time",
			[]ArgSpec{{Key: "kind", Kind: MessageArg, Values: messageKinds}, fromArg, toArg, countArg, optionalFor}, applyDrop},
		{"duplicate", "messages of one kind arrive twice",
			[]ArgSpec{{Key: "kind", Kind: MessageArg, Values: copiedKinds}, fromArg, toArg, countArg, optionalFor}, applyDuplicate},
		{"shutdown", "a broker asks leave to stop, stops cleanly, and comes back",
			[]ArgSpec{brokerArg, forArg}, applyShutdown},
		{"elect-preferred", "the controller hands leadership to the first replica of the assignment",
			[]ArgSpec{{Key: "partition", Kind: PartitionArg, Optional: true}}, applyElectPreferred},
		{"fence", "the controller takes a broker out of service, whatever its heartbeats say",
			[]ArgSpec{brokerArg, forArg}, applyFence},
		{"timeout", "a client gives up what it waits for",
			[]ArgSpec{{Key: "client", Kind: ClientArg}}, applyTimeout},
		{"move-leader", "the controller makes a member of the ISR the leader, if it leads already in a new epoch; one that is not in the ISR, as soon as it is, if that is soon enough",
			[]ArgSpec{{Key: "to", Kind: BrokerArg}, {Key: "partition", Kind: PartitionArg, Optional: true}, optionalFor}, applyMoveLeader},
		{"reassign", "the controller moves a partition to other replicas, the preferred leader first",
			[]ArgSpec{{Key: "to", Kind: ReplicasArg}, {Key: "partition", Kind: PartitionArg, Optional: true}}, applyReassign},
		{"cancel-reassignment", "the controller takes a reassignment that is not complete back",
			[]ArgSpec{{Key: "partition", Kind: PartitionArg, Optional: true}}, applyCancel},
		{"hold-metadata", "a broker applies no metadata for a while, and then all of it as one delta",
			[]ArgSpec{brokerArg, forArg}, applyHoldMetadata},
		{"restart-controller", "the controller's process dies and comes back: requests in flight are lost, and what it had not written down",
			[]ArgSpec{forArg}, applyRestartController},
		{"clock", "a broker's clock runs slower or faster by a factor",
			[]ArgSpec{brokerArg, {Key: "slower", Kind: CountArg, Optional: true}, {Key: "faster", Kind: CountArg, Optional: true}, forArg}, applyClock},
		{"slow-disk", "a broker appends and reads its log late",
			[]ArgSpec{brokerArg, {Key: "by", Kind: DurationArg}, forArg}, applySlowDisk},
		{"elect-unclean", "somebody asks the controller for a leader at any price: whoever is in service, if nobody else can lead",
			[]ArgSpec{{Key: "partition", Kind: PartitionArg, Optional: true}}, applyElectUnclean},
		{"depose-controller", "another controller takes over; a broker goes on sending its proposals to the old one, which knows no better",
			[]ArgSpec{brokerArg, forArg}, applyDeposeController},
	}
	for _, f := range Faults {
		faultArgs = append(faultArgs, slices.Concat(f.Args, AmbushArgs))
	}
}

// args are a step's arguments, read.
type args struct {
	broker, from, to, a, b, node node
	duration, lose, count, by    int64
	slower, faster               int64
	replicas                     []node
	kind                         kind
	when                         moment
	within                       int64
	of                           node  // whom the moment has to be about, 0 for anybody
	times, left                  int64 // how often the fault strikes, and will
	client                       string
	partition                    int32
	text                         string // the fault in words
	step                         int
	said                         int64 // the place of text among what faults said, from 1; 0 if it is that of the step
}

// faultOf is the place of a fault in the table, -1 if there is none of that verb.
func faultOf(verb string) int {
	for i := range Faults {
		if Faults[i].Verb == verb {
			return i
		}
	}
	return -1
}

func (c *Cluster) broker(b node) *broker {
	if b < 1 || int(b) >= len(c.brokers) {
		return nil
	}
	return &c.brokers[b]
}

// applyDown ends a broker's process, after which spoil may damage its disk.
func (c *Cluster) applyDown(a *args, spoil func(*replica) bool) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down {
		return "the broker is not up"
	}
	for p := range b.replicas {
		had := b.replicas[p].log
		if spoil(&b.replicas[p]) {
			c.onLoss(p, b, &had)
		}
	}
	c.disconnectAll(b)
	b.crash()
	b.timer(b.id, restartTimer, a.duration, 0)
	return ""
}

func applyCrash(c *Cluster, a *args) string {
	return c.applyDown(a, func(*replica) bool { return false })
}

func applyPowerLoss(c *Cluster, a *args) string {
	return c.applyDown(a, func(r *replica) bool { return r.log.losePower(a.lose) })
}

func applyWipe(c *Cluster, a *args) string {
	return c.applyDown(a, (*replica).wipe)
}

func applyPause(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down || b.pausedUntil > c.now {
		return "the broker is not up and going"
	}
	b.pausedUntil = c.now + a.duration
	b.timer(b.id, resumeTimer, a.duration, b.incarnation)
	return ""
}

func applyCut(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.from, to: a.to})
}

func applyPartition(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.a, to: a.b}, rule{effect: effectCut, from: a.b, to: a.a})
}

func applyIsolate(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.node, to: anyNode}, rule{effect: effectCut, from: anyNode, to: a.node})
}

func applyDelay(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDelay, kind: a.kind, from: a.from, to: a.to, by: a.by})
}

func applyDrop(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDrop, kind: a.kind, from: a.from, to: a.to, count: a.count})
}

func applyDuplicate(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDuplicate, kind: a.kind, from: a.from, to: a.to, count: a.count})
}

// countedFor is how long a fault waits for the messages it is to hit.
const countedFor = 30_000

// addRules makes the network follow rules for as long as the step says. If no message
// will ever match them, that is nothing, but the run waits for its end all the same: a
// schedule's events do not depend on whether somebody looked for a match.
func (c *Cluster) addRules(a *args, rules ...rule) string {
	duration := a.duration
	if duration == 0 {
		duration = countedFor
	}
	why := ""
	for _, r := range rules {
		why = r.never(c.net.brokers)
		if r.count == 0 {
			r.count = forever
			if a.duration == 0 {
				r.count = 1
			}
		}
		r.until = c.now + duration
		c.net.rules = append(c.net.rules, r)
	}
	c.endFault(a, duration)
	c.quietAt = max(c.quietAt, c.now+duration+c.net.lateness(c.now)) // what was delayed last
	if why != "" {
		c.passOver(a)
	}
	return why
}

func applyShutdown(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state != running || b.pausedUntil > c.now {
		return "the broker is not running"
	}
	b.shutdown(a.duration)
	return ""
}

func applyElectPreferred(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	reg := &c.controller.image.partitions[a.partition]
	switch {
	case reg.leader == reg.assignment[0]:
		return "ELECTION_NOT_NEEDED: the preferred replica leads already"
	case !c.controller.change(a.partition, reg.isr, 0, electPreferred):
		return "PREFERRED_LEADER_NOT_AVAILABLE"
	}
	c.controller.publish()
	return ""
}

func applyElectUnclean(c *Cluster, a *args) string {
	if int(a.partition) >= len(c.ghosts) {
		return "there is no such partition"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	reg := &c.controller.image.partitions[a.partition]
	switch {
	case reg.leader != nobody:
		return "ELECTION_NOT_NEEDED: there is a leader"
	case !c.controller.change(a.partition, reg.isr, 0, electUnclean):
		return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
	}
	c.controller.publish()
	return ""
}

func applyFence(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil {
		return "there is no such broker"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	s := &c.controller.sessions[b.id]
	s.fencedUntil = max(s.fencedUntil, c.now+a.duration)
	c.endFault(a, a.duration)
	if !c.controller.image.brokers[b.id].fenced {
		c.controller.fence(b.id)
		c.controller.publish()
	}
	return ""
}

func applyTimeout(c *Cluster, a *args) string {
	for i := range c.clients {
		if c.clients[i].name == a.client && c.clients[i].interrupt() {
			return ""
		}
	}
	return "the client is not waiting for anything"
}

func applyMoveLeader(c *Cluster, a *args) string {
	if c.broker(a.to) == nil || int(a.partition) >= len(c.ghosts) {
		return "there is no such replica"
	}
	if c.controllerDown() {
		return controllerIsDown
	}
	switch {
	case c.controller.move(a.partition, a.to):
		c.controller.publish()
	case a.duration == 0:
		return "the broker is not in the ISR and in service"
	default:
		c.controller.wishes = append(c.controller.wishes, wish{a.partition, a.to, c.now + a.duration})
		c.endFault(a, a.duration)
	}
	return ""
}

func applyHoldMetadata(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || b.state == down {
		return "the broker is not up"
	}
	b.holdUntil = max(b.holdUntil, c.now+a.duration)
	b.timer(b.id, releaseTimer, a.duration, 0)
	c.endFault(a, a.duration)
	return ""
}

func applyRestartController(c *Cluster, a *args) string {
	if c.controllerDown() {
		return controllerIsDown
	}
	c.controller.restart(a.duration)
	c.endFault(a, a.duration)
	return ""
}

// controllerIsDown is why steps that ask something of it do nothing.
const controllerIsDown = "the controller is down"

func (c *Cluster) controllerDown() bool { return c.now < c.controller.downUntil }

func applyClock(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil || a.slower == a.faster {
		return "there is no such broker, or the clock would run as before"
	}
	b.clock.change(c.now, a.duration, max(a.slower, 1), max(a.faster, 1))
	c.endFault(a, a.duration)
	return ""
}

func applySlowDisk(c *Cluster, a *args) string {
	b := c.broker(a.broker)
	if b == nil {
		return "there is no such broker"
	}
	b.diskDelay, b.diskSlowUntil = a.by, c.now+a.duration
	c.endFault(a, a.duration+a.by)
	return ""
}

// endFault will say when a fault without an event of its own is over.
func (c *Cluster) endFault(a *args, after int64) {
	c.quietAt = max(c.quietAt, c.now+after)
	c.later(after, &message{kind: faultTimer, to: controllerNode, id: int64(a.step), offset: a.said})
}

// passOver lets a fault end in silence that did nothing.
func (c *Cluster) passOver(a *args) {
	if a.said > 0 {
		c.said[a.said-1] = ""
	} else {
		c.actions[a.step].silent = true
	}
}

// disconnectAll tells everyone who waits for a broker's answer that none
// will come. What is still on its way there is told on arrival.
func (c *Cluster) disconnectAll(b *broker) {
	tell := func(m *message) {
		if m.kind.isRequest() {
			b.send(m.breakOff())
		}
	}
	for p := range b.replicas {
		r := &b.replicas[p]
		for i := range r.produces {
			tell(&r.produces[i].request)
		}
		for i := range r.fetches {
			tell(&r.fetches[i].request)
		}
		for i := range r.deletes {
			tell(&r.deletes[i].request)
		}
		for i := range r.reads {
			tell(&r.reads[i].request)
		}
	}
	for i := range b.held {
		tell(&b.held[i])
	}
	b.held, b.pausedUntil = nil, 0
}

// notApplied says in the trace why a step did nothing.
func (c *Cluster) notApplied(text, why string) {
	if c.tracing {
		c.tracef("step", "%s: does nothing, %s", text, why)
	}
}
