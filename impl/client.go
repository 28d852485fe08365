package impl

import (
	"github.com/isrcheck/isrcheck/histories"
)

// A client does one operation at a time. It finds the leader by metadata from
// some broker, which may be behind, and asks that leader. After an answer that
// rules out any effect it tries again, until its time is up (§2.1).
type client struct {
	outbox
	*env
	id        node
	name      string
	epoch     int32     // as an idempotent producer
	seqs      []int32   // by partition: of the next record
	waiting   []request // steps it was asked for, empty once all were begun
	begun     int       // how many of them were
	busy      bool
	op        histories.Op
	request   request
	deadline  int64
	retries   int64     // attempts left after one whose effect is unknown
	unknown   bool      // some attempt may have had an effect
	code      errorCode // of the last attempt
	token     int64     // of what it waits for: an answer, or a timer's end; never used twice
	resting   bool      // between two operations, until the timer of the token
	asking    bool      // that is an answer, not a pause between attempts
	nearby    node      // a broker to read from whether it leads or not, or nobody
	bootstrap node      // the broker it asks for metadata
	views     []leaderView
	positions []int64 // by partition, none before it was assigned
}

// A leaderView is what a client knows about a partition's leader. Metadata
// older than the newest leader epoch it has seen does not count (KIP-320).
type leaderView struct {
	leader node
	epoch  int64
}

// A request is a client's step, read.
type request struct {
	kind      histories.Kind
	partition int32
	values    []int64
	acks      int
	statedAck bool
	stamp     stamp
	from, max int64
	latest    bool
	via       node
}

func (c *client) handle(m *message) {
	switch {
	case m.id != c.token: // of an attempt it gave up
	case m.kind == clientTimer && !c.busy:
		c.resting = false
		c.begin()
	case m.kind == clientTimer && c.asking:
		c.attemptFailed(requestTimedOut, c.wasSent())
	case m.kind == clientTimer:
		c.attempt()
	case m.kind == disconnected:
		c.attemptFailed(networkException, c.wasSent() && !m.refused)
	case m.kind == clientMetadataResponse:
		c.onMetadata(m)
	default:
		c.onAnswer(m)
	}
}

// ask queues a step, and begins it if the client is free.
func (c *client) ask(r request) {
	c.waiting = append(c.waiting, r)
	if !c.busy && !c.resting {
		c.begin()
	}
}

// begin takes the next step. A consumer that was told no position begins at
// offset 0, and says so.
func (c *client) begin() {
	if len(c.waiting) == 0 {
		return
	}
	r := c.waiting[c.begun]
	if r.kind == histories.Poll && c.positions[r.partition] == none {
		r = request{kind: histories.Assign, partition: r.partition, max: none, via: nobody}
	} else {
		c.begun++
		if c.begun == len(c.waiting) {
			c.waiting, c.begun = c.waiting[:0], 0
		}
	}
	c.start(r)
}

// start calls an operation.
func (c *client) start(r request) {
	c.request, c.busy = r, true
	c.unknown, c.code, c.retries = false, leaderNotAvailable, c.cfg.retries
	c.deadline = c.now + c.cfg.readTimeout
	c.op = histories.NewOp(c.name, r.kind)
	c.op.On, c.op.Call = partitionName(r.partition), c.now
	switch r.kind {
	case histories.Send:
		c.deadline = c.now + c.cfg.deliveryTimeout
		for _, v := range r.values {
			c.op.Values = append(c.op.Values, histories.Int(v))
		}
		c.request.stamp = c.stampNext(r.partition)
		if r.acks != c.cfg.acks || r.statedAck {
			c.op.Acks = acksNames[r.acks]
		}
	case histories.Fetch:
		c.op.From, c.op.Max = r.from, r.max
	case histories.List:
		c.op.At = "earliest"
		if r.latest {
			c.op.At = "latest"
		}
	case histories.Assign:
		c.op.From = r.from
	case histories.Seek, histories.DeleteRecords:
		c.op.To = r.from
	}
	if r.via != nobody && r.via != c.bootstrap {
		c.bootstrap = r.via
		c.views[r.partition].leader = nobody
	}
	if r.kind == histories.Assign || r.kind == histories.Seek {
		c.positions[r.partition] = r.from
		c.finish(histories.OK)
		return
	}
	c.nearby = nobody
	if c.cfg.fetchAny && (r.kind == histories.Fetch || r.kind == histories.Poll) {
		c.nearby = r.via
	}
	c.attempt()
}

// attempt asks the leader, or a broker who that is.
func (c *client) attempt() {
	if c.now >= c.deadline {
		c.giveUp()
		return
	}
	r := &c.request
	view := &c.views[r.partition]
	c.token++
	m := message{from: c.id, to: view.leader, id: c.token, partition: r.partition, leaderEpoch: view.epoch}
	switch {
	case c.nearby != nobody:
		m.kind, m.to, m.offset, m.max = consumeRequest, c.nearby, c.position(), r.max
	case view.leader == nobody:
		m.kind, m.to = clientMetadataRequest, c.bootstrap
	case r.kind == histories.Send:
		m.kind, m.acks, m.values, m.stamp = produceRequest, int8(r.acks), r.values, r.stamp
	case r.kind == histories.DeleteRecords:
		m.kind, m.offset = deleteRequest, r.from
	case r.kind == histories.List:
		m.kind, m.flag = listRequest, r.latest
	default:
		m.kind, m.offset, m.max = consumeRequest, c.position(), r.max
	}
	c.asking = true
	c.send(m)
	if m.kind == produceRequest && r.acks == acksZero {
		c.finish(histories.OK) // and nobody will say whether it arrived
		return
	}
	c.timer(c.id, clientTimer, min(c.cfg.requestTimeout, c.deadline-c.now), c.token)
}

