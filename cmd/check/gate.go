package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
)

// A gate is the command gate: everything that must hold before a change is
// accepted.
type gate struct {
	app      *app
	folders  []string // in place of the embedded corpus
	bound    int      // schedules until a bug counts as missed
	budget   time.Duration
	shard    shard // the share of the work that is done here
	files    reportFiles
	baseline string // file of what is allowed
	report   gateReport
	hunt     func(context.Context, hunt.Options) (*hunt.Report, error)

	start time.Time
	saved time.Time     // when the files were last written
	cost  time.Duration // of writing them
	fails error         // why they cannot be written
}

// reportFiles are the files that a report is written to, and the folder of its
// pages, "" for none.
type reportFiles struct{ json, junit, html string }

const defaultBudget = 2 * time.Minute

func (a *app) gate() *cobra.Command {
	g := &gate{app: a, bound: bugRuns, shard: shard{1, 1}, hunt: hunt.Run}
	g.report = gateReport{Version: reportVersion, Unknown: "fail", Parts: []part{}}
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Check everything that must hold, as a CI job does",
		Long: "gate judges every case of the corpus and compares with the verdict it documents, demands\n" +
			"that each rule is violated by a case, runs the schedules of cases again, hunts seeded bugs,\n" +
			"which must be found, and hunts in the reference cluster, which must keep its promises, until\n" +
			"the budget ends; half of it is for the bugs, and those it does not suffice for are left out:\n" +
			"of twenty times as many schedules as it usually takes a bug has no excuse.\n" +
			"With --runs, so many schedules and all bugs are demanded, and what the budget does not suffice\n" +
			"for is unknown. Folders given as corpus stand in for the embedded one, and must be as complete.\n\n" +
			"Shards share the work: each of n machines does its own and writes a report, and 'check merge'\n" +
			"puts them together. The files are whole whenever the gate is killed, and say that it was. On\n" +
			"GitHub, problems become annotations and the report becomes the summary of the job.",
		Example: "  check gate --budget 5m --json gate.json --junit gate.xml --html pages\n" +
			"  check gate --seed $GITHUB_RUN_NUMBER\n" +
			"  check gate --shard 2/4 --json gate-2.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs := g.report.Runs
			switch {
			case g.report.Unknown != "fail" && g.report.Unknown != "pass":
				return fmt.Errorf("invalid argument %q for --unknown: expected fail or pass", g.report.Unknown)
			case g.bound < 1:
				return fmt.Errorf("expected --bound above 0, found %d", g.bound)
			case g.budget <= 0:
				return fmt.Errorf("expected --budget above 0, found %s", g.budget)
			case runs < 1 && cmd.Flags().Changed("runs"):
				return fmt.Errorf("expected --runs above 0, found %d", runs)
			case runs > 0 && runs < g.shard.of:
				return fmt.Errorf("expected --runs of %d or more, a schedule for each shard", g.shard.of)
			}
			g.report.Flags = furtherFlags(cmd)
			if err := cmp.Or(g.files.check(), apart(g.files.outputs(), g.baseline)); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			g.run(ctx)
			return nil
		},
	}
	a.limitFlag(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&g.folders, "corpus", nil, "folder of cases in place of the embedded corpus; may be repeated")
	flags.IntVar(&g.report.Runs, "runs", 0, "schedules to draw for the reference cluster (default as many as the budget allows)")
	flags.IntVar(&g.bound, "bound", g.bound, "schedules to draw until a bug counts as missed")
	flags.Uint64Var(&g.report.Seed, "seed", defaultSeed, "of the schedules")
	flags.DurationVar(&g.budget, "budget", defaultBudget, "time for all; the cases are judged even if that takes longer")
	flags.StringVar(&g.report.Unknown, "unknown", g.report.Unknown, "whether what could not be decided is a failure: fail or pass")
	flags.Var(&g.shard, "shard", "which share of the work to do")
	flags.StringVar(&g.baseline, "baseline", "", "file of what is allowed for a while (see docs/gate.md)")
	g.files.flags(cmd)
	return cmd
}

// flags adds the flags that name the files.
func (f *reportFiles) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.json, "json", "", "file to write the report to, as JSON")
	cmd.Flags().StringVar(&f.junit, "junit", "", "file to write the report to, as JUnit XML")
	cmd.Flags().StringVar(&f.html, "html", "", "folder for a page about each problem that has a history")
}

// outputs are those files and that folder.
func (f *reportFiles) outputs() []output {
	return []output{{"--json", f.json}, {"--junit", f.junit}, {"--html", f.html}}
}

// check refuses names under which a report would be read as a history.
func (f *reportFiles) check() error { return noHistory(f.outputs()[:2]...) }

// makePages makes the folder that pages go to, if one was named.
func (f *reportFiles) makePages() error {
	if f.html == "" {
		return nil
	}
	return os.MkdirAll(f.html, 0o777)
}

