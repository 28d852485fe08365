package hunt

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/impl"
)

var (
	update   = flag.Bool("update", false, "write docs/zoo.md anew, from hunts of -zoo-seeds seeds for each bug: many minutes")
	zooSeeds = flag.Int("zoo-seeds", 20, "seeds of which the table of bugs has the median")
	zooOnly  = flag.String("zoo-only", "", "with -update, measure only the bugs whose names this expression matches")
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

This table is generated, in about five minutes on two cores: go test ./cmd/check/internal/hunt -run TestZoo -timeout 9h -update

| bug | § | reference | first broken | clients see | schedules | from clients alone | steps |
|---|---|---|---|---|---:|---:|---:|
`
	zooFoot = `
The catalogue calls F4, ` + "`" + `consumer-misses-truncation` + "`" + `, black-box, and here it has a dash. Records that a consumer was
given vanish only where that is excused, as by an unclean election that the settings permit; and then it is excused,
too, that their offsets hold other values than were read. What the bug adds is that nobody tells the consumer, and a
history does not say whether its client promises to ask: those from before KIP-320 do not. So what clients see is no
violation, and the invariant is, which knows what is in the log that a consumer goes on in.

## What is not in it

| § | reference | why |
|---|---|---|
| C8 | KAFKA-8733, KIP-501 | how Kafka behaves, not a deviation from it; the scenario slow-leader-evicts-followers shows it |
| D8 | KAFKA-20554 | permitted: acks=1 promises nothing when the leadership moves; the scenario planned-move-loses-acks-one has such a loss, planned-move-keeps-acks-all its twin |
| F8 | Redpanda #6018 | transactions are not modelled |
| §1.4 | KAFKA-13083 | topics exist from the start: nobody chooses their first ISR |
| §2.8 | KAFKA-9539, KIP-570 | a log of metadata has no orders to single brokers that could arrive late; metadata-applied-twice and former-controller-fences are its kin |
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
	if medians(savedRows(t)) != zooText {
		t.Error("zoo.txt has other medians than docs/zoo.md")
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

// writeZoo hunts the bugs that -zoo-only matches. It writes the table after each
// of them, with the rows of the others as they are, so that it can go on later.
func writeZoo(t *testing.T) {
	only, err := regexp.Compile(*zooOnly)
	if err != nil {
		t.Fatal(err)
	}
	for i := range impl.Bugs {
		if b := &impl.Bugs[i]; only.MatchString(b.Name) {
			rows := savedRows(t)
			rows[b.Name] = measure(t, b)
			t.Logf("%s: %+v", b.Name, rows[b.Name])
			zooText = medians(rows)
			if err := errors.Join(os.WriteFile(zooFile, zoo(rows), 0o644), os.WriteFile("zoo.txt", []byte(zooText), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A measurement is what hunts found of a bug, as the table has it.
type measurement struct{ schedules, alone, steps string }

// savedRows reads what is in the table.
func savedRows(t *testing.T) map[string]measurement {
	rows := map[string]measurement{}
	for line := range strings.Lines(string(readFile(t, zooFile))) {
		cells := strings.Split(line, "|")
		if n := len(cells); n == 10 && strings.HasPrefix(cells[1], " `") {
			rows[strings.Trim(cells[1], " `")] = measurement{strings.TrimSpace(cells[n-4]), strings.TrimSpace(cells[n-3]), strings.TrimSpace(cells[n-2])}
		}
	}
	return rows
}

// medians are the lines of zoo.txt.
func medians(rows map[string]measurement) string {
	var out strings.Builder
	for i := range impl.Bugs {
		name := impl.Bugs[i].Name
		fmt.Fprintf(&out, "%s %s\n", name, strings.TrimPrefix(rows[name].schedules, "> "))
	}
	return out.String()
}

// zoo is the text of the table.
func zoo(rows map[string]measurement) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, zooHead, *zooSeeds)
	var all, alone, steps []int
	for i := range impl.Bugs {
		m := rows[impl.Bugs[i].Name]
		fmt.Fprintf(&out, "%s %s | %s | %s |\n", rowOf(&impl.Bugs[i]), m.schedules, m.alone, m.steps)
		all, alone, steps = appendNumber(all, m.schedules), appendNumber(alone, m.alone), appendNumber(steps, m.steps)
	}
	fmt.Fprintf(&out, "\nSchedules: %s; from clients alone: %s; steps: %s.\n", spread(all), spread(alone), spread(steps))
	out.WriteString(zooFoot)
	return []byte(out.String())
}

// appendNumber appends what a cell says, if it is a number.
func appendNumber(to []int, cell string) []int {
	if cell == schedules(zooBound+1) {
		return append(to, zooBound+1)
	}
	if n, err := strconv.Atoi(cell); err == nil {
		return append(to, n)
	}
	return to
}

// measure hunts a bug with invariants, by clients alone, and once more to see how
// small its case is.
func measure(t *testing.T, b *impl.Bug) measurement {
	m := measurement{alone: "-"}
	m.schedules = schedules(medianHunt(t, Options{Bug: b.Name}))
	if b.BlackBox {
		m.alone = schedules(medianHunt(t, Options{Bug: b.Name, Setup: Setup{NoInvariants: true}}))
	}
	m.steps = strconv.Itoa(len(found(t, b).Schedule.Steps))
	return m
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

// spread is the median and the largest of what was measured.
func spread(n []int) string {
	if len(n) == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%s at the median, %s at most", schedules(middle(n)), schedules(slices.Max(n)))
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
