package impl

import "testing"

func TestLaggards(t *testing.T) {
	for _, tt := range []struct {
		name         string
		end          int64 // of follower 2; the leader has 5 records
		lastCaughtUp int64 // how long ago
		lagMessages  int64
		want         brokerSet
	}{
		{"as long as the leader's log, however silent", 5, 10_000, 0, 0},
		{"behind, but not for long", 3, 100, 0, 0},
		{"behind for too long", 3, 101, 0, setOf(2)},
		{"too many records behind", 1, 0, 3, setOf(2)},
		{"just not too many records behind", 2, 0, 3, 0},
	} {
		b, r := leaderOf(5, 1, setOf(1, 2))
		b.cfg.lagMessages = tt.lagMessages
		r.progress[2].end, r.progress[2].lastCaughtUp = tt.end, b.now-tt.lastCaughtUp
		if got := b.laggards(r); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct {
		name             string
		end, hw, start   int64
		epoch            int64 // broker epoch of the fetch; 3 is registered
		fenced, stopping bool
		pending          bool
		want             bool
	}{
		{name: "has all that is committed", end: 4, hw: 4, start: 2, epoch: 3, want: true},
		{name: "below the high watermark", end: 3, hw: 4, start: 2, epoch: 3},
		{name: "below the epoch's start (KAFKA-7128)", end: 3, hw: 2, start: 4, epoch: 3},
		{name: "by a former incarnation (KIP-903)", end: 4, hw: 4, epoch: 2},
		{name: "never fetched", end: 4, hw: 4, epoch: none},
		{name: "fenced", end: 4, hw: 4, epoch: 3, fenced: true},
		{name: "in controlled shutdown", end: 4, hw: 4, epoch: 3, stopping: true},
		{name: "another proposal is pending", end: 4, hw: 4, epoch: 3, pending: true},
	} {
		b, r := leaderOf(5, 1, setOf(1, 2))
		r.hw, r.epochStart = tt.hw, tt.start
		r.progress[3].end, r.progress[3].brokerEpoch = tt.end, tt.epoch
		b.image.brokers[3].fenced, b.image.brokers[3].shuttingDown = tt.fenced, tt.stopping
		if tt.pending {
			r.pending = pending{id: 1, isr: setOf(1)}
		}
		b.expand(r, 3)
		if got := r.pending.isr == setOf(1, 2, 3); got != tt.want {
			t.Errorf("%s: proposed %v, want %v", tt.name, got, tt.want)
		}
		if sent := len(b.slots) > 0; sent != tt.want {
			t.Errorf("%s: sent %v, want %v", tt.name, sent, tt.want)
		}
	}
}

func TestAlterPartitionAnswers(t *testing.T) {
	isr, proposed := setOf(1, 2), setOf(1, 2, 3)
	for _, tt := range []struct {
		err       errorCode
		isr       brokerSet // committed afterwards
		maximal   brokerSet
		stillAsks bool // the same proposal goes out again
	}{
		{noError, proposed, proposed, false},
		{ineligibleReplica, isr, isr, false},
		{invalidUpdateVersion, isr, proposed, false},
		{fencedLeaderEpoch, isr, proposed, false},
		{newLeaderElected, isr, proposed, false},
		{staleBrokerEpoch, isr, proposed, true},
		{notController, isr, proposed, true},
	} {
		b, r := leaderOf(5, 1, isr)
		r.progress[3].end = 5
		b.expand(r, 3)
		request := b.slots[0]
		b.slots = nil
		var answer message
		request.answer(alterPartitionResponse, &answer)
		answer.err, answer.partitionEpoch, answer.isr = tt.err, 1, proposed
		b.onAlterAnswer(r, &answer)
		if r.isr != tt.isr || b.maximalISR(r) != tt.maximal {
			t.Errorf("%v: isr %v maximal %v, want %v and %v", tt.err, r.isr, b.maximalISR(r), tt.isr, tt.maximal)
		}
		b.proposeNext()
		again := len(b.slots) > 0 && b.slots[len(b.slots)-1].kind == alterPartitionRequest
		if again != tt.stillAsks {
			t.Errorf("%v: asks again %v, want %v", tt.err, again, tt.stillAsks)
		}
	}
}

func TestControllerRefusals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(c *controller, m *message)
		want   errorCode
	}{
		{"as it should be", func(*controller, *message) {}, noError},
		{"broker epoch", func(_ *controller, m *message) { m.brokerEpoch = 7 }, staleBrokerEpoch},
		{"newer leader epoch", func(_ *controller, m *message) { m.leaderEpoch = 9 }, notController},
		{"newer partition epoch", func(_ *controller, m *message) { m.partitionEpoch = 9 }, notController},
		{"older leader epoch", func(_ *controller, m *message) { m.leaderEpoch = 1 }, fencedLeaderEpoch},
		{"older leader epoch comes before the sender", func(_ *controller, m *message) { m.leaderEpoch = 1; m.from, m.brokerEpoch = 2, 2 }, fencedLeaderEpoch},
		{"not the leader", func(_ *controller, m *message) { m.from, m.brokerEpoch = 2, 2 }, invalidRequest},
		{"older partition epoch", func(_ *controller, m *message) { m.partitionEpoch = 1 }, invalidUpdateVersion},
		{"without the leader", func(_ *controller, m *message) { m.isr = setOf(2, 3) }, invalidRequest},
		{"recovering leader with company", func(c *controller, m *message) { c.image.partitions[0].recovering, m.flag = true, true }, invalidRequest},
		{"recovering leader alone", func(c *controller, m *message) {
			c.image.partitions[0].recovering, m.flag, m.isr = true, true, setOf(1)
		}, noError},
		{"leader that has recovered", func(c *controller, _ *message) { c.image.partitions[0].recovering = true }, noError},
		{"recovered leader recovers again", func(_ *controller, m *message) { m.flag, m.isr = true, setOf(1) }, invalidRequest},
		{"not assigned", func(_ *controller, m *message) { m.isr = setOf(1, 4) }, invalidRequest},
		{"fenced member", func(c *controller, _ *message) { c.image.brokers[2].fenced = true }, ineligibleReplica},
		{"member in controlled shutdown", func(c *controller, _ *message) { c.image.brokers[2].shuttingDown = true }, ineligibleReplica},
		{"member of another incarnation", func(_ *controller, m *message) { m.epochs[2] = 1 }, ineligibleReplica},
		{"member that has not fetched is not checked", func(_ *controller, m *message) { m.epochs[2] = none }, noError},
	} {
		c := &controller{env: &env{}, image: newImage(4, 1)}
		for i := range c.image.brokers {
			c.image.brokers[i].epoch = int64(i)
		}
		c.image.partitions[0] = registration{assignment: []node{1, 2, 3}, isr: setOf(1), leader: 1, leaderEpoch: 2, partitionEpoch: 5}
		m := &message{from: 1, brokerEpoch: 1, leaderEpoch: 2, partitionEpoch: 5, isr: setOf(1, 2), epochs: []int64{0, 1, 2, 3, 4}}
		tt.change(c, m)
		if got := c.refusal(&c.image, m); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
