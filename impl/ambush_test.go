package impl

import (
	"slices"
	"strings"
	"testing"
)

// TestAmbush lets a fault wait for each moment, and sees it strike in the tick in
// which the moment comes, or not at all.
func TestAmbush(t *testing.T) {
	for _, tt := range []struct {
		moment, before string // steps that bring it about
		after          string // the line of the trace that shows it
	}{
		{"truncation", "10 P1 send 1\n1000 nemesis drop kind=fetch-response from=1 count=9\n1001 P1 send 2 acks=1\n1002 nemesis move-leader to=2\n", "truncates"},
		{"leadership", "1000 nemesis move-leader to=2\n", "leads epoch 1"},
		{"isr-shrink", "1000 nemesis fence broker=3 for=100\n", "broker 3 fenced"},
		{"isr-expansion", "1000 nemesis fence broker=3 for=100\n", "controller isr {1,2} -> {1,2,3}"},
		{"commit", "1000 P1 send 1\n", "broker 1   hw 0 -> 1"},
		{"restart", "1000 nemesis crash broker=3 for=50\n", "broker 3 is back"},
		{"first-commit", "1000 nemesis move-leader to=2\n1100 P1 send 1\n", "broker 2   hw 0 -> 1"},
		{"vacancy", "1000 nemesis fence broker=1 for=9000\n1001 nemesis fence broker=2 for=9000\n1002 nemesis fence broker=3 for=9000\n", "leader 3 -> none"},
	} {
		t.Run(tt.moment, func(t *testing.T) {
			if !slices.ContainsFunc(Moments, func(m Moment) bool { return m.Name == tt.moment }) {
				t.Fatal("no such moment")
			}
			const strike = "nemesis    clock broker=2 slower=2 for=5 when="
			r := runTraced(t, "5 nemesis clock broker=2 slower=2 for=5 when="+tt.moment+" within=9000\n"+tt.before)
			moment := slices.IndexFunc(r, func(line string) bool { return strings.Contains(line, tt.after) })
			struck := slices.IndexFunc(r, func(line string) bool { return strings.Contains(line, strike) })
			if moment < 0 || struck < moment || tick(r[struck]) != tick(r[moment]) {
				t.Errorf("the moment came in line %d, the fault in line %d\n%s", moment, struck, strings.Join(r, "\n"))
			}
		})
	}
}

// TestAmbushGivesUp lets a fault wait for what does not come in time.
func TestAmbushGivesUp(t *testing.T) {
	r := runTraced(t, "900 nemesis crash broker=1 for=50 when=commit within=100\n1001 P1 send 1\n")
	if text := strings.Join(r, "\n"); !strings.Contains(text, "does nothing, no commit came") || strings.Contains(text, "broker 1 is back") {
		t.Error(text)
	}
}

func runTraced(t *testing.T, text string) []string {
	t.Helper()
	r, err := Run(parseSchedule(t, text), Options{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Trace
}

// tick is when a line of a trace happened.
func tick(line string) string { return strings.Fields(line)[0] }

// TestAmbushOfABroker waits for a moment that is about one broker.
func TestAmbushOfABroker(t *testing.T) {
	r := runTraced(t, "5 nemesis clock broker=2 slower=2 for=5 when=leadership of=3 within=9000\n"+
		"1000 nemesis move-leader to=2\n1100 nemesis move-leader to=3\n1200 nemesis move-leader to=1\n")
	struck, led := find(r, "nemesis    clock broker=2"), find(r, "broker 3   leads")
	if led < 0 || struck < led || tick(r[struck]) != tick(r[led]) {
		t.Error(strings.Join(r, "\n"))
	}
}

// TestAmbushAgain strikes as often as it may, and counts only when it strikes.
func TestAmbushAgain(t *testing.T) {
	const moves = "1000 nemesis move-leader to=3\n1100 nemesis move-leader to=1\n1200 nemesis move-leader to=3\n1300 nemesis move-leader to=1\n"
	for _, tt := range []struct {
		step    string
		strikes int64
	}{
		{"5 nemesis fence broker=2 for=5 when=leadership within=9000", 1},
		{"5 nemesis fence broker=2 for=5 when=leadership times=3 within=9000", 3},
		{"900 nemesis fence broker=2 for=5 when=leadership times=9 within=350", 3},
		{"900 nemesis timeout client=P1 when=leadership times=9", 0},
	} {
		r, err := Run(parseSchedule(t, tt.step+"\n"+moves), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Stats.Moments[leadership-1]; got != tt.strikes {
			t.Errorf("%s strikes %d times; want %d", tt.step, got, tt.strikes)
		}
	}
}

// find is the first line of a trace with these words, -1 if there is none.
func find(trace []string, words string) int {
	return slices.IndexFunc(trace, func(line string) bool { return strings.Contains(line, words) })
}
