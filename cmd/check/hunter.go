package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A hunter is the command run: it draws schedules and judges them.
type hunter struct {
	app      *app
	opts     hunt.Options
	settings []string // as they were typed
	reads    string   // "" leaves it to the draw
	folder   string
	shrink   int // runs that making a small case may take; 0 keeps the case as it is
	noShrink bool
	json     bool
}

const (
	defaultRuns   = 1000
	bugRuns       = 100_000 // the same with a seeded bug: the rarest takes tens of thousands
	defaultShrink = 3000
	defaultSeed   = 1 // the same command does the same, unless a seed is asked for
)

func (a *app) run() *cobra.Command {
	h := &hunter{app: a}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Hunt for lost messages in the simulated cluster",
		Long: "run draws schedules of client operations and faults, runs each on the reference cluster\n" +
			"in a deterministic simulation, and judges what the clients saw and what the cluster's\n" +
			"invariants say. At the first failure it stops, makes the smallest case it can, and writes\n" +
			"it into a folder, over nothing that is there; where that cannot be, it says so and prints\n" +
			"the case, and the exit code is 1 all the same. Schedule i of a seed is always the same:\n" +
			"without --seed, two calls do the same. Without --bug, one schedule in sixteen, by its\n" +
			"number, and each that fails are run twice: the second run must be the same, event for event.",
		Example: "  check run\n" +
			"  check run --runs 100000 --seed $RANDOM\n" +
			"  check run --bug truncate-to-high-watermark --no-invariants\n" +
			"  check run --set unclean.leader.election.enable=true",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("runs") {
				h.opts.Runs = runsFor(h.opts.Bug)
			}
			if err := h.check(); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			h.run(ctx)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&h.opts.Runs, "runs", 0, fmt.Sprintf("schedules to draw (default %d, or %d with --bug)", defaultRuns, bugRuns))
	flags.Uint64Var(&h.opts.Seed, "seed", defaultSeed, "of the schedules")
	flags.IntVar(&h.opts.First, "first", 0, "number of the first schedule")
	flags.StringVar(&h.opts.Bug, "bug", "", "switch on a seeded bug (see 'check bugs')")
	flags.StringArrayVar(&h.settings, "set", nil, "fix a setting of the cluster, as key=value (see 'check help schedule')")
	flags.StringVar(&h.reads, "reads", "", "what reads promise: committed, or linearizable with the read barrier (default committed)")
	flags.BoolVar(&h.opts.NoInvariants, "no-invariants", false, "judge by what clients saw alone")
	jsonFlag(cmd, &h.json)
	flags.StringVarP(&h.folder, "output", "o", "failures", "folder for the case of a failure")
	flags.BoolVar(&h.noShrink, "no-shrink", false, "keep the case as it was found")
	flags.IntVar(&h.shrink, "shrink-budget", defaultShrink, "runs that making the case small may take")
	return cmd
}

// runsFor is how many schedules are drawn where nobody says: enough to find
// every bug there is.
func runsFor(bug string) int {
	if bug != "" {
		return bugRuns
	}
	return defaultRuns
}

// check demands flags that make sense together.
func (h *hunter) check() error {
	switch {
	case h.opts.Runs < 1 || h.opts.First < 0 || h.shrink < 1:
		return errors.New("expected --runs and --shrink-budget of 1 or more, and --first of 0 or more")
	case h.reads != "" && h.reads != "committed" && h.reads != "linearizable":
		return fmt.Errorf("invalid argument %q for --reads: expected committed or linearizable", h.reads)
	}
	if h.noShrink {
		h.shrink = 0
	}
	if h.opts.Bug != "" {
		if _, err := bugByName(h.opts.Bug); err != nil {
			return err
		}
	}
	for _, text := range h.settings {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("invalid argument %q for --set: expected key=value", text)
		}
		if h.sets(key) {
			return fmt.Errorf("invalid argument %q for --set: expected %s once", text, key)
		}
		h.opts.Settings = append(h.opts.Settings, schedule.Setting{Key: key, Value: value})
	}
	if h.reads != "" && h.sets("reads") {
		return errors.New("invalid arguments: expected reads from --reads or from --set, not from both")
	}
	if h.reads != "" {
		h.opts.Settings = append(h.opts.Settings, schedule.Setting{Key: "reads", Value: h.reads})
	}
	if err := impl.Check(schedule.Schedule{Settings: h.opts.Settings}); err != nil {
		return fmt.Errorf("invalid argument for --set: %w", err)
	}
	return nil
}

