package impl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// arrivals transmits one message at tick 10 and lists what arrives when.
func arrivals(m message, rules ...rule) (ticks []int64, kinds []kind) {
	n := network{rules: rules, brokers: 3}
	var q queue
	n.transmit(10, q.put(&m), &q)
	for tick := q.next(); tick < forever; tick = q.next() {
		ticks = append(ticks, tick)
		kinds = append(kinds, q.pop(tick).kind)
	}
	return ticks, kinds
}

func TestNetworkRules(t *testing.T) {
	fetch := message{kind: fetchRequest, from: 2, to: 1, id: 7}
	update := message{kind: metadataUpdate, from: controllerNode, to: 1}
	send := message{kind: produceRequest, from: 4, to: 1, id: 7}
	beat := message{kind: heartbeatRequest, from: 1, to: controllerNode}
	always := rule{from: anyNode, to: anyNode, until: 100, count: forever}
	with := func(change func(*rule)) rule {
		r := always
		change(&r)
		return r
	}
	cut := with(func(r *rule) { r.effect = effectCut })
	for _, tt := range []struct {
		name  string
		m     message
		rules []rule
		ticks []int64
		kinds []kind
	}{
		{"one hop", fetch, nil, []int64{11}, []kind{fetchRequest}},
		{"a cut is noticed when the link is back", fetch, []rule{cut}, []int64{101}, []kind{disconnected}},
		{"nobody waits for an update", update, []rule{cut}, nil, nil},
		{"nobody waits for an answer to a heartbeat", beat, []rule{cut}, nil, nil},
		{"clients are never cut off", send, []rule{cut}, []int64{11}, []kind{produceRequest}},
		{"a rule that is over", fetch, []rule{with(func(r *rule) { r.until = 10 })}, []int64{11}, []kind{fetchRequest}},
		{"a rule that is used up", fetch, []rule{with(func(r *rule) { r.count = 0 })}, []int64{11}, []kind{fetchRequest}},
		{"another sender", fetch, []rule{with(func(r *rule) { r.from = 3 })}, []int64{11}, []kind{fetchRequest}},
		{"another receiver", fetch, []rule{with(func(r *rule) { r.to = 3 })}, []int64{11}, []kind{fetchRequest}},
		{"another kind", fetch, []rule{with(func(r *rule) { r.kind = produceRequest })}, []int64{11}, []kind{fetchRequest}},
		{"a drop is noticed at once", send, []rule{with(func(r *rule) { r.effect, r.kind = effectDrop, produceRequest })}, []int64{11}, []kind{disconnected}},
		{"a delay", fetch, []rule{with(func(r *rule) { r.effect, r.by = effectDelay, 5 })}, []int64{16}, []kind{fetchRequest}},
		{"two delays", fetch, []rule{with(func(r *rule) { r.effect, r.by = effectDelay, 5 }), with(func(r *rule) { r.effect, r.by = effectDelay, 2 })}, []int64{18}, []kind{fetchRequest}},
		{"a duplicate", update, []rule{with(func(r *rule) { r.effect = effectDuplicate })}, []int64{11, 11}, []kind{metadataUpdate, metadataUpdate}},
		{"bad news always arrives", message{kind: disconnected, from: 2, to: 1}, []rule{cut}, []int64{11}, []kind{disconnected}},
	} {
		if ticks, kinds := arrivals(tt.m, tt.rules...); !slices.Equal(ticks, tt.ticks) || !slices.Equal(kinds, tt.kinds) {
			t.Errorf("%s: %v at %v, want %v at %v", tt.name, kinds, ticks, tt.kinds, tt.ticks)
		}
	}
}

// TestQueueOrder pushes and pops at will: what comes out is always the
// earliest, and of one tick what went in first.
func TestQueueOrder(t *testing.T) {
	ticks := rapid.OneOf(rapid.Int64Range(0, 5), rapid.Int64Range(0, 3*near))
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []message // in order of tick, then of pushing
		for id := range rapid.Int64Range(1, 60).Draw(t, "operations") {
			if len(want) > 0 && rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				tick := q.next()
				if tick != want[0].after {
					t.Fatalf("due at %d, want %d", tick, want[0].after)
				}
				s := q.pop(tick)
				if s.id != want[0].id {
					t.Fatalf("popped %d, want %d", s.id, want[0].id)
				}
				q.release(s)
				want = want[1:]
				continue
			}
			m := message{id: id, after: ticks.Draw(t, "tick")}
			q.push(m.after, &m)
			at := len(want)
			for at > 0 && want[at-1].after > m.after {
				at--
			}
			want = slices.Insert(want, at, m)
		}
		if empty := q.next() == forever; empty != (len(want) == 0) {
			t.Fatalf("empty %v with %d left", empty, len(want))
		}
	})
}
