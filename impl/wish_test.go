package impl

import (
	"strings"
	"testing"
)

// TestWishForALeader asks for a leader that is down: it leads as soon as it is in
// the ISR again, unless that comes too late or without anybody asking on.
func TestWishForALeader(t *testing.T) {
	for _, tt := range []struct {
		name, step string
		granted    bool
	}{
		{"in time", "move-leader to=2 for=60000", true},
		{"too late", "move-leader to=2 for=500", false},
		{"asked once", "move-leader to=2", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Run(parseSchedule(t, "10 P1 send 1\n100 nemesis crash broker=2 for=20000\n15000 nemesis "+tt.step+"\n"), Options{Trace: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.Join(r.Trace, "\n"), "leader 1 -> 2"); got != tt.granted || !r.Stats.Live {
				t.Errorf("granted: %v, live: %v\n%s", got, r.Stats.Live, strings.Join(r.Trace, "\n"))
			}
		})
	}
}
