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

func applyTimeout(c *Cluster, a *args) string {
	for i := range c.clients {
		if c.clients[i].name == a.client && c.clients[i].interrupt() {
			return ""
		}
	}
	return "the client is not waiting for anything"
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

// notApplied says in the trace why a step did nothing.
func (c *Cluster) notApplied(text, why string) {
	if c.tracing {
		c.tracef("step", "%s: does nothing, %s", text, why)
	}
}
