package impl

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A client does one operation at a time, sends excepted, of which it may have
// several under way. It finds the leader by metadata from some broker, which may
// be behind, and asks that leader. After an answer that rules out any effect it
// tries again, until its time is up (§2.1).
type client struct {
	outbox
	*env
	id        node
	name      string
	epoch     int32     // as an idempotent producer
	seqs      []int32   // by partition: of the next record
	waiting   []request // steps it was asked for, empty once all were begun
	begun     int       // how many of them were
	calls     []call    // operations under way, in the order in which they began
	token     int64     // the last one given out; none is used twice
	resting   int64     // the token of the timer that ends a rest between two operations, 0 for none
	alarm     int64     // when the client looks next for attempts that took too long, 0 for never
	bootstrap node      // the broker it asks for metadata
	views     []leaderView
	positions []position // by partition
}

// A call is an operation under way.
type call struct {
	op       histories.Op
	request  request
	deadline int64
	retries  int64     // attempts left after one whose effect is unknown
	unknown  bool      // some attempt may have had an effect
	code     errorCode // of the last attempt
	token    int64     // of what it waits for: an answer, or a timer's end
	asked    kind      // what it waits for the answer to, kindNone in a pause between attempts
	until    int64     // how long it waits for that
	nearby   node      // a broker to read from whether it leads or not, or nobody
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
	if m.kind == alarmTimer {
		if m.id == c.alarm {
			c.onAlarm()
		}
		return
	}
	if m.id == c.resting {
		c.resting = 0
		c.begin()
		return
	}
	k := c.callOf(m.id)
	switch {
	case k == nil: // of an attempt it gave up
	case m.kind == clientTimer:
		c.attempt(k)
	case m.kind == disconnected:
		c.attemptFailed(k, networkException, k.wasSent() && !m.refused)
	case m.kind == clientMetadataResponse:
		c.onMetadata(k, m)
	default:
		c.onAnswer(k, m)
	}
}

// callOf returns the operation that waits for a token, nil if none does.
func (c *client) callOf(token int64) *call {
	for i := range c.calls {
		if c.calls[i].token == token {
			return &c.calls[i]
		}
	}
	return nil
}

// ask queues a step, and begins it if the client is free.
func (c *client) ask(r request) {
	c.waiting = append(c.waiting, r)
	if c.resting == 0 {
		c.begin()
	}
}

// free reports whether the next step may begin: nothing is under way, or only
// sends, and fewer than a connection takes.
func (c *client) free() bool {
	n := len(c.calls)
	return n == 0 || n < c.cfg.inFlight && c.waiting[c.begun].kind == histories.Send && c.calls[0].request.kind == histories.Send
}

// begin takes the next step. A consumer that was told no position begins at
// offset 0, and says so.
func (c *client) begin() {
	if len(c.waiting) == 0 || !c.free() {
		return
	}
	r := c.waiting[c.begun]
	if r.kind == histories.Poll && c.positions[r.partition].offset == none {
		r = request{kind: histories.Assign, partition: r.partition, max: none, via: nobody}
	} else {
		c.begun++
		if c.begun == len(c.waiting) {
			c.waiting, c.begun = c.waiting[:0], 0
		}
	}
	c.start(r)
	if c.cfg.inFlight > 1 {
		c.rest()
	}
}

// start calls an operation.
func (c *client) start(r request) {
	c.calls = append(c.calls, call{request: r, op: histories.NewOp(c.name, r.kind), deadline: c.now + c.cfg.readTimeout,
		retries: c.cfg.retries, code: leaderNotAvailable, nearby: nobody})
	k := &c.calls[len(c.calls)-1]
	k.op.On, k.op.Call = partitionName(r.partition), c.now
	switch r.kind {
	case histories.Send:
		k.deadline = c.now + c.cfg.deliveryTimeout
		k.op.Values = c.memory.sent.grown(nil, len(r.values))
		for _, v := range r.values {
			k.op.Values = append(k.op.Values, histories.Int(v))
		}
		k.request.stamp = c.stampNext(r.partition, len(r.values))
		if r.acks != c.cfg.acks || r.statedAck {
			k.op.Acks = acksNames[r.acks]
		}
	case histories.Fetch:
		k.op.From, k.op.Max = r.from, r.max
	case histories.List:
		k.op.At = "earliest"
		if r.latest {
			k.op.At = "latest"
		}
	case histories.Assign:
		k.op.From = r.from
	case histories.Seek, histories.DeleteRecords:
		k.op.To = r.from
	}
	if r.via != nobody && r.via != c.bootstrap {
		c.bootstrap = r.via
		c.views[r.partition].leader = nobody
	}
	if r.kind == histories.Assign || r.kind == histories.Seek {
		c.positions[r.partition] = chosen(r.from)
		c.finish(k, histories.OK)
		return
	}
	if c.cfg.fetchAny && (r.kind == histories.Fetch || r.kind == histories.Poll) {
		k.nearby = r.via
	}
	c.attempt(k)
}