// sets reports whether a flag has set a key already.
func (h *hunter) sets(key string) bool {
	return slices.ContainsFunc(h.opts.Settings, func(s schedule.Setting) bool { return s.Key == key })
}

func (h *hunter) run(ctx context.Context) {
	progress := newProgress(h.app.err)
	h.opts.Progress = func(r *hunt.Report) {
		progress.say(r.Runs, h.opts.Runs, "%s of %s, %s unknown", number(r.Runs), count(h.opts.Runs, "schedule"), number(r.Undecided))
	}
	report, err := hunt.Run(ctx, h.opts)
	progress.done()
	if err != nil {
		h.app.fail(exitInput, err)
		return
	}
	if report.Failed == nil && report.Other != nil { // nothing that the bug is known for, but its doing all the same
		report.Failed, report.FailedAt = report.Other, report.OtherAt
	}
	h.app.worsen(exitOf(report))
	if report.Failed == nil && ctx.Err() != nil {
		h.app.exit = exitInterrupted
	}
	var c *catch
	if report.Failed != nil {
		if c, err = h.catch(ctx, report); err != nil {
			h.app.fail(exitInput, err)
		}
	}
	if h.json {
		h.app.encode(h.asJSON(report, c))
	} else {
		h.print(report, c, ctx.Err() != nil)
	}
	if c != nil && c.trial.Result.Verdict == checker.Contradictory {
		h.app.reportBug(c.trial.Result.Reason, c.path)
	}
}

// exitOf is the exit code of a hunt.
func exitOf(r *hunt.Report) int {
	switch {
	case r.Failed != nil:
		return r.Failed.Result.Verdict.ExitCode()
	case r.OK > 0:
		return exitOK
	}
	return exitUnknown
}

// repeat is the command that draws one schedule again.
func (h *hunter) repeat(number int) string {
	words := []string{"check", "run", "--seed", strconv.FormatUint(h.opts.Seed, 10), "--first", strconv.Itoa(number), "--runs", "1"}
	if h.opts.Bug != "" {
		words = append(words, "--bug", h.opts.Bug)
	}
	for _, s := range h.settings {
		words = append(words, "--set", shellWord(s))
	}
	if h.reads != "" {
		words = append(words, "--reads", h.reads)
	}
	if h.opts.NoInvariants {
		words = append(words, "--no-invariants")
	}
	return strings.Join(words, " ")
}

func (h *hunter) print(r *hunt.Report, c *catch, interrupted bool) {
	out := h.app.out
	fmt.Fprintln(out, h.headline(r, interrupted))
	fmt.Fprintln(out, coverage(r))
	if c == nil {
		if h.opts.Bug != "" && !interrupted {
			fmt.Fprintf(out, "  not found   %s\n", h.unfound())
		}
		return
	}
	if h.opts.Bug != "" && len(c.trial.Schedule.Bugs) == 0 {
		fmt.Fprintf(out, "  no bug      the case fails without %s as well\n", h.opts.Bug)
	}
	if c.runs > 0 {
		fmt.Fprintf(out, "  made small  from %s to %d in %s\n", count(c.steps, "step"), len(c.trial.Schedule.Steps), count(c.runs, "run"))
	}
	fmt.Fprintf(out, "  again       %s\n\n", h.repeat(c.number))
	h.app.printText(c.judgement, true)
	if c.path == "-" {
		fmt.Fprintf(out, "\n%s", c.text)
	}
}

