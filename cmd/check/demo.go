package main

import (
	"context"
	"fmt"
	"io"
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

// A demonstration is the command demo.
type demonstration struct {
	app  *app
	json bool
	out  io.Writer // what people read; nowhere with json
}

func (a *app) demo() *cobra.Command {
	d := &demonstration{app: a, out: a.out}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a message get lost, in a few seconds",
		Long: "demo hunts for a lost message twice: in the reference cluster, which loses none, and in\n" +
			"the same cluster with a bug that Kafka once had. It needs nothing and writes nothing.",
		Example: "  check demo",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := interruptible()
			defer stop()
			if d.json {
				d.out = io.Discard
			}
			d.run(ctx)
			return nil
		},
	}
	jsonFlag(cmd, &d.json)
	return cmd
}

// run runs the demo. It fails where the demo does: if the safe cluster
// loses something, or the bug goes unnoticed.
func (d *demonstration) run(ctx context.Context) {
	safe := d.safe(ctx)
	if safe == nil {
		return
	}
	c := d.bug(ctx)
	if c == nil {
		return
	}
	if d.json {
		d.app.encode(demoJSON(safe, c))
		return
	}
	j, text := c.judgement, c.text
	h, err := histories.Parse(j.file, text)
	if err != nil {
		panic(err) // it is the text of a history
	}
	fmt.Fprintf(d.out, "   %s became %d in %s. That is all it takes:\n\n", count(c.steps, "step"), len(c.trial.Schedule.Steps), count(c.runs, "run"))
	fmt.Fprint(d.out, indent(numberLines(string(text))))
	fmt.Fprintf(d.out, "\n%s\n\n", d.app.ink.bold("3. What it means"))
	var b strings.Builder
	d.app.explainViolation(&b, h, j.result, maxFaults)
	fmt.Fprint(d.out, indent(b.String()))
	fmt.Fprintf(d.out, "\n%s\n\n%s\n", d.app.ink.bold("What next"), indent(table([][]string{
		{"check run --bug " + demoBug, "hunt it yourself; the case is kept in ./failures"},
		{"check bugs", "the other bugs that can be switched on"},
		{"check replay FILE --trace", "run a case again, step by step"},
		{"check verify FILE", "judge a recording of your own log ('check help format' shows how to write one)"},
		{"check explain FILE", "the verdict in words"},
		{"go test ./...", "the same checks as a test suite"},
	})))
}

// safe hunts in the reference cluster. It returns nil if that did not go as it
// should.
func (d *demonstration) safe(ctx context.Context) *hunt.Report {
	fmt.Fprintf(d.out, "%s\n\n", d.app.ink.bold("1. A replicated log that keeps its promises"))
	fmt.Fprintf(d.out, "   Kafka's ISR replication on three brokers, simulated. Faults are drawn at random,\n"+
		"   and what the clients saw is judged: did an acknowledged message get lost?\n\n")
	r, err := hunt.Run(ctx, hunt.Options{Runs: demoRuns, Seed: demoSeed, Settings: demoSettings})
	switch {
	case err != nil:
		d.app.fail(exitInternal, err)
		return nil
	case ctx.Err() != nil:
		d.app.exit = exitInterrupted
		return nil
	case r.Failed != nil:
		j, text := judged(r.Failed, "reference-cluster.hist")
		if !d.json {
			d.app.printText(j, true)
		}
		fmt.Fprintf(d.out, "\n%s", text)
		d.app.reportBug("the reference cluster breaks a promise", "")
		return nil
	}
	total := int64(0)
	for _, n := range r.Stats.Faults {
		total += n
	}
	fmt.Fprint(d.out, indent(table([][]string{
		{number(r.Runs), "schedules, one in sixteen run twice to show that the same happens again"},
		{number(int(total)), "faults: crashes, power losses, wiped disks, pauses, partitions, lost messages, ..."},
		{number(int(r.Stats.Elections)), "leader elections"},
		{number(r.Exercised.Acknowledged), "batches acknowledged by all replicas in sync"},
		{d.app.ink.green("none"), "of them lost" + but(r)},
	}))+"\n\n")
	return r
}

// but names what no replication survives, if it happened.
func but(r *hunt.Report) string {
	n := r.Permitted["lost-write"]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", but for %s that cost the only replica in sync its disk", count(n, "schedule"))
}

// bug hunts with the bug switched on, and returns the smallest case, or nil where
// that failed.
func (d *demonstration) bug(ctx context.Context) *catch {
	bug, err := bugByName(demoBug)
	if err != nil {
		panic(err) // the table has it
	}
	fmt.Fprintf(d.out, "%s\n\n", d.app.ink.bold("2. The same log with an old bug: "+bug.Name+" ("+bug.Reference+")"))
	fmt.Fprintf(d.out, "   Here %s.\n\n", bug.Says)
	o := hunt.Options{Setup: hunt.Setup{NoInvariants: true}, Runs: demoBound, Seed: demoSeed, Settings: demoSettings, Bug: bug.Name, Rules: []string{bug.Anomaly}}
	r, err := hunt.Run(ctx, o)
	switch {
	case err != nil:
		d.app.fail(exitInternal, err)
		return nil
	case ctx.Err() != nil:
		d.app.exit = exitInterrupted
		return nil
	case r.Failed == nil:
		d.app.fail(exitViolation, fmt.Errorf("the bug went unnoticed in %s", count(r.Runs, "schedule")))
		return nil
	}
	fmt.Fprintf(d.out, "   The %s schedule shows it: %s.\n", ordinal(r.Runs), d.app.ink.red(r.Failed.Rule()))
	t, runs, err := o.Minimize(ctx, r.Failed, defaultShrink)
	if err != nil {
		d.app.fail(exitInternal, err)
		return nil
	}
	c := &catch{number: r.FailedAt, steps: len(r.Failed.Schedule.Steps), trial: t, runs: runs}
	c.judgement, c.text = judged(t, t.FileName()+histories.Encodings[0])
	return c
}

// jsonDemo is the JSON of the demo. Names are part of the command line's
// contract.
type jsonDemo struct {
	Safe jsonCoverage `json:"safe"` // of the reference cluster, which lost nothing
	Bug  string       `json:"bug"`  // that was switched on then

	Schedule int           `json:"schedule"`     // the number of the one that showed it
	Steps    int           `json:"steps"`        // as it was drawn
	Minimal  int           `json:"minimized"`    // steps that are left
	Runs     int           `json:"minimized_in"` // runs that making it small took
	Text     string        `json:"text"`         // of the case
	Case     jsonJudgement `json:"case"`         // as verify prints it
}

func demoJSON(safe *hunt.Report, c *catch) jsonDemo {
	return jsonDemo{Safe: coverageJSON(safe), Bug: demoBug, Schedule: c.number, Steps: c.steps,
		Minimal: len(c.trial.Schedule.Steps), Runs: c.runs, Text: string(c.text), Case: asJSON(c.judgement)}
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
