package hunt

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/impl"
)

var (
	update   = flag.Bool("update", false, "write docs/zoo.md anew, from hunts of -zoo-seeds seeds for each bug: many minutes")
	zooSeeds = flag.Int("zoo-seeds", 20, "seeds of which the table of bugs has the median")
	zooOnly  = flag.String("zoo-only", "", "with -update, measure only the bugs whose names this expression matches, and write nothing")
)

const (
	zooFile = "../../../../docs/zoo.md"
	zooHead = `# The zoo

Every bug that can be switched on in the reference cluster (` + "`check bugs`, `check run --bug NAME`" + `), and how
soon the default generator finds it. Nothing in the generator knows any bug.

*Schedules* is how many schedules it took at the median of %d seeds; *from clients alone* is the same where
invariants and calm are not looked at, and what clients saw has to be a violation (a dash where it cannot be).
*Steps* is how long the case of the first seed is after minimizing. *First broken* is the invariant that breaks first (none where the cluster just
never becomes calm again, or only a client is wrong); *clients see* is the anomaly in the history, in parentheses where a client
history alone does not prove it. The schedule that shows a bug step by step is impl/testdata/bugs/NAME.txt.

This table is generated, in %v: go test ./cmd/check/internal/hunt -run TestZoo -timeout 2h -update

| bug | § | reference | first broken | clients see | schedules | from clients alone | steps |
|---|---|---|---|---|---:|---:|---:|
`
	zooFoot = `
## What is not in it

| § | reference | why |
|---|---|---|
| B9 | KAFKA-9338 | fetch sessions are not modelled: every fetch carries its leader epoch |
| C4 | KAFKA-14154, KAFKA-14144 | there is one controller, and never a stale one beside it |
| C8 | KAFKA-8733, KIP-501 | a consequence of the design, not a deviation from it |
| D8 | KAFKA-20554 | permitted: acks=1 promises nothing when the leadership moves; the scenario clean-election has such a loss |
| F8 | Redpanda #6018 | transactions are not modelled |
`
)

// TestZoo compares the table of bugs in the documentation with the one in the
// code, or writes it anew with what hunts found.
func TestZoo(t *testing.T) {
	if *update {
		writeZoo(t)
	}
	text, err := os.ReadFile(zooFile)
	if err != nil {
		t.Fatal(err)
	}
	for i := range impl.Bugs {
		if row := rowOf(&impl.Bugs[i]); !strings.Contains(string(text), row) {
			t.Errorf("docs/zoo.md has no row %s", row)
		}
	}
	if !strings.HasSuffix(string(text), zooFoot) {
		t.Error("docs/zoo.md does not end with what is not in the zoo")
	}
	if rows := strings.Count(string(text), "\n| `"); rows != len(impl.Bugs) {
		t.Errorf("docs/zoo.md has %d rows for %d bugs", rows, len(impl.Bugs))
	}
}

// rowOf is a bug's row, without what hunts found.
func rowOf(b *impl.Bug) string {
	sees := b.Anomaly
	if !b.BlackBox && sees != "" {
		sees = "(" + sees + ")"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |", b.Name, b.Section, b.Reference, b.Invariant, sees)
}

// writeZoo hunts every bug that -zoo-only matches, and writes the table if that
// is all of them.
func writeZoo(t *testing.T) {
	only, err := regexp.Compile(*zooOnly)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	var all, alone, lengths []int
	began := time.Now()
	for i := range impl.Bugs {
		b := &impl.Bugs[i]
		if !only.MatchString(b.Name) {
			continue
		}
		row := rowOf(b)
		all = append(all, medianHunt(t, Options{Bug: b.Name}))
		row += " " + schedules(all[len(all)-1]) + " |"
		if b.BlackBox {
			alone = append(alone, medianHunt(t, Options{Bug: b.Name, Setup: Setup{NoInvariants: true}}))
			row += " " + schedules(alone[len(alone)-1]) + " |"
		} else {
			row += " - |"
		}
		lengths = append(lengths, len(found(t, b).Schedule.Steps))
		row += fmt.Sprintf(" %d |", lengths[len(lengths)-1])
		t.Log(row)
		fmt.Fprintln(&rows, row)
	}
	foot := fmt.Sprintf("\nThe median bug takes %s, the rarest %s; from client histories alone %s and %s. The median case has %d steps.\n",
		schedules(middle(all)), schedules(slices.Max(all)), schedules(middle(alone)), schedules(slices.Max(alone)), middle(lengths))
	t.Log(foot)
	if len(all) < len(impl.Bugs) {
		return
	}
	text := fmt.Sprintf(zooHead, *zooSeeds, time.Since(began).Round(time.Minute)) + rows.String() + foot + zooFoot
	if err := os.WriteFile(zooFile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// zooBound is how many schedules of one seed a hunt may take.
const zooBound = 40_000

// medianHunt returns after how many schedules a hunt ends at the median of the
// seeds, or zooBound+1. All seeds go on side by side until more than half of them
// are done: how much longer the others would take is nobody's concern.
func medianHunt(t *testing.T, o Options) int {
	var ended []int
	hunting := make([]uint64, *zooSeeds)
	for i := range hunting {
		hunting[i] = uint64(i + 1)
	}
	for o.Runs = 16; o.First < zooBound && 2*len(ended) <= *zooSeeds; o.Runs = min(2*o.Runs, batch) {
		hunting = slices.DeleteFunc(hunting, func(seed uint64) bool {
			o.Seed = seed
			r, err := Run(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Failed != nil {
				ended = append(ended, r.FailedAt+1)
			}
			return r.Failed != nil
		})
		o.First += o.Runs
	}
	for range hunting {
		ended = append(ended, zooBound+1)
	}
	return middle(ended)
}

func middle(n []int) int {
	n = slices.Sorted(slices.Values(n))
	return n[len(n)/2]
}

// schedules is a number of them as the table has it.
func schedules(n int) string {
	if n > zooBound {
		return fmt.Sprintf("> %d", zooBound)
	}
	return strconv.Itoa(n)
}