// unfound says why a bug that is switched on may have gone unnoticed.
func (h *hunter) unfound() string {
	switch {
	case h.opts.NoInvariants:
		return "what clients saw shows nothing of the bug; drop --no-invariants"
	case h.opts.Runs < bugRuns:
		return fmt.Sprintf("the bug is there, and no schedule showed it; --runs %d draws enough for every bug", bugRuns)
	}
	return "the bug is there, and no schedule showed it; another --seed draws others"
}

func (h *hunter) headline(r *hunt.Report, interrupted bool) string {
	ink := h.app.ink
	seed := fmt.Sprintf("seed %d", h.opts.Seed)
	if h.opts.First > 0 {
		seed += fmt.Sprintf(" from schedule %d", h.opts.First)
	}
	if h.opts.Bug != "" {
		seed += ", bug " + h.opts.Bug
	}
	text := fmt.Sprintf("%s: none of %s failed", ink.green("ok"), count(r.Runs, "schedule"))
	switch {
	case r.Failed != nil:
		text = fmt.Sprintf("%s: schedule %d, the %s run", ink.red(hunt.Outcome(r.Failed.Result)), r.FailedAt, ordinal(r.FailedAt-h.opts.First+1))
		if r.Failed == r.Other {
			text += fmt.Sprintf(" of %s, and none by what the bug is known for", number(r.Runs))
		}
	case r.OK == 0:
		text = fmt.Sprintf("%s: none of %s could be decided", ink.yellow("unknown"), count(r.Runs, "schedule"))
	}
	if interrupted && r.Failed == nil {
		text = fmt.Sprintf("%s after %s of %s, none failed", ink.yellow("interrupted"), number(r.Runs), count(h.opts.Runs, "schedule"))
	}
	return text + " (" + seed + ")"
}

// The JSON of a hunt. Names are part of the command line's contract.
type (
	jsonHunt struct {
		Seed    uint64       `json:"seed"`              // of the schedules
		First   int          `json:"first"`             // number of the first schedule
		Runs    int          `json:"runs"`              // asked for
		Bug     string       `json:"bug,omitempty"`     // that is switched on
		Verdict string       `json:"verdict"`           // ok, violation, unknown or error
		Exit    int          `json:"exit"`              // code
		Covered jsonCoverage `json:"covered"`           // by all runs
		Failure *jsonCatch   `json:"failure,omitempty"` // at which the hunt stopped
	}
	jsonCatch struct {
		Schedule int           `json:"schedule"`       // its number
		Rule     string        `json:"rule"`           // that fails
		Steps    int           `json:"steps"`          // as it was drawn
		Minimal  int           `json:"minimized"`      // steps that are left
		Runs     int           `json:"minimized_in"`   // runs
		Again    string        `json:"again"`          // the command that draws the schedule again
		Replay   string        `json:"replay"`         // the command that runs the case
		Text     string        `json:"text,omitempty"` // of the case, if it could not be saved
		Case     jsonJudgement `json:"case"`           // as verify prints it
	}
)

func (h *hunter) asJSON(r *hunt.Report, c *catch) jsonHunt {
	words := map[int]string{exitOK: "ok", exitViolation: "violation", exitUnknown: "unknown", exitInternal: "error"}
	out := jsonHunt{Seed: h.opts.Seed, First: h.opts.First, Runs: h.opts.Runs, Bug: h.opts.Bug,
		Verdict: words[exitOf(r)], Exit: h.app.exit, Covered: coverageJSON(r)}
	if c != nil {
		out.Failure = &jsonCatch{Schedule: c.number, Rule: c.trial.Rule(), Steps: c.steps, Minimal: len(c.trial.Schedule.Steps),
			Runs: c.runs, Again: h.repeat(c.number), Replay: "check replay " + shellWord(c.path), Case: asJSON(c.judgement)}
		if c.path == "-" {
			out.Failure.Text = string(c.text)
		}
	}
	return out
}