// position is the offset a read begins at.
func (c *client) position() int64 {
	switch c.request.kind {
	case histories.Poll:
		return c.positions[c.request.partition]
	case histories.Scan:
		return c.request.from + int64(len(c.op.Records))
	}
	return c.request.from
}

// wasSent reports whether the attempt under way may have an effect.
func (c *client) wasSent() bool {
	return c.changes() && c.views[c.request.partition].leader != nobody
}

// changes reports whether the operation has an effect at all.
func (c *client) changes() bool {
	return c.request.kind == histories.Send || c.request.kind == histories.DeleteRecords
}

func (c *client) onMetadata(m *message) {
	view := &c.views[m.partition]
	if m.leader == nobody || m.leaderEpoch < view.epoch {
		c.attemptFailed(leaderNotAvailable, false)
		return
	}
	view.leader, view.epoch = m.leader, m.leaderEpoch
	c.attempt()
}

// onAnswer takes the answer to a send or a read.
func (c *client) onAnswer(m *message) {
	switch m.err {
	case noError:
		c.succeed(m)
	case offsetOutOfRange:
		c.outOfRange(m.start)
	case outOfOrderSequenceNumber, invalidProducerEpoch:
		c.code = m.err // no attempt will fare better
		c.giveUp()
	case notLeaderOrFollower, notEnoughReplicasAfterAppend:
		c.attemptFailed(m.err, c.changes() && c.request.acks == acksAll)
	default:
		c.attemptFailed(m.err, false)
	}
}

func (c *client) succeed(m *message) {
	switch c.request.kind {
	case histories.Send, histories.List:
		c.op.Offset = m.offset
		c.finish(histories.OK)
		return
	case histories.DeleteRecords:
		c.op.Start = m.start
		c.finish(histories.OK)
		return
	}
	for i, r := range m.records {
		c.op.Records = append(c.op.Records, histories.Record{Offset: m.offset + int64(i), Value: histories.Int(r.value)})
	}
	switch c.request.kind {
	case histories.Scan:
		if c.position() < m.hw {
			c.attempt()
			return
		}
		c.op.End = m.hw
	case histories.Poll:
		c.positions[m.partition] = m.offset + int64(len(m.records))
		c.op.HW = m.hw
	default:
		c.op.HW = m.hw
	}
	c.finish(histories.OK)
}

// outOfRange ends a read whose position the log does not have, unless it was
// only a follower's log. A consumer goes to the log start, visibly; a scan begins
// there.
func (c *client) outOfRange(start int64) {
	if c.nearby != nobody {
		c.nearby = nobody
		c.attempt()
		return
	}
	if c.request.kind == histories.Scan && c.request.from < start {
		c.request.from, c.op.Records = start, nil
		c.attempt()
		return
	}
	c.code = offsetOutOfRange
	c.giveUp()
	if c.request.kind == histories.Poll {
		c.positions[c.request.partition] = start
		c.mark(histories.Mark{Kind: histories.Reset, Process: c.name, On: c.op.On, Offset: start})
	}
}

// attemptFailed decides whether to try again. An attempt whose effect is
// unknown ends a send, unless the settings allow to retry it.
func (c *client) attemptFailed(code errorCode, unknown bool) {
	c.code = code
	c.unknown = c.unknown || unknown
	c.nearby = nobody
	if code != notEnoughReplicas && code != offsetNotAvailable {
		c.views[c.request.partition].leader = nobody
		c.bootstrap = c.bootstrap%node(c.cfg.brokers) + 1
	}
	if unknown {
		if c.retries == 0 {
			c.giveUp()
			return
		}
		c.retries--
	}
	c.asking = false
	c.pause(c.cfg.retryBackoff)
}

func (c *client) pause(ms int64) {
	c.token++
	c.timer(c.id, clientTimer, ms, c.token)
}

// giveUp ends an operation that found no answer. A read has no effect, so it
// just failed; a send failed only if every attempt certainly had none.
func (c *client) giveUp() {
	if c.unknown && !c.bugs.has(unclearMeansFailed) {
		c.finish(histories.Info)
	} else {
		c.finish(histories.Fail)
	}
}

// interrupt makes the client give up at once.
func (c *client) interrupt() bool {
	if !c.busy {
		return false
	}
	c.code = requestTimedOut
	c.unknown = c.unknown || c.asking && c.wasSent()
	c.views[c.request.partition].leader = nobody
	c.giveUp()
	return true
}

// finish completes the operation. The next one begins a tick later at the
// earliest, so that a client's operations never share an instant.
func (c *client) finish(outcome histories.Outcome) {
	c.op.Outcome, c.op.Return = outcome, c.now
	if c.request.kind == histories.Send && c.cfg.idempotent {
		c.sent(outcome == histories.OK)
	}
	if outcome != histories.OK {
		c.op.Code = c.code.String()
		c.op.Records = nil
	}
	c.record(c.op)
	c.busy, c.asking, c.resting = false, false, true
	c.pause(1)
}

// hangUp records an operation that never completed.
func (c *client) hangUp() {
	if c.busy {
		c.op.Records = nil
		c.record(c.op)
	}
}

func partitionName(p int32) string {
	if p == 0 {
		return histories.DefaultPartition
	}
	return "t/" + itoa(int64(p))
}
