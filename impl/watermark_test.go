package impl

import "testing"

// leaderOf returns broker 1 as leader of brokers 1 to 3, its log of that
// length, its followers in service and fetching with the registered epochs.
func leaderOf(end, minIsr int64, isr brokerSet) (*broker, *replica) {
	b := &broker{outbox: outbox{queue: &queue{}}, env: &env{cfg: config{brokers: 3, partitions: 1, minIsr: int(minIsr), lagTime: 100}, ghosts: make([]ghost, 1), now: 1000},
		id: 1, state: running, image: newImage(3, 1), replicas: make([]replica, 1)}
	for i := 1; i <= 3; i++ {
		b.image.brokers[i] = brokerState{epoch: int64(i)}
	}
	r := &b.replicas[0]
	r.role, r.leader, r.assignment, r.isr = leaderRole, 1, []node{1, 2, 3}, isr
	r.progress = make([]progress, 4)
	for i := range r.progress {
		r.progress[i] = progress{end: none, brokerEpoch: int64(i), lastFetch: longAgo, lastCaughtUp: longAgo}
	}
	for range end {
		r.log.appendBatch(0, []int64{1}, stamp{})
	}
	return b, r
}

func TestHighWatermarkRule(t *testing.T) {
	all, two, one := setOf(1, 2, 3), setOf(1, 2), setOf(1)
	for _, tt := range []struct {
		name   string
		minIsr int64
		isr    brokerSet
		adding brokerSet // proposed ISR, 0 for none
		end2   int64
		end3   int64
		recent node // a follower that caught up lately
		gone   node // a broker that is fenced
		hw     int64
		want   int64
	}{
		{name: "the least of the whole ISR", minIsr: 2, isr: all, end2: 4, end3: 3, want: 3},
		{name: "an unknown follower in the ISR blocks", minIsr: 1, isr: all, end2: 4, end3: none, hw: 1, want: 1},
		{name: "never lowered", minIsr: 1, isr: all, end2: 2, end3: 2, hw: 3, want: 3},
		{name: "outside the ISR does not count", minIsr: 2, isr: two, end2: 4, end3: 0, want: 4},
		{name: "the leader alone", minIsr: 1, isr: one, end2: 0, end3: 0, want: 5},
		{name: "ISR too small", minIsr: 2, isr: one, end2: 0, end3: 0, hw: 2, want: 2},
		{name: "a replica that is joining counts at once", minIsr: 1, isr: two, adding: all, end2: 5, end3: 3, want: 3},
		{name: "a replica that is leaving counts until it left", minIsr: 1, isr: all, adding: two, end2: 5, end3: 3, want: 3},
		{name: "a proposal does not make the ISR large enough", minIsr: 2, isr: one, adding: two, end2: 5, end3: 0, hw: 1, want: 1},
		{name: "who is about to join is waited for", minIsr: 1, isr: two, end2: 5, end3: 3, recent: 3, want: 3},
		{name: "unless out of service", minIsr: 1, isr: two, end2: 5, end3: 3, recent: 3, gone: 3, want: 5},
	} {
		b, r := leaderOf(5, tt.minIsr, tt.isr)
		r.hw = tt.hw
		r.progress[2].end, r.progress[3].end = tt.end2, tt.end3
		if tt.recent > 0 {
			r.progress[tt.recent].lastCaughtUp = b.now - 100
		}
		if tt.gone > 0 {
			b.image.brokers[tt.gone].fenced = true
		}
		if tt.adding != 0 {
			r.pending = pending{id: 1, isr: tt.adding, expands: tt.adding.includes(tt.isr)}
		}
		if got := b.nextHW(r); got != tt.want {
			t.Errorf("%s: high watermark %d, want %d", tt.name, got, tt.want)
		}
	}
}

func newImage(brokers, partitions int) (i image) {
	i.reset(brokers, partitions)
	return i
}
