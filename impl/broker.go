package impl

// A lifecycle is how far a broker's process has come (§1.1).
type lifecycle uint8

const (
	down         lifecycle = iota
	starting               // not registered yet
	catchingUp             // registered, its metadata older than its registration
	running                // acts on metadata and serves requests
	shuttingDown           // running, and waiting for leave to stop
)

var lifecycleNames = [...]string{"down", "starting", "catching-up", "running", "shutting-down"}

func (l lifecycle) String() string { return lifecycleNames[l] }

// A broker hosts one replica of each partition it is assigned.
type broker struct {
	outbox
	*env
	id          node
	state       lifecycle
	incarnation int64 // counts process starts
	epoch       int64 // broker epoch, none until registered
	image       image
	replicas    []replica // by partition; those it is not assigned stay empty
	alter       int64     // id of the AlterPartition in flight, 0 if there is none
	lastID      int64
	started     int64 // when this process did
	shrinking   bool  // the timer runs that looks for followers that lag
	pausedUntil int64
	held        []message // what arrived during a pause
	clock       clock
	holdUntil   int64   // applies no metadata before
	update      message // the latest it holds, none if it has no records
	downFor     int64   // how long it stays down after a controlled shutdown

	diskSlowUntil int64
	diskDelay     int64 // until then

	// The clean-shutdown file holds the broker epoch of the process that left
	// it, none if there is no file. The next process takes it away at its start.
	cleanShutdown int64
	previousEpoch int64 // what it held at the start of this process
}

// newID returns an id this broker never used before, in any incarnation.
func (b *broker) newID() int64 {
	b.lastID++
	return b.lastID
}

// serving reports whether the broker answers requests.
func (b *broker) serving() bool { return b.state == running || b.state == shuttingDown }

func (b *broker) handle(m *message) {
	switch m.kind {
	case heartbeatTimer:
		b.callController()
		b.timer(b.id, heartbeatTimer, b.cfg.heartbeatInterval, 0)
	case registrationResponse:
		b.onRegistered(m)
	case heartbeatResponse:
		b.onHeartbeatAnswer(m)
	case metadataUpdate:
		b.onMetadata(m)
	case releaseTimer:
		held := b.update // onMetadata forgets it
		b.onMetadata(&held)
	case shutdownTimer:
		if m.id == b.incarnation && b.state == shuttingDown {
			b.stop()
		}
	case checkpointTimer:
		b.checkpoint()
		b.timer(b.id, checkpointTimer, b.cfg.checkpointInterval, 0)
	case disconnected:
		b.onDisconnected(m)
	default:
		if b.serving() {
			b.serve(m)
		}
	}
}

// serve handles what concerns one partition.
func (b *broker) serve(m *message) {
	r := &b.replicas[m.partition]
	switch m.kind {
	case fetchRequest:
		b.onFetch(r, m)
	case fetchResponse:
		b.onFetchAnswer(r, m)
	case fetchWaitTimer:
		b.onFetchWaited(r, m.id)
	case fetchRetryTimer:
		b.onFetchRetry(r, m.id)
	case epochEndRequest:
		b.onEpochEnd(r, m)
	case epochEndResponse:
		b.onEpochEndAnswer(r, m)
	case shrinkTimer:
		b.onShrinkTimer()
	case alterPartitionResponse:
		b.onAlterAnswer(r, m)
	case alterRetryTimer:
		b.proposeNext()
	case produceRequest:
		b.onProduce(r, m)
	case consumeRequest, listRequest:
		b.onRead(r, m)
	case deleteRequest:
		b.onDelete(r, m)
	case clientMetadataRequest:
		b.onClientMetadata(m)
	}
}

// start begins a new incarnation of the process (§3.11).
func (b *broker) start() {
	b.incarnation++
	b.state, b.epoch, b.alter = starting, none, 0
	b.started, b.shrinking = b.now, false
	b.previousEpoch, b.cleanShutdown = b.cleanShutdown, none
	b.image.reset(b.cfg.brokers, b.cfg.partitions)
	b.dirty |= beliefsChanged | imagesChanged
	b.timer(b.id, heartbeatTimer, 0, 0)
	b.timer(b.id, checkpointTimer, b.cfg.checkpointInterval, 0)
	b.say("starts, incarnation %d", b.incarnation)
}

