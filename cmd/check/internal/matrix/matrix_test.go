package matrix

import (
	"context"
	"flag"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

var (
	update = flag.Bool("update", false, "write docs/matrix.md anew, from -matrix-runs schedules a cell: some minutes")
	runs   = flag.Int("matrix-runs", 400, "schedules a cell in docs/matrix.md")
)

const (
	matrixFile = "../../../../docs/matrix.md"
	matrixHead = `# Configuration × fault

What clients of the reference cluster saw, and what its replicas came to, in RUNS schedules for each pair of a
configuration and a fault (` + "`check matrix`" + `), beside what the protocol permits there. A letter stands with the
number of schedules that showed it; in parentheses are those that are permitted and not yet demonstrated. Nothing
forbidden was seen. S, U and P are permitted almost everywhere and only expected where they are the whole story; X
is permitted where sends are retried without idempotence. Only schedules count in which the conditions of the fault
held, as the state of the cluster told when it struck.

What is left to demonstrate may be out of reach here: no row draws faults between clients and brokers, which there
are (drop kind=produce-response count=1), so no answer to acks=1 gets lost (P); the high watermark of a single
replica is never behind (S); and that of a new leader is, with min.insync.replicas=1, for the two milliseconds until
the other followers fetch, unless their fetches are late. Among late messages leaders move only with acks=all, for a
move alone loses writes of acks=1 (S, P).

This table is generated: go test ./cmd/check/internal/matrix -run TestMatrix -timeout 1h -update

`
)

// TestMatrix measures a small part of the matrix, in which nothing is forbidden
// and every cell has schedules, and compares the documentation with the tables.
func TestMatrix(t *testing.T) {
	o := Options{Runs: 3, Seed: 2}
	if *update {
		o = Options{Runs: *runs, Seed: 1}
	}
	cells, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range cells {
		if c.Applies() && c.Runs < o.Runs {
			t.Errorf("%s, %s: %d schedules of %d drawn ones, want %d", c.Fault.Name, c.Config.Name, c.Runs, c.Drawn, o.Runs)
		}
		for _, r := range c.Red {
			path, err := r.Trial.Save("testdata/failures")
			t.Errorf("%s, %s: schedule %d shows %s, which is forbidden: %s (%s %v)", c.Fault.Name, c.Config.Name, r.Schedule, r.Letter, r.Says, path, err)
		}
		for l, n := range c.Seen {
			seen[l] += n
		}
	}
	for _, l := range Letters {
		if (seen[l.Letter] == 0) != (l.Letter == "V") {
			t.Errorf("%s was seen %d times", l.Letter, seen[l.Letter])
		}
	}
	if *update {
		var out strings.Builder
		out.WriteString(strings.ReplaceAll(matrixHead, "RUNS", text(o.Runs)))
		WriteMarkdown(&out, cells)
		if err := os.WriteFile(matrixFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compareDocumentation(t)
}

// compareDocumentation demands that each cell of the documentation names what the
// tables permit, and nothing forbidden.
func compareDocumentation(t *testing.T) {
	file, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	var wider strings.Builder
	if writeWider(&wider); !strings.Contains(string(file), wider.String()) {
		t.Errorf("docs/matrix.md does not say where more is permitted than by §5:\n%s", wider.String())
	}
	lines := strings.Split(string(file), "\n")
	for i := range Faults {
		f := &Faults[i]
		at := -1
		for n, line := range lines {
			if strings.HasPrefix(line, "| "+f.Name+" | ") {
				at = n
			}
		}
		if at < 0 {
			t.Errorf("docs/matrix.md has no row %q", f.Name)
			continue
		}
		texts := strings.Split(strings.Trim(lines[at], "| "), " | ")[1:]
		for j := range Configs {
			c := Cell{Fault: f, Config: &Configs[j]}
			for _, l := range strings.Split(c.Permitted(), "") {
				if !strings.Contains(texts[j], l) || strings.Contains(texts[j], "forbidden") {
					t.Errorf("docs/matrix.md: %s, %s: %q, want %s and nothing forbidden", f.Name, Configs[j].Name, texts[j], l)
				}
			}
		}
	}
}

// TestWidenings demands a reason for whatever the table permits beyond §5, and a use
// for each reason.
func TestWidenings(t *testing.T) {
	used := map[*correction]bool{}
	for _, w := range widenings() {
		if w.correction == nil {
			t.Errorf("%s in %v of %v has no reason", w.letters, w.columns, w.rows)
		}
		used[w.correction] = true
	}
	for i := range corrections {
		if !used[&corrections[i]] {
			t.Errorf("no cell permits more for the reason: %s", corrections[i].says)
		}
	}
	for _, tt := range []struct {
		may, published permission
		letter         string
		want           bool
	}{
		{"LO", "L", "O", true}, {"LO", "L", "L", false}, {"1|LDOR", "L", "O", true}, {"SU|LDOR", "SU", "D", true},
		{"U|LDOR", "U|LD", "D", false}, {"LO|DR", "LDOR", "R", false}, {"O", "|O", "O", true}, {"O", "", "O", true}, {notApplicable, "", "A", false},
	} {
		if tt.may.exceeds(tt.published, tt.letter) != tt.want {
			t.Errorf("%q exceeds %q by %s: %t", tt.may, tt.published, tt.letter, !tt.want)
		}
	}
}

// TestCores measures on one core what it measures on several.
func TestCores(t *testing.T) {
	measure := func(cores int) []*Cell {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		cells, err := Run(context.Background(), Options{Runs: 1, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	if one, four := measure(1), measure(4); !reflect.DeepEqual(one, four) {
		t.Error("the matrix depends on the number of cores")
	}
}

// TestConditions runs schedules with and without what the conditions of rows ask
// for.
func TestConditions(t *testing.T) {
	const alone = "20 P1 send 1\n30 nemesis fence broker=2 for=900\n30 nemesis fence broker=3 for=900\n"
	const starving = "20 P1 send 1\n40 nemesis drop kind=fetch-response to=3 for=900\n"
	tests := []struct {
		name string
		is   func(*passage) bool
		text string
		want bool
	}{
		{"no fault", (*passage).calm, "20 P1 send 1\n", true},
		{"no fault, but for one that did nothing", (*passage).calm, "20 nemesis cancel-reassignment\n", true},
		{"no fault, with one", (*passage).calm, "20 nemesis crash broker=3 for=9\n", false},
		{"leader", (*passage).leader, "20 nemesis crash broker=1 for=9\n", true},
		{"leader, but a follower", (*passage).leader, "20 nemesis crash broker=2 for=9\n", false},
		{"leader, the second of its kind", (*passage).leader, "20 nemesis isolate node=1 for=900\n700 nemesis isolate node=2 for=9\n", true},
		{"follower", (*passage).follower, "20 nemesis delay kind=fetch from=2 by=5 for=9\n", true},
		{"follower, but the leader", (*passage).follower, "20 nemesis pause broker=1 for=9\n", false},
		{"leader among others", (*passage).leaderAmongOthers, "20 nemesis power-loss broker=1 for=9\n", true},
		{"leader among others, alone", (*passage).leaderAmongOthers, alone + "40 nemesis power-loss broker=1 for=9\n", false},
		{"sole", (*passage).sole, alone + "40 nemesis wipe broker=1 for=9\n", true},
		{"sole, with one other", (*passage).sole, "30 nemesis fence broker=2 for=900\n40 nemesis wipe broker=1 for=9\n", false},
		{"follower among all", (*passage).followerAmongAll, "30 nemesis wipe broker=3 for=9\n", true},
		{"follower among all, twice at once", (*passage).followerAmongAll, "30 nemesis wipe broker=3 for=90\n31 nemesis wipe broker=2 for=9\n", false},
		{"never caught up", (*passage).neverCaughtUp, starving + "50 nemesis wipe broker=3 for=9\n60 nemesis crash broker=1 for=9\n99 nemesis crash broker=2 for=9\n", true},
		{"never caught up, but it has", (*passage).neverCaughtUp, "20 P1 send 1\n50 nemesis wipe broker=3 for=9\n900 nemesis crash broker=1 for=9\n1800 nemesis crash broker=2 for=9\n", false},
		{"together", (*passage).together, "20 nemesis crash broker=1 for=9\n20 nemesis crash broker=2 for=9\n20 nemesis wipe broker=3 for=9\n", true},
		{"together, one later", (*passage).together, "20 nemesis crash broker=1 for=9\n20 nemesis crash broker=2 for=9\n21 nemesis wipe broker=3 for=9\n", false},
		{"two of three", (*passage).twoOfThree, "20 nemesis crash broker=1 for=9\n20 nemesis crash broker=3 for=9\n", true},
		{"two leaders", (*passage).twoLeaders, "20 nemesis isolate node=1 for=900\n700 C1 poll\n", true},
		{"two leaders, before", (*passage).twoLeaders, "20 nemesis isolate node=1 for=900\n21 C1 poll\n", false},
		{"two leaders, nobody asks", (*passage).twoLeaders, "20 nemesis isolate node=1 for=900\n700 nemesis fence broker=3 for=9\n", false},
		{"follower stays in ISR", (*passage).followerStaysInISR, "20 nemesis pause broker=2 for=9\n40 P1 send 1\n", true},
		{"follower stays in ISR, too long", (*passage).followerStaysInISR, "20 nemesis pause broker=2 for=900\n700 P1 send 1\n", false},
	}
	const settings = "set broker.session.timeout.ms=400\nset broker.heartbeat.interval.ms=100\n"
	for _, tt := range tests {
		s, err := schedule.Parse(tt.name, []byte(settings+tt.text))
		if err != nil {
			t.Fatal(err)
		}
		var p passage
		if _, err := impl.Run(s, p.watch(&s)); err != nil {
			t.Fatal(err)
		}
		if got := tt.is(&p); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
