package impl

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

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