// attempt asks the leader, or a broker who that is.
func (c *client) attempt(k *call) {
	if c.now >= k.deadline {
		c.giveUp(k)
		return
	}
	r := &k.request
	view := &c.views[r.partition]
	c.token++
	k.token = c.token
	m := c.write()
	m.from, m.to, m.id, m.partition, m.leaderEpoch = c.id, view.leader, k.token, r.partition, view.epoch
	switch {
	case k.nearby != nobody:
		m.kind, m.to, m.offset, m.max = consumeRequest, k.nearby, c.position(k), r.max
	case view.leader == nobody:
		m.kind, m.to = clientMetadataRequest, c.bootstrap
	case r.kind == histories.Send:
		m.kind, m.acks, m.values, m.stamp = produceRequest, int8(r.acks), r.values, r.stamp
	case r.kind == histories.DeleteRecords:
		m.kind, m.offset = deleteRequest, r.from
	case r.kind == histories.List:
		m.kind, m.flag = listRequest, r.latest
	case c.unchecked(k):
		m.kind, m.lastEpoch = epochEndRequest, c.positions[r.partition].epochs.last()
	default:
		m.kind, m.offset, m.max = consumeRequest, c.position(k), r.max
	}
	k.asked = m.kind
	if m.kind == produceRequest && r.acks == acksZero {
		c.finish(k, histories.OK) // and nobody will say whether it arrived
		return
	}
	k.until = c.now + min(c.cfg.requestTimeout, k.deadline-c.now)
	c.wakeAt(k.until)
}

// position is the offset a read begins at.
func (c *client) position(k *call) int64 {
	switch k.request.kind {
	case histories.Poll:
		return c.positions[k.request.partition].offset
	case histories.Scan:
		return k.request.from + int64(len(k.op.Records))
	}
	return k.request.from
}

// wasSent reports whether the attempt under way may have an effect.
func (k *call) wasSent() bool { return k.asked == produceRequest || k.asked == deleteRequest }

// changes reports whether the operation has an effect at all.
func (k *call) changes() bool {
	return k.request.kind == histories.Send || k.request.kind == histories.DeleteRecords
}

func (c *client) onMetadata(k *call, m *message) {
	view := &c.views[m.partition]
	if m.leader == nobody || m.leaderEpoch < view.epoch {
		c.attemptFailed(k, leaderNotAvailable, false)
		return
	}
	view.leader, view.epoch = m.leader, m.leaderEpoch
	c.attemptAll(m.partition)
}

// attemptAll goes on with all that asked who leads a partition, in the order in
// which it began: no send overtakes another before both were sent once.
func (c *client) attemptAll(partition int32) {
	for {
		i := slices.IndexFunc(c.calls, func(k call) bool {
			return k.request.partition == partition && k.asked == clientMetadataRequest
		})
		if i < 0 {
			return
		}
		c.attempt(&c.calls[i])
	}
}

// onAnswer takes the answer to a send or a read.
func (c *client) onAnswer(k *call, m *message) {
	switch {
	case m.err == noError && m.kind == epochEndResponse:
		c.onEpochEndAnswer(k, m)
	case m.err == noError:
		c.succeed(k, m)
	case m.err == offsetOutOfRange:
		c.outOfRange(k, m.start)
	case m.err == outOfOrderSequenceNumber && c.isBehind(k):
		c.attemptFailed(k, m.err, false)
	case m.err == outOfOrderSequenceNumber, m.err == invalidProducerEpoch:
		k.code = m.err // no attempt will fare better
		c.giveUp(k)
	case m.err == notLeaderOrFollower, m.err == notEnoughReplicasAfterAppend:
		c.attemptFailed(k, m.err, k.changes() && k.request.acks == acksAll)
	default:
		c.attemptFailed(k, m.err, false)
	}
}