// callController registers, or keeps the session alive.
func (b *broker) callController() {
	if b.state == starting {
		b.send(message{kind: registrationRequest, from: b.id, to: controllerNode,
			offset: b.incarnation, brokerEpoch: b.previousEpoch})
		return
	}
	m := b.write()
	m.kind, m.from, m.to, m.brokerEpoch = heartbeatRequest, b.id, controllerNode, b.epoch
	m.offset, m.flag = b.image.offset, b.state == shuttingDown
}

func (b *broker) onRegistered(m *message) {
	if b.state != starting || m.err != noError {
		return
	}
	b.state, b.epoch = catchingUp, m.brokerEpoch
	b.dirty |= beliefsChanged
	b.callController()
}

func (b *broker) onHeartbeatAnswer(m *message) {
	if m.flag && b.state == shuttingDown {
		b.stop()
	}
}

// onMetadata applies the records it does not have yet, in order, as one delta:
// only the state after the last of them is seen (§2.8).
func (b *broker) onMetadata(m *message) {
	if b.now < b.holdUntil {
		b.hold(m)
		return
	}
	b.update = message{}
	from := b.image.offset - m.offset
	if from > 0 && b.bugs.has(metadataAppliedTwice) {
		from = 0
	}
	if m.brokerEpoch != b.epoch || from < 0 || from >= int64(len(m.updates)) {
		return
	}
	for i := range m.updates[from:] {
		b.image.apply(&m.updates[from+int64(i)])
	}
	b.dirty |= imagesChanged
	if b.state == catchingUp && b.image.offset > b.epoch {
		b.state = running
		b.callController()
	}
	if !b.serving() {
		return
	}
	for p := range b.replicas {
		if reg := &b.image.partitions[p]; reg.partitionEpoch > b.replicas[p].partitionEpoch {
			b.applyPartition(&b.replicas[p], reg)
		}
	}
}

// hold keeps the newest metadata for later. It has what came before it, too: the
// controller sends whatever the broker has not reported.
func (b *broker) hold(m *message) {
	if m.offset+int64(len(m.updates)) > b.update.offset+int64(len(b.update.updates)) {
		b.update = *m
	}
}

// localTime is what this broker takes for the time.
func (b *broker) localTime() int64 { return b.clock.read(b.now) }

// onDisconnected hears that a request will not be answered.
func (b *broker) onDisconnected(m *message) {
	if !b.serving() {
		return
	}
	if m.id == b.alter && m.from == controllerNode {
		b.retryAlter()
	}
	if r := &b.replicas[m.partition]; r.fetch == m.id {
		r.session = fetchSession{}
		b.backOff(r)
	}
}

// onClientMetadata answers from the broker's own image, however old it is.
func (b *broker) onClientMetadata(m *message) {
	reg := &b.image.partitions[m.partition]
	reply := b.reply(m, clientMetadataResponse)
	reply.leader, reply.leaderEpoch = reg.leader, reg.leaderEpoch
}

// shutdown begins a controlled shutdown (§3.10).
func (b *broker) shutdown(downFor int64) {
	b.state, b.downFor = shuttingDown, downFor
	b.callController()
	b.timer(b.id, shutdownTimer, b.cfg.shutdownTimeout, b.incarnation)
}

// stop ends the process cleanly, with the controller's leave or without: it
// leaves flushed logs, current high watermark checkpoints, and as the last
// thing the file that says so.
func (b *broker) stop() {
	b.checkpoint()
	for p := range b.replicas {
		b.replicas[p].log.flushed = b.replicas[p].log.end()
	}
	b.cleanShutdown = b.epoch
	b.say("stops")
	b.crash()
	b.timer(b.id, restartTimer, b.downFor, 0)
}

// crash ends the process. What was written stays in the page cache.
func (b *broker) crash() {
	if b.bugs.has(crashLooksClean) {
		b.cleanShutdown = b.epoch
	}
	b.state, b.epoch, b.update = down, none, message{}
	for p := range b.replicas {
		b.replicas[p].forget()
	}
	b.dirty = allChanged
}

// say adds a line to the trace.
func (b *broker) say(format string, args ...any) {
	if b.tracing {
		b.tracef("broker "+itoa(int64(b.id)), format, args...)
	}
}

// sayOf adds a line about a replica.
func (b *broker) sayOf(r *replica, format string, args ...any) {
	if b.tracing {
		b.traceOf("broker "+itoa(int64(b.id)), r.partition, format, args...)
	}
}

// nodeName is how traces call a node.
func nodeName(n node) string {
	switch {
	case n == controllerNode:
		return "controller"
	case n == nobody:
		return "none"
	}
	return itoa(int64(n))
}
