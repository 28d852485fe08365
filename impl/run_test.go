package impl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// TestSafeRuns performs varied schedules full of faults: no invariant breaks,
// every run ends in calm, and a second run does the same things.
func TestSafeRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs, one after the other")
	}
	total := Stats{}
	for n := range 240 {
		s := nthSchedule(n, n%4 == 3)
		r, again := run(t, s), run(t, s)
		if len(r.Breaches) > 0 {
			t.Fatalf("schedule %d breaks %v\n%s", n, r.Breaches, s)
		}
		if !r.Stats.Live {
			t.Errorf("schedule %d does not become calm: %s\n%s", n, text(r), s)
		}
		if r.Fingerprint != again.Fingerprint || !bytes.Equal(r.History.AppendEvents(nil), again.History.AppendEvents(nil)) {
			t.Errorf("schedule %d: two runs differ\n%s", n, s)
		}
		total.Add(r.Stats)
	}
	for i, n := range total.Faults {
		if n == 0 {
			t.Errorf("no %s was ever applied", Faults[i].Verb)
		}
	}
	if total.Elections == 0 || total.UncleanElections == 0 || total.RecordsTruncated == 0 || total.IsrShrinks == 0 ||
		total.IsrExpansions == 0 || total.NotEnoughReplicas == 0 {
		t.Errorf("something never happened: %+v", total)
	}
}

// TestInvariantsCanBreak makes sure that an invariant that never fires in a
// safe run can fire at all: each is broken by some seeded bug, or by hand.
func TestInvariantsCanBreak(t *testing.T) {
	var seen []string
	for i := range Bugs {
		for _, b := range run(t, readSchedule(t, "testdata/bugs/"+Bugs[i].Name+".txt")).Breaches {
			seen = append(seen, b.Invariant)
		}
	}
	for name, damage := range map[string]func(*Cluster){
		"EpochMono":         func(c *Cluster) { c.ghosts[0].previous.leaderEpoch = 9 },
		"OneLeaderPerEpoch": func(c *Cluster) { c.ghosts[0].appender[0] = 2; c.appendAt(1, 0) },
		"EpochOffsetUnique": func(c *Cluster) {
			c.ghosts[0].writes[0].value = 8
			c.brokers[1].replicas[0].log.truncateTo(0)
			c.appendAt(1, 0)
		},
		"LogWF":            func(c *Cluster) { c.brokers[2].replicas[0].hw = 3 },
		"CacheWF":          func(c *Cluster) { c.brokers[2].replicas[0].log.epochs[0].epoch = 4 },
		"LeaderAppendOnly": func(c *Cluster) { c.brokers[1].truncate(&c.brokers[1].replicas[0], 0) },
		"MetaPrefix":       func(c *Cluster) { c.brokers[2].image.digest++ },
		"IsrSubsetAR":      func(c *Cluster) { c.controller.image.partitions[0].assignment = []node{1, 2} },
		"ElrSubsetAR": func(c *Cluster) {
			c.controller.image.partitions[0].elr = setOf(2)
			c.controller.image.partitions[0].assignment = []node{1, 3}
		},
		"IsrElrDisjoint": func(c *Cluster) { c.controller.image.partitions[0].elr = setOf(2) },
		"LeaderInIsr":    func(c *Cluster) { c.controller.image.partitions[0].isr = setOf(2, 3) },
		"IsrUnfenced":    func(c *Cluster) { c.controller.image.brokers[3].fenced = true },
		"Seq": func(c *Cluster) {
			r := &c.brokers[1].replicas[0]
			c.ghosts[0].onAppend(&c.env, 1, r, r.log.appendBatch(0, []int64{1}, stamp{producer: 9, seq: 4}))
		},
	} {
		c, err := New(parseSchedule(t, "10 P1 send 1\n2000 P1 send 2\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for c.now < 1500 {
			c.Step()
		}
		if len(c.breaches) > 0 {
			t.Fatalf("broken before any damage: %v", c.breaches)
		}
		damage(c)
		c.dirty = allChanged
		c.checkInvariants()
		if !slices.ContainsFunc(c.breaches, func(b Breach) bool { return b.Invariant == name }) {
			t.Errorf("%s did not notice the damage: %v", name, c.breaches)
		}
		seen = append(seen, name)
	}
	for _, inv := range Invariants {
		if !slices.Contains(seen, inv.Name) {
			t.Errorf("nothing breaks %s", inv.Name)
		}
	}
}

// appendAt appends to a broker's log as its leader would.
func (c *Cluster) appendAt(b node, value int64) {
	r := &c.brokers[b].replicas[0]
	base := r.log.appendBatch(0, []int64{value}, stamp{})
	c.ghosts[0].onAppend(&c.env, b, r, base)
}

// TestStepsAreTotal leaves out one step after another: what is left always
// runs, to calm.
func TestStepsAreTotal(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs, one after the other")
	}
	for n := range 8 {
		s := nthSchedule(n, false)
		for i := range s.Steps {
			less := s
			less.Steps = slices.Delete(slices.Clone(s.Steps), i, i+1)
			if r := run(t, less); len(r.Breaches) > 0 || !r.Stats.Live {
				t.Errorf("schedule %d without step %d: breaches %v, live %v", n, i, r.Breaches, r.Stats.Live)
			}
		}
	}
}

