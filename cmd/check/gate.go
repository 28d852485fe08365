package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
)

// A gate is the command gate: everything that must hold before a change is
// accepted.
type gate struct {
	app     *app
	folders []string // in place of the embedded corpus
	runs    int
	bound   int // schedules until a bug counts as missed
	seed    uint64
	budget  time.Duration // of the random parts together
	lenient bool          // undecided is no failure
	report  string        // file for the JSON
	parts   []part
}

// A part is one line of the gate's report.
type part struct {
	Name     string   `json:"name"`
	Verdict  string   `json:"verdict"` // ok, violation or unknown
	Says     string   `json:"says"`
	Problems []string `json:"problems"`
}

const defaultBudget = 2 * time.Minute

func (a *app) gate() *cobra.Command {
	g := &gate{app: a, bound: bugRuns}
	unknown := "fail"
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Check everything that must hold, as a CI job does",
		Long: "gate judges every case of the corpus and compares with the verdict it documents, demands\n" +
			"that each rule is violated by a case, runs the schedules of cases again, hunts in the\n" +
			"reference cluster, which must keep its promises, and hunts each seeded bug, which must be\n" +
			"found. It prints a line for each part and one for the verdict. Folders given as corpus\n" +
			"stand in for the embedded one, and must be as complete.",
		Example: "  check gate --budget 5m --json gate.json\n" +
			"  check gate --seed $GITHUB_RUN_NUMBER",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case unknown != "fail" && unknown != "pass":
				return fmt.Errorf("invalid argument %q for --unknown: expected fail or pass", unknown)
			case g.runs < 1 || g.bound < 1 || g.budget <= 0:
				return errors.New("expected --runs, --bound and --budget above 0")
			}
			g.lenient = unknown == "pass"
			ctx, stop := interruptible()
			defer stop()
			g.run(ctx)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&g.folders, "corpus", nil, "folder of cases in place of the embedded corpus; may be repeated")
	flags.IntVar(&g.runs, "runs", 2000, "schedules to draw for the reference cluster")
	flags.IntVar(&g.bound, "bound", g.bound, "schedules to draw until a bug counts as missed")
	flags.Uint64Var(&g.seed, "seed", defaultSeed, "of the schedules")
	flags.DurationVar(&g.budget, "budget", defaultBudget, "time that drawn schedules may take; what was not reached is unknown")
	flags.StringVar(&unknown, "unknown", unknown, "whether what could not be decided is a failure: fail or pass")
	flags.StringVar(&g.report, "json", "", "file to write the report to, as JSON")
	return cmd
}

func (g *gate) run(ctx context.Context) {
	start := time.Now()
	cases, err := g.cases(ctx)
	if err != nil {
		g.app.failOrStop(ctx, err)
		return
	}
	g.add(judgeCorpus(ctx, cases))
	g.add(demandRules(cases))
	g.add(replayCorpus(ctx, cases))
	timed, cancel := context.WithTimeout(ctx, g.budget)
	defer cancel()
	g.add(g.huntSafe(timed))
	g.add(g.huntBugs(timed))
	g.conclude(ctx.Err() != nil, time.Since(start))
}

// cases returns the corpus. None at all is for the gate to judge.
func (g *gate) cases(ctx context.Context) ([]*histories.History, error) {
	if len(g.folders) == 0 {
		return histories.Corpus()
	}
	var all []*histories.History
	for _, folder := range g.folders {
		if _, err := os.Stat(folder); err != nil {
			return nil, err
		}
		for _, file := range sources([]string{folder}) {
			if errors.Is(file.err, errNoHistories) {
				continue
			}
			if file.err != nil {
				return nil, file.err
			}
			h, err := g.app.read(ctx, file.name)
			if err != nil {
				return nil, err
			}
			all = append(all, h)
		}
	}
	return all, nil
}

// add completes a part and prints its line.
func (g *gate) add(p part, undecided int) {
	switch {
	case len(p.Problems) > undecided:
		p.Verdict = "violation"
	case undecided > 0:
		p.Verdict = "unknown"
	default:
		p.Verdict, p.Problems = "ok", []string{}
	}
	g.parts = append(g.parts, p)
	fmt.Fprintf(g.app.out, "%-7s %s  %s\n", p.Name, g.colour(p.Verdict), p.Says)
	for _, problem := range p.Problems {
		fmt.Fprintf(g.app.out, "          %s\n", problem)
	}
}

// colour pads a verdict and gives it its colour.
func (g *gate) colour(verdict string) string {
	text := fmt.Sprintf("%-9s", verdict)
	switch verdict {
	case "ok":
		return g.app.ink.green(text)
	case "unknown":
		return g.app.ink.yellow(text)
	}
	return g.app.ink.red(text)
}

// conclude prints the verdict and writes the report.
func (g *gate) conclude(interrupted bool, took time.Duration) {
	has := func(verdict string) bool {
		return slices.ContainsFunc(g.parts, func(p part) bool { return p.Verdict == verdict })
	}
	verdict, code := "ok", exitOK
	switch {
	case has("violation"):
		verdict, code = "violation", exitViolation
	case has("unknown"):
		verdict, code = "unknown", exitUnknown
		if g.lenient {
			code = exitOK
		}
	}
	if interrupted && code != exitViolation {
		code = exitInterrupted
	}
	if code != exitOK {
		g.app.exit = code
	}
	fmt.Fprintf(g.app.out, "verdict %s  in %s (check gate --seed %d --runs %d)\n", g.colour(verdict), took.Round(100*time.Millisecond), g.seed, g.runs)
	if g.report == "" {
		return
	}
	text, err := json.MarshalIndent(jsonGate{verdict, code, g.seed, took.Milliseconds(), g.parts}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	if err := os.WriteFile(g.report, append(text, '\n'), 0o666); err != nil {
		g.app.fail(exitInput, err)
	}
}

// jsonGate is the JSON of a gate. Names are part of the command line's contract.
type jsonGate struct {
	Verdict string `json:"verdict"`
	Exit    int    `json:"exit"`
	Seed    uint64 `json:"seed"`
	Ms      int64  `json:"ms"`
	Parts   []part `json:"parts"`
}
