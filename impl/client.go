package impl

import "github.com/isrcheck/isrcheck/histories"

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
