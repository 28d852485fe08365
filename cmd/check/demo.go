package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

const (
	demoSeed  = 1
	demoRuns  = 3000
	demoBound = 50_000 // schedules until the demo gives up on its bug
	demoBug   = "truncate-to-high-watermark"
)

// demoSettings are those of a cluster that people trust with their data.
var demoSettings = []schedule.Setting{{Key: "brokers", Value: "3"}, {Key: "default.replication.factor", Value: "3"}, {Key: "min.insync.replicas", Value: "2"}}

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a message get lost, in a few seconds",
		Long: "demo hunts for a lost message twice: in the reference cluster, which loses none, and in\n" +
			"the same cluster with a bug that Kafka once had. It needs nothing and writes nothing.",
		Example: "  check demo",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := interruptible()
			defer stop()
			a.demonstrate(ctx)
			return nil
		},
	}
}

// demonstrate runs the demo. It fails where the demo does: if the safe cluster
// loses something, or the bug goes unnoticed.
func (a *app) demonstrate(ctx context.Context) {
	if !a.demoSafe(ctx) {
		return
	}
	t, runs, steps := a.demoBug(ctx)
	if t == nil {
		return
	}
	j, text := judged(t, t.FileName()+histories.Encodings[0])
	h, err := histories.Parse(j.file, text)
	if err != nil {
		panic(err) // it is the text of a history
	}
	fmt.Fprintf(a.out, "   %s became %d in %s. That is all it takes:\n\n", count(steps, "step"), len(t.Schedule.Steps), count(runs, "run"))
	fmt.Fprint(a.out, indent(numberLines(string(text))))
	fmt.Fprintf(a.out, "\n%s\n\n", a.ink.bold("3. What it means"))
	var b strings.Builder
	a.explainViolation(&b, h, j.result)
	fmt.Fprint(a.out, indent(b.String()))
	fmt.Fprintf(a.out, "\n%s\n\n%s\n", a.ink.bold("What next"), indent(table([][]string{
		{"check run --bug " + demoBug, "hunt it yourself; the case is kept in ./failures"},
		{"check bugs", "the other bugs that can be switched on"},
		{"check replay FILE --trace", "run a case again, step by step"},
		{"check verify FILE", "judge a recording of your own log ('check help format' shows how to write one)"},
		{"check explain FILE", "the verdict in words"},
		{"go test ./...", "the same checks as a test suite"},
	})))
}

// demoSafe hunts in the reference cluster and reports whether that went as it
// should.
func (a *app) demoSafe(ctx context.Context) bool {
	fmt.Fprintf(a.out, "%s\n\n", a.ink.bold("1. A replicated log that keeps its promises"))
	fmt.Fprintf(a.out, "   Kafka's ISR replication on three brokers, simulated. Faults are drawn at random,\n"+
		"   and what the clients saw is judged: did an acknowledged message get lost?\n\n")
	r, err := hunt.Run(ctx, hunt.Options{Runs: demoRuns, Seed: demoSeed, Settings: demoSettings})
	switch {
	case err != nil:
		a.fail(exitInternal, err)
		return false
	case ctx.Err() != nil:
		a.exit = exitInterrupted
		return false
	case r.Failed != nil:
		j, text := judged(r.Failed, "reference-cluster.hist")
		a.printText(j, true)
		fmt.Fprintf(a.out, "\n%s", text)
		a.reportBug("the reference cluster breaks a promise", "")
		return false
	}
	total := int64(0)
	for _, n := range r.Stats.Faults {
		total += n
	}
	fmt.Fprint(a.out, indent(table([][]string{
		{number(r.Runs), "schedules, each run twice to show that the same happens again"},
		{number(int(total)), "faults: crashes, power losses, wiped disks, pauses, partitions, lost messages, ..."},
		{number(int(r.Stats.Elections)), "leader elections"},
		{number(r.Exercised.Acknowledged), "batches acknowledged by all replicas in sync"},
		{a.ink.green("none"), "of them lost" + but(r)},
	}))+"\n\n")
	return true
}

// but names what no replication survives, if it happened.
func but(r *hunt.Report) string {
	n := r.Permitted["lost-write"]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", but for %s that cost the only replica in sync its disk", count(n, "schedule"))
}

// demoBug hunts with the bug switched on. It returns the smallest case, the
// runs that making it small took, and the steps it had; nil where that failed.
func (a *app) demoBug(ctx context.Context) (t *hunt.Trial, runs, steps int) {
	bug, err := bugByName(demoBug)
	if err != nil {
		panic(err) // the table has it
	}
	fmt.Fprintf(a.out, "%s\n\n", a.ink.bold("2. The same log with an old bug: "+bug.Name+" ("+bug.Reference+")"))
	fmt.Fprintf(a.out, "   Here %s.\n\n", bug.Says)
	o := hunt.Options{Setup: hunt.Setup{NoInvariants: true}, Runs: demoBound, Seed: demoSeed, Settings: demoSettings, Bug: bug.Name, Rules: []string{bug.Anomaly}}
	r, err := hunt.Run(ctx, o)
	switch {
	case err != nil:
		a.fail(exitInternal, err)
		return nil, 0, 0
	case ctx.Err() != nil:
		a.exit = exitInterrupted
		return nil, 0, 0
	case r.Failed == nil:
		a.fail(exitViolation, fmt.Errorf("the bug went unnoticed in %s", count(r.Runs, "schedule")))
		return nil, 0, 0
	}
	fmt.Fprintf(a.out, "   The %s schedule shows it: %s.\n", ordinal(r.Runs), a.ink.red(r.Failed.Rule()))
	t, runs, err = o.Minimize(ctx, r.Failed, defaultShrink)
	if err != nil {
		a.fail(exitInternal, err)
		return nil, 0, 0
	}
	return t, runs, len(r.Failed.Schedule.Steps)
}

// indent moves every line that is not empty to the right.
func indent(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = "   " + line
		}
	}
	return strings.Join(lines, "")
}

// numberLines puts its number before each line.
func numberLines(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%3d  %s", n, line)
	}
	return b.String()
}
