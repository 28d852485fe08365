package impl

import (
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestRoles lets faults strike who leads, and who lacks most of what the leader has:
// the broker with fewer records, the one with others, or nobody.
func TestRoles(t *testing.T) {
	const behind = "10 P1 send 1\n1000 nemesis drop kind=fetch-response to=3 for=40\n1001 P1 send 2,3\n"
	for _, tt := range []struct {
		name, steps string
		want        string // in the trace
	}{
		{"who leads", "1000 nemesis move-leader to=2\n1100 nemesis crash broker=leader for=5", "nemesis    crash broker=2 for=5"},
		{"fewer records", behind + "1020 nemesis move-leader to=hindmost", "nemesis    move-leader to=3"},
		{"other records", behind + "1010 nemesis move-leader to=3\n1011 nemesis drop kind=fetch-response from=3 to=2 for=30\n1013 P2 send 7,8,9 via=3\n" +
			"1025 nemesis move-leader to=1\n1026 nemesis pause broker=hindmost for=3", "nemesis    pause broker=2 for=3"},
		{"nobody", "10 P1 send 1\n1000 nemesis fence broker=hindmost for=5", "fence broker=hindmost for=5: does nothing, there is no hindmost"},
		{"another partition", "set partitions=2\n1000 nemesis move-leader to=3 partition=1\n1100 nemesis move-leader to=leader partition=1", "nemesis    move-leader to=3 partition=1"},
		{"a moment about one", "1000 nemesis fence broker=1 for=9 when=leadership of=leader\n1001 nemesis move-leader to=2", "nemesis    fence broker=1 for=9 when=leadership of=leader"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := runTraced(t, tt.steps+"\n"); find(r, tt.want) < 0 {
				t.Errorf("not there: %s\n%s", tt.want, strings.Join(r, "\n"))
			}
		})
	}
}

// TestRolesInHistories says in the history which broker a fault struck, at its end
// as at its beginning, though another has the role by then.
func TestRolesInHistories(t *testing.T) {
	r, err := Run(parseSchedule(t, "5 nemesis clock broker=leader slower=2 for=500 when=leadership times=2 within=9000\n1000 nemesis move-leader to=2\n1200 nemesis move-leader to=3\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range r.History.Marks() {
		texts = append(texts, m.Text)
	}
	for _, broker := range []string{"2", "3"} {
		text := "clock broker=" + broker + " slower=2 for=500 when=leadership times=2 within=9000"
		if !slices.Contains(texts, text) || !slices.Contains(texts, histories.EndOf+text) {
			t.Errorf("no beginning or end of %q in %q", text, texts)
		}
	}
	if r.Stats.Roles[0] != 2 {
		t.Errorf("%d faults struck the leader; want 2", r.Stats.Roles[0])
	}
}
