package impl

import (
	"strings"
	"testing"
)

// TestAdmit shows a log batches of producers 7 and 8.
func TestAdmit(t *testing.T) {
	var l log
	add := func(s stamp, n int) { l.appendBatch(0, make([]int64, n), s) }
	add(stamp{7, 0, 0}, 2) // 0
	add(stamp{}, 1)        // 2
	add(stamp{8, 3, 0}, 1) // 3
	for i := range int32(5) {
		add(stamp{7, 1, i * 2}, 2) // 4, 6, 8, 10, 12
	}
	for _, tt := range []struct {
		name string
		s    stamp
		n    int
		err  errorCode
		base int64
	}{
		{"next", stamp{7, 1, 10}, 1, noError, none},
		{"copy of the last", stamp{7, 1, 8}, 2, noError, 12},
		{"copy of the oldest of five", stamp{7, 1, 0}, 2, noError, 4},
		{"part of the last", stamp{7, 1, 8}, 1, outOfOrderSequenceNumber, none},
		{"gap", stamp{7, 1, 11}, 1, outOfOrderSequenceNumber, none},
		{"new epoch", stamp{7, 2, 0}, 1, noError, none},
		{"new epoch in the middle", stamp{7, 2, 5}, 1, outOfOrderSequenceNumber, none},
		{"old epoch", stamp{7, 0, 2}, 1, invalidProducerEpoch, none},
		{"another producer", stamp{8, 3, 1}, 1, noError, none},
		{"another producer's copy", stamp{8, 3, 0}, 1, noError, 3},
		{"unknown producer", stamp{9, 4, 0}, 1, noError, none},
		{"unknown producer in the middle", stamp{9, 4, 17}, 1, outOfOrderSequenceNumber, none},
	} {
		if err, base := l.admit(tt.s, tt.n); err != tt.err || base != tt.base {
			t.Errorf("%s: %v at %d, want %v at %d", tt.name, err, base, tt.err, tt.base)
		}
	}
	add(stamp{7, 1, 10}, 1)
	if err, _ := l.admit(stamp{7, 1, 0}, 2); err != outOfOrderSequenceNumber {
		t.Errorf("the sixth batch back: %v", err)
	}
	l.truncateTo(4)
	if err, base := l.admit(stamp{7, 0, 0}, 2); err != noError || base != 0 {
		t.Errorf("what a log knows of producers is not cut with it: %v at %d", err, base)
	}
}

// TestIdempotentProducer loses answers and leaders under a producer: every value
// is in the log once.
func TestIdempotentProducer(t *testing.T) {
	for _, tt := range []struct{ name, schedule, want, trace string }{
		{
			name: "a retry after a lost answer finds its copy",
			schedule: `
				10 nemesis drop kind=produce-response count=1
				20 P1 send 1,2
				1000 P1 send 3`,
			want: "P1 send 1,2 => ok @0", trace: "has [1 2] at 0 already",
		},
		{
			name: "a retry at another leader, which has the copy",
			schedule: `
				10 nemesis cut from=1 to=controller for=30000
				11 nemesis drop kind=produce-response from=1 count=1
				12 P1 send 1
				18 nemesis move-leader to=2`,
			want: "P1 send 1 => ok @0", trace: "broker 2   has [1] at 0 already",
		},
		{
			name: "after a batch of unknown outcome a new epoch begins",
			schedule: `
				10 P1 send 1
				1000 nemesis pause broker=1 for=4000
				1001 P1 send 2
				1500 nemesis timeout client=P1
				1600 P1 send 3`,
			want: "1001-1500 P1 send 2 => info", trace: "appends [3] at 2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(parseSchedule(t, "set enable.idempotence=true\n"+tt.schedule), Options{Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			trace := strings.Join(r.Trace, "\n")
			if len(r.Breaches) > 0 || !r.Stats.Live || !strings.Contains(text(r), tt.want) || !strings.Contains(text(r), "enable.idempotence=true") || !strings.Contains(trace, tt.trace) {
				t.Errorf("breaches %v, live %v, want %q and %q in\n%s\n%s", r.Breaches, r.Stats.Live, tt.want, tt.trace, text(r), trace)
			}
		})
	}
}

// TestSendsInOrder has a client send while it asks who leads, and ask again:
// without a fault nothing overtakes what was sent before it.
func TestSendsInOrder(t *testing.T) {
	r := run(t, parseSchedule(t, `
		set max.in.flight.requests.per.connection=5
		20 P1 send 1
		20 P1 send 2
		21 P1 send 3 via=2
		22 P1 send 4`))
	if want := "scan => ok [0:1 1:2 2:3 3:4] end=4"; !strings.Contains(text(r), want) {
		t.Errorf("want %q in\n%s", want, text(r))
	}
}
