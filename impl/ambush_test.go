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
