package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
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
	shard   shard         // the share of the work that is done here
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

// A shard is one of several shares of the work, counted from 1.
type shard struct{ number, of int }

// Set reads "i/n".
func (s *shard) Set(text string) error {
	number, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(number)
	n, also := strconv.Atoi(of)
	if err != nil || also != nil || i < 1 || i > n {
		return errors.New("expected i/n, with i from 1 to n")
	}
	*s = shard{i, n}
	return nil
}

func (s *shard) String() string { return fmt.Sprintf("%d/%d", s.number, s.of) }

func (s *shard) Type() string { return "i/n" }

// has reports whether the item at that index belongs to the shard.
func (s *shard) has(index int) bool { return index%s.of == s.number-1 }

// span is the shard's part of so many in a row.
func (s *shard) span(all int) (first, count int) {
	first = all * (s.number - 1) / s.of
	return first, all*s.number/s.of - first
}

const defaultBudget = 2 * time.Minute

func (a *app) gate() *cobra.Command {
	g := &gate{app: a, bound: bugRuns, shard: shard{1, 1}}
	unknown := "fail"
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Check everything that must hold, as a CI job does",
		Long: "gate judges every case of the corpus and compares with the verdict it documents, demands\n" +
			"that each rule is violated by a case, runs the schedules of cases again, hunts in the\n" +
			"reference cluster, which must keep its promises, and hunts each seeded bug, which must be\n" +
			"found. It prints a line for each part and one for the verdict. Folders given as corpus\n" +
			"stand in for the embedded one, and must be as complete. Shards share the work: each of\n" +
			"n machines does its own and writes a report, and 'check merge' puts them together.",
		Example: "  check gate --budget 5m --json gate.json\n" +
			"  check gate --seed $GITHUB_RUN_NUMBER\n" +
			"  check gate --shard 2/4 --json gate-2.json",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case unknown != "fail" && unknown != "pass":
				return fmt.Errorf("invalid argument %q for --unknown: expected fail or pass", unknown)
			case g.runs < 1 || g.bound < 1 || g.budget <= 0:
				return errors.New("expected --runs, --bound and --budget above 0")
			case g.runs < g.shard.of:
				return fmt.Errorf("expected --runs of %d or more, a schedule for each shard", g.shard.of)
			}
			g.lenient = unknown == "pass"
			ctx, stop := interruptible()
			defer stop()
			g.run(ctx)
			return nil
		},
	}
	a.limitFlag(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&g.folders, "corpus", nil, "folder of cases in place of the embedded corpus; may be repeated")
	flags.IntVar(&g.runs, "runs", 2000, "schedules to draw for the reference cluster")
	flags.IntVar(&g.bound, "bound", g.bound, "schedules to draw until a bug counts as missed")
	flags.Uint64Var(&g.seed, "seed", defaultSeed, "of the schedules")
	flags.DurationVar(&g.budget, "budget", defaultBudget, "time that drawn schedules may take; what was not reached is unknown")
	flags.StringVar(&unknown, "unknown", unknown, "whether what could not be decided is a failure: fail or pass")
	flags.Var(&g.shard, "shard", "which share of the work to do")
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
	g.add(g.judgeCorpus(ctx, cases))
	g.add(demandRules(cases))
	g.add(g.replayCorpus(ctx, cases))
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
	g.app.printPart(p)
}

func (a *app) printPart(p part) {
	fmt.Fprintf(a.out, "%-7s %s  %s\n", p.Name, a.column(p.Verdict), p.Says)
	for _, problem := range p.Problems {
		fmt.Fprintf(a.out, "          %s\n", problem)
	}
}

// column pads a verdict and gives it its colour.
func (a *app) column(verdict string) string {
	text := fmt.Sprintf("%-9s", verdict)
	switch verdict {
	case "ok":
		return a.ink.green(text)
	case "unknown":
		return a.ink.yellow(text)
	}
	return a.ink.red(text)
}

// conclude prints the verdict and writes the report.
func (g *gate) conclude(interrupted bool, took time.Duration) {
	verdict, code := verdictOfParts(g.parts)
	if verdict == "unknown" && g.lenient {
		code = exitOK
	}
	if interrupted && code != exitViolation {
		code = exitInterrupted
	}
	if code != exitOK {
		g.app.exit = code
	}
	again := fmt.Sprintf("check gate --seed %d --runs %d", g.seed, g.runs)
	if g.shard.of > 1 {
		again += " --shard " + g.shard.String()
	}
	fmt.Fprintf(g.app.out, "verdict %s  in %s (%s)\n", g.app.column(verdict), took.Round(100*time.Millisecond), again)
	g.app.writeReport(g.report, jsonGate{verdict, code, g.seed, g.runs, g.shard.String(), took.Milliseconds(), g.parts})
}

// verdictOfParts is the gravest verdict, and its exit code.
func verdictOfParts(parts []part) (verdict string, code int) {
	has := func(verdict string) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.Verdict == verdict })
	}
	switch {
	case has("violation"):
		return "violation", exitViolation
	case has("unknown"):
		return "unknown", exitUnknown
	}
	return "ok", exitOK
}

// writeReport writes the JSON to a file, if one was named.
func (a *app) writeReport(file string, r jsonGate) {
	if file == "" {
		return
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o666); err != nil {
		a.fail(exitInput, err)
	}
}

// jsonGate is the JSON of a gate. Names are part of the command line's contract.
type jsonGate struct {
	Verdict string `json:"verdict"`
	Exit    int    `json:"exit"`
	Seed    uint64 `json:"seed"`
	Runs    int    `json:"runs"`  // of all shards
	Shard   string `json:"shard"` // i/n
	Ms      int64  `json:"ms"`
	Parts   []part `json:"parts"`
}