func (g *gate) run(ctx context.Context) {
	b := build()
	g.start, g.report.Shard, g.report.Build = time.Now(), g.shard.String(), b.Isrcheck+b.source()
	sources, err := g.sources()
	for _, file := range sources {
		if clash := apart(g.files.outputs(), file.name); clash != nil {
			g.app.fail(exitInput, clash)
			return
		}
	}
	if g.save(); g.fails != nil { // before all work: nobody must take what an earlier gate left for this one's
		g.app.fail(exitInput, g.fails)
		return
	}
	var cases []gateCase
	if err == nil {
		cases, err = g.prepare(ctx, sources)
	}
	switch {
	case ctx.Err() != nil:
		g.conclude(true)
		return
	case err != nil:
		g.report.Troubles = append(g.report.Troubles, err.Error())
		g.save()
		g.app.fail(exitInput, err)
		return
	}
	timed, cancel := context.WithDeadline(ctx, g.start.Add(g.budget))
	defer cancel()
	g.judgeCorpus(ctx, cases)
	g.demandRules(cases)
	g.replayCorpus(ctx, cases)
	g.huntBugs(ctx, timed)
	g.huntSafe(ctx, timed)
	g.conclude(ctx.Err() != nil)
}

// prepare reads what the gate works on, and makes room for its pages.
func (g *gate) prepare(ctx context.Context, sources []source) (cases []gateCase, err error) {
	if g.baseline != "" {
		if g.report.Baseline, err = g.app.readBaseline(g.baseline, g.start); err != nil {
			return nil, err
		}
	}
	if cases, err = g.cases(ctx, sources); err != nil {
		return nil, err
	}
	g.report.Corpus = digestOf(cases)
	if g.files.html == "" {
		return cases, nil
	}
	if err := g.files.makePages(); err != nil {
		return nil, err
	}
	return cases, sweep(g.files.html, g.draws)
}

// begin opens a part of so many items.
func (g *gate) begin(name string, of int) *part {
	g.report.Parts = append(g.report.Parts, part{Name: name, Of: of, Items: []item{}})
	return &g.report.Parts[len(g.report.Parts)-1]
}

// look adds an item to the open part, as f leaves it; without a verdict it is
// dropped. A panic is an internal error, of this item alone.
func (g *gate) look(index int, name string, f func(*item)) {
	it, start := item{Index: index, Name: name, Verdict: "ok"}, time.Now()
	func() {
		defer func() {
			if p := recover(); p != nil {
				g.app.err.Write(debug.Stack())
				it.wrong("error", internalError, "panic: %v", p)
			}
		}()
		f(&it)
	}()
	if it.Verdict == "" {
		return
	}
	it.Ms = time.Since(start).Milliseconds()
	p := &g.report.Parts[len(g.report.Parts)-1]
	it.Allowed = g.report.allows(it)
	p.Items = append(p.Items, it)
	if it.Verdict != "ok" && time.Since(g.saved) > 10*g.cost || time.Since(g.saved) > time.Second {
		g.save()
	}
}

// end closes the open part. What is printed is on disk before.
func (g *gate) end() {
	g.save()
	g.app.printPart(g.report.Parts[len(g.report.Parts)-1])
}

// save writes the files as far as the gate has come.
func (g *gate) save() {
	start := time.Now()
	g.report.judge()
	g.report.Ms = start.Sub(g.start).Milliseconds()
	g.fails = g.files.write(&g.report)
	g.saved = time.Now()
	g.cost = g.saved.Sub(start)
}

// write writes the report to those files that were named.
func (f *reportFiles) write(r *gateReport) error {
	var err error
	if f.json != "" {
		text, failed := json.MarshalIndent(r, "", "  ")
		if failed != nil {
			panic(failed) // strings and numbers always encode
		}
		err = replaceFile(f.json, append(text, '\n'))
	}
	if f.junit != "" {
		err = errors.Join(err, replaceFile(f.junit, junitOf(r)))
	}
	return err
}

// conclude prints the verdict and writes the report.
func (g *gate) conclude(interrupted bool) {
	r := &g.report
	r.Complete = !interrupted
	g.save()
	if g.fails != nil {
		g.app.fail(exitInput, g.fails)
	}
	if interrupted && r.Verdict == "unknown" {
		r.Exit = exitInterrupted
		g.app.exit = exitInterrupted
	} else {
		g.app.worsen(r.Exit)
	}
	took := time.Since(g.start).Round(100 * time.Millisecond)
	if interrupted {
		fmt.Fprintf(g.app.err, "check: interrupted after %s\n", took)
	}
	fmt.Fprintf(g.app.out, "verdict %s  in %s (%s)\n", g.app.column(r.Verdict), took, r.again())
	if r.Shard == "1/1" && r.Complete {
		g.app.printBaseline(r)
	}
	g.app.tellGitHub(r, true)
}

// draws reports whether this gate, with its shard, would write the page of that
// item.
func (g *gate) draws(part string, index int) bool {
	if part != "safe" {
		return g.shard.has(index)
	}
	if g.report.Runs > 0 {
		first, n := g.shard.span(g.report.Runs)
		return index >= first && index < first+n
	}
	return g.shard.has(index / chunk)
}

// rotated returns a list that begins elsewhere.
func rotated[T any](list []T, by uint64) []T {
	if len(list) == 0 {
		return nil
	}
	i := int(by % uint64(len(list)))
	return slices.Concat(list[i:], list[:i])
}
