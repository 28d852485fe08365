package hunt

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/impl"
)

var (
	update   = flag.Bool("update", false, "write docs/zoo.md anew, from hunts of -zoo-seeds seeds for each bug: some minutes")
	zooSeeds = flag.Int("zoo-seeds", 20, "seeds of which the table of bugs has the median")
)

const (
	zooFile = "../../../../docs/zoo.md"
	zooHead = `# The zoo

Every bug that can be switched on in the reference cluster (` + "`check bugs`, `check run --bug NAME`" + `), and how
soon the default generator finds it. Nothing in the generator knows any bug.

*Schedules* is how many schedules it took at the median of %d seeds; *steps* is how long the case of the
first seed is after minimizing. *First broken* is the invariant that breaks first (none where the cluster just
never becomes calm again, or only a client is wrong); *clients see* is the anomaly in the history, in parentheses where a client
history alone does not prove it. The schedule that shows a bug step by step is impl/testdata/bugs/NAME.txt.

This table is generated: go test ./cmd/check/internal/hunt -run TestZoo -timeout 1h -update

| bug | § | reference | first broken | clients see | schedules | steps |
|---|---|---|---|---|---:|---:|
`
	zooFoot = `
## What is not in it

| § | reference | why |
|---|---|---|
| B9 | KAFKA-9338 | fetch sessions are not modelled: every fetch carries its leader epoch |
| C4 | KAFKA-14154, KAFKA-14144 | there is one controller, and never a stale one beside it |
| C8 | KAFKA-8733, KIP-501 | a consequence of the design, not a deviation from it |
| D8 | KAFKA-20554 | permitted: acks=1 promises nothing when the leadership moves; the scenario clean-election has such a loss |
| F2 | retries with several requests in flight | a client has one request in flight |
| F4 | KAFKA-7747, KIP-320 | consumers do not validate their position against leader epochs; the scenario q3-unclean-election shows what they miss |
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

func writeZoo(t *testing.T) {
	var out strings.Builder
	fmt.Fprintf(&out, zooHead, *zooSeeds)
	var medians, lengths []int
	for i := range impl.Bugs {
		median, steps := measure(t, impl.Bugs[i].Name)
		fmt.Fprintf(&out, "%s %d | %d |\n", rowOf(&impl.Bugs[i]), median, steps)
		medians, lengths = append(medians, median), append(lengths, steps)
	}
	slices.Sort(medians)
	slices.Sort(lengths)
	fmt.Fprintf(&out, "\nThe median bug takes %d schedules, the rarest %d; the median case has %d steps.\n",
		medians[len(medians)/2], medians[len(medians)-1], lengths[len(lengths)/2])
	out.WriteString(zooFoot)
	if err := os.WriteFile(zooFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// measure hunts a bug with each seed and returns after how many schedules it is
// found at the median, and the number of steps in the first seed's case.
func measure(t *testing.T, bug string) (median, steps int) {
	ctx := context.Background()
	var took []int
	for seed := range *zooSeeds {
		r, err := Run(ctx, Options{Runs: 20_000, Seed: uint64(seed + 1), Bug: bug})
		if err != nil {
			t.Fatal(err)
		}
		if r.Failed == nil {
			t.Logf("%s: not found in %d schedules of seed %d", bug, r.Runs, seed+1)
			took = append(took, r.Runs)
			continue
		}
		took = append(took, r.FailedAt+1)
		if steps > 0 {
			continue
		}
		small, _, err := Setup{}.Minimize(ctx, r.Failed, 2000)
		if err != nil {
			t.Fatal(err)
		}
		steps = len(small.Schedule.Steps)
	}
	slices.Sort(took)
	t.Logf("%s: %v", bug, took)
	return took[len(took)/2], steps
}