func (c *client) succeed(k *call, m *message) {
	switch k.request.kind {
	case histories.Send, histories.List:
		k.op.Offset = m.offset
		c.finish(k, histories.OK)
		return
	case histories.DeleteRecords:
		k.op.Start = m.start
		c.finish(k, histories.OK)
		return
	}
	k.op.Records = c.memory.read.grown(k.op.Records, len(m.records))
	for i, r := range m.records {
		k.op.Records = append(k.op.Records, histories.Record{Offset: m.offset + int64(i), Value: histories.Int(r.value)})
	}
	switch k.request.kind {
	case histories.Scan:
		if c.position(k) < m.hw {
			c.attempt(k)
			return
		}
		k.op.End = m.hw
	case histories.Poll:
		c.consumed(k, m)
		k.op.HW = m.hw
	default:
		k.op.HW = m.hw
	}
	c.finish(k, histories.OK)
}

// outOfRange ends a read whose position the log does not have, unless it was
// only a follower's log. A consumer goes to the log start, visibly; a scan begins
// there.
func (c *client) outOfRange(k *call, start int64) {
	if k.nearby != nobody {
		k.nearby = nobody
		c.attempt(k)
		return
	}
	if k.request.kind == histories.Scan && k.request.from < start {
		k.request.from, k.op.Records = start, nil
		c.attempt(k)
		return
	}
	if k.request.kind == histories.Poll {
		c.positions[k.request.partition] = chosen(start)
		c.resetPosition(k, offsetOutOfRange)
		return
	}
	k.code = offsetOutOfRange
	c.giveUp(k)
}

// attemptFailed decides whether to try again. An attempt whose effect is
// unknown ends a send, unless the settings allow to retry it.
func (c *client) attemptFailed(k *call, code errorCode, unknown bool) {
	k.code = code
	k.unknown = k.unknown || unknown
	k.nearby = nobody
	if code != notEnoughReplicas && code != offsetNotAvailable && code != outOfOrderSequenceNumber {
		c.views[k.request.partition].leader = nobody
		c.bootstrap = c.bootstrap%node(c.cfg.brokers) + 1
	}
	if unknown {
		if k.retries == 0 {
			c.giveUp(k)
			return
		}
		k.retries--
	}
	k.asked = kindNone
	c.token++
	k.token = c.token
	c.timer(c.id, clientTimer, c.cfg.retryBackoff, k.token)
}

// giveUp ends an operation that found no answer. A read has no effect, so it
// just failed; a send failed only if every attempt certainly had none.
func (c *client) giveUp(k *call) {
	if k.unknown && !c.bugs.has(unclearMeansFailed) {
		c.finish(k, histories.Info)
	} else {
		c.finish(k, histories.Fail)
	}
}

// interrupt makes the client give up its oldest operation at once.
func (c *client) interrupt() bool {
	if len(c.calls) == 0 {
		return false
	}
	k := &c.calls[0]
	c.views[k.request.partition].leader = nobody
	c.abandon(k, requestTimedOut)
	return true
}

// abandon gives up an operation whatever it waits for.
func (c *client) abandon(k *call, code errorCode) {
	k.code = code
	k.unknown = k.unknown || k.wasSent()
	c.giveUp(k)
}

// finish completes the operation, which is no longer one of the calls then.
func (c *client) finish(k *call, outcome histories.Outcome) {
	k.op.Outcome, k.op.Return = outcome, c.now
	if outcome != histories.OK {
		k.op.Code = k.code.String()
		k.op.Records = nil
	}
	c.record(k.op)
	isSend := k.request.kind == histories.Send
	i := 0
	for &c.calls[i] != k {
		i++
	}
	c.calls = slices.Delete(c.calls, i, i+1)
	c.rest()
	if isSend && c.cfg.idempotent && outcome != histories.OK {
		c.renumber(i)
	}
}

// rest lets a tick pass before the next operation begins, so that none of a
// client's share an instant.
func (c *client) rest() {
	c.token++
	c.resting = c.token
	c.timer(c.id, clientTimer, 1, c.token)
}

// hangUp records the operations that never completed.
func (c *client) hangUp() {
	for i := range c.calls {
		c.calls[i].op.Records = nil
		c.record(c.calls[i].op)
	}
}

func partitionName(p int32) string {
	if p == 0 {
		return histories.DefaultPartition
	}
	return "t/" + itoa(int64(p))
}