// TestNothingHappensWithoutSteps runs a cluster that is asked for nothing.
func TestNothingHappensWithoutSteps(t *testing.T) {
	r := run(t, schedule.Schedule{})
	if !r.Stats.Live || len(r.History.Marks()) > 0 || len(r.History.Ops()) != 1 {
		t.Errorf("live %v\n%s", r.Stats.Live, text(r))
	}
}

func TestBreachesAreInTheHistory(t *testing.T) {
	s := readSchedule(t, "testdata/bugs/ack-before-commit.txt")
	marked := func(r *Result) bool {
		return slices.ContainsFunc(r.History.Marks(), func(m histories.Mark) bool {
			return m.Kind == histories.Nemesis && strings.HasPrefix(m.Text, "invariant AckAfterCommit broken: ")
		})
	}
	if r := run(t, s); !marked(r) {
		t.Errorf("no mark in\n%s", text(r))
	}
	r, err := Run(s, Options{NoInvariants: true})
	if err != nil || marked(r) || len(r.Breaches) > 0 {
		t.Errorf("judged without being asked: %v %v", r.Breaches, err)
	}
}

// TestBreachesNameTheirPartition runs clusters of several partitions: what broke in one of
// them says which, and what the cluster as a whole broke names none.
func TestBreachesNameTheirPartition(t *testing.T) {
	s := parseSchedule(t, `set brokers=2
set partitions=2
bug ack-before-commit
10 P1 send 1 partition=1
`)
	const want = "invariant AckAfterCommit broken: t/1: [1] acknowledged at 0 with high watermark 0 and 2 in-sync replicas"
	marks := run(t, s).History.Marks()
	if !slices.ContainsFunc(marks, func(m histories.Mark) bool { return m.Kind == histories.Nemesis && m.Text == want }) {
		t.Errorf("%v, want %s", marks, want)
	}

	s.Bugs = nil
	c, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.brokers[2].image.digest++
	c.dirty = allChanged
	c.checkInvariants()
	if len(c.breaches) != 1 || c.breaches[0].Says != "broker 2 has other metadata below offset 4" {
		t.Errorf("%v", c.breaches)
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"set brokers=10", `setting brokers="10": expected an integer from 1 to 9`},
		{"set acks=two", `setting acks="two": expected one of all, 1, 0`},
		{"set color=red", `unknown setting "color"`},
		{"bug gremlin", `unknown bug "gremlin"; expected one of truncate-to-high-watermark, `},
		{"1 nemesis bite broker=1", `line 1: step "nemesis bite broker=1": unknown fault "bite"`},
		{"1 nemesis crash broker=1", `crash needs for=`},
		{"1 nemesis crash broker=0 for=1", `broker=0: expected an integer from 1 to 9`},
		{"1 nemesis crash broker=1 for=0", `for=0: expected an integer from 1 to`},
		{"1 nemesis crash broker=controller for=1", `broker=controller: expected an integer`},
		{"1 nemesis crash broker=1 for=1 by=2", `unknown argument by=; crash takes broker= for=`},
		{"1 nemesis crash hard broker=1 for=1", `unexpected word "hard"`},
		{"1 nemesis duplicate kind=produce count=1", `kind=produce: expected one of fetch`},
		{"1 nemesis isolate node=x for=1", `node=x: expected an integer from 1 to 9, or controller`},
		{"1 nemesis cut from=1 to=10 for=1", `to=10: expected an integer from 1 to 9, or controller`},
		{"1 nemesis reassign to=1,x", `to=x: expected an integer from 1 to 9`},
		{"1 nemesis delay kind=bread by=1 for=1", `kind=bread: expected one of fetch, `},
		{"\n1 P1 jump", `line 2: step "P1 jump": unknown verb "jump" of a client`},
		{"1 P1 send", `0 words after send; expected "V[,V...]"`},
		{"1 P1 send 1,x", `value "x": expected an integer`},
		{"1 P1 send 1 acks=2", `acks=2: expected one of all, 1, 0`},
		{"1 C1 fetch", `fetch needs from=`},
		{"1 C1 fetch from=-1", `from=-1: expected an integer from 0`},
		{"1 C1 poll max=0", `max=0: expected an integer from 1`},
		{"1 C1 list newest", `list newest: expected latest or earliest`},
		{"1 A1 delete-records", `expected "OFFSET"`},
		{"1 C1 seek end", `seek end: expected an offset`},
	} {
		err := Check(parseSchedule(t, tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
		if _, runErr := Run(parseSchedule(t, tt.text), Options{}); runErr == nil || runErr.Error() != err.Error() {
			t.Errorf("%q: Run says %v, Check %v", tt.text, runErr, err)
		}
	}
	var at *ItemError
	if err := Check(parseSchedule(t, "1 P1 send 1\n2 P1 fly\n")); !errors.As(err, &at) || at.Line != 2 || at.Word != "fly" {
		t.Errorf("error %v does not point at fly in line 2", err)
	}
}

// TestFarReachingNumbersDoNothing uses numbers that are legal and mean nothing
// in this cluster.
func TestFarReachingNumbersDoNothing(t *testing.T) {
	r := run(t, parseSchedule(t, `set brokers=2
1 nemesis crash broker=9 for=10
2 nemesis move-leader to=9
3 nemesis move-leader to=2 partition=7
4 nemesis fence broker=9 for=10
5 nemesis timeout client=P9
6 nemesis elect-preferred partition=9
7 P1 send 1 via=9
8 P1 send 1 partition=9
9 nemesis shutdown broker=9 for=10
10 nemesis pause broker=9 for=10
`))
	if !r.Stats.Live || len(r.History.Ops()) != 1 || len(r.History.Marks()) > 0 {
		t.Errorf("\n%s", text(r))
	}
}

func BenchmarkRun(b *testing.B) {
	var schedules []schedule.Schedule
	for n := range 50 {
		schedules = append(schedules, nthSchedule(n, false))
	}
	events := int64(0)
	var runner Runner
	for b.Loop() {
		for _, s := range schedules {
			r, err := runner.Run(s, Options{})
			if err != nil {
				b.Fatal(err)
			}
			events += r.Stats.Events
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// TestUnchangedInvariants judges all invariants after every event, whatever
// changed: none breaks sooner than by those about what did.
func TestUnchangedInvariants(t *testing.T) {
	schedules := map[string]schedule.Schedule{}
	for n := range 40 {
		schedules[fmt.Sprint("drawn ", n)] = nthSchedule(n, n%4 == 3)
	}
	for i := range Bugs {
		schedules[Bugs[i].Name] = readSchedule(t, "testdata/bugs/"+Bugs[i].Name+".txt")
	}
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		if text := h.Header().Schedule; text != "" {
			schedules[h.Name()] = parseSchedule(t, text)
		}
	}
	for name, s := range schedules {
		if got, want := breachesOf(t, s, 0), breachesOf(t, s, allChanged); !slices.Equal(got, want) {
			t.Errorf("%s: %v, and %v if all are judged", name, got, want)
		}
	}
}

// breachesOf runs a schedule, though not to the end of a long wait for calm, and
// takes more for changed after each event than was.
func breachesOf(t *testing.T, s schedule.Schedule, more changes) []Breach {
	c, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for c.now < 10_000 && c.Step() {
		if c.dirty |= more; c.dirty != 0 {
			c.checkInvariants()
		}
	}
	return c.breaches
}
