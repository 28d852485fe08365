package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
)

// A shortener is the command minimize.
type shortener struct {
	judging
	app    *app
	cmd    *cobra.Command
	to     string
	budget int
	force  bool
	json   bool
}

func (a *app) minimize() *cobra.Command {
	s := &shortener{app: a}
	cmd := &cobra.Command{
		Use:   "minimize FILE -o OUT",
		Short: "Make a failing case as small as it can be",
		Long: "minimize shortens the schedule of a case, running it again and again, while the same rule\n" +
			"fails. A recording has no schedule, and that of a case which package logtest saved is for\n" +
			"another log: of these it deletes operations, faults and values while the same finding\n" +
			"remains, and notes in the header how many are left, and if it was stopped before it was done.\n" +
			"What is found beside it was found before under that name. Offsets keep their numbers. The header\n" +
			"calls a log sparse in which those of deleted records hold nothing, unless the finding needs\n" +
			"every offset to hold a record. Then the log stays dense and loses what is below an offset,\n" +
			"which the process \"minimized\" is told as the log start at the end (list earliest), and what\n" +
			"is at or behind one, which no answer has or tells a higher end than: the header says so. What\n" +
			"would be missed is not deleted, so what is wrong was wrong before. A history that is no violation is refused; of a schedule\n" +
			"that has no history yet 'check replay FILE > case.hist' makes a case. OUT is written as\n" +
			"a whole, in the encoding its name asks for, and never over a file that is there unless\n" +
			"--force says so. An interrupt, SIGTERM, --timeout or --budget ends with the best so far. - is stdin.",
		Example: "  check minimize run.jsonl.zst -o minimal.hist\n" +
			"  check minimize failures/lost-write-9c1f02ab55d01e77.hist -o smaller.hist --budget 100000",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(s.valid(), s.check()); err != nil {
				return err
			}
			if err := apart([]output{{"--output", s.to}}, args[0]); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			if err := s.run(ctx, args[0]); err != nil {
				a.failOrStop(ctx, err)
			}
			return nil
		},
	}
	s.cmd = cmd
	a.limitFlag(cmd)
	s.flags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&s.to, "output", "o", "", "the file to write (.hist, .jsonl, .jsonl.gz or .jsonl.zst)")
	flags.IntVar(&s.budget, "budget", defaultShrink, "runs of the schedule, or checks of the recording, that it may take")
	flags.BoolVar(&s.force, "force", false, "replace OUT if it is there")
	jsonFlag(cmd, &s.json)
	cmd.MarkFlagRequired("output")
	return cmd
}

func (s *shortener) check() error {
	if s.budget < 1 {
		return errors.New("expected a --budget of 1 or more")
	}
	if !slices.ContainsFunc(histories.Encodings, func(e string) bool { return strings.HasSuffix(s.to, e) }) {
		return fmt.Errorf("%s: expected a name that ends in one of %s", label(s.to), strings.Join(histories.Encodings, ", "))
	}
	return fileIsNew(s.to, s.force)
}

func (s *shortener) run(ctx context.Context, name string) error {
	h, err := s.app.read(ctx, name)
	if err != nil {
		return notCase(name, err)
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	if hd := h.Header(); hd.Schedule != "" && !checker.OfLogtest(hd) {
		return s.schedule(ctx, name, h)
	}
	return s.recording(ctx, name, h)
}

// recording shortens what was observed.
func (s *shortener) recording(ctx context.Context, name string, h *histories.History) (err error) {
	progress := newProgress(s.app.err)
	end := progress.during("judging " + label(name))
	r := checker.Check(ctx, h, s.opts)
	end()
	switch {
	case r.Verdict == checker.Undecided:
		return fmt.Errorf("%s: expected a history that fails; the verdict of this one is unknown: %s", label(name), r.Reason)
	case r.Verdict != checker.Violates:
		return fmt.Errorf("%s: expected a history that fails; the verdict of this one is %s, so there is nothing to make smaller", label(name), r.Verdict)
	}
	small, checks := checker.Minimize(ctx, h, checker.MinimizeOptions{Options: s.opts, Budget: s.budget, Known: r, Progress: func(checks, left int) {
		progress.say(checks, s.budget, "%s left after %s", count(left, "operation"), count(checks, "check"))
	}})
	progress.done()
	finished := ctx.Err() == nil && checks < s.budget
	if small, err = noteLeft(small, len(h.Ops()), finished); err != nil {
		return err
	}
	return s.save(small, shortening{"operation", len(h.Ops()), len(small.Ops()), "check", checks, finished}, "explain")
}

// schedule shortens the cause of a case.
func (s *shortener) schedule(ctx context.Context, name string, h *histories.History) error {
	for _, flag := range []string{"engine", "steps", "max-memory"} {
		if s.cmd.Flags().Changed(flag) {
			return fmt.Errorf("%s: expected a recording for --%s; the runs of a schedule are judged as 'check run' judges them", label(name), flag)
		}
	}
	steps, err := hunt.ReadCause(h)
	if err != nil {
		return err
	}
	steps.Fingerprint = ""
	setup := hunt.Setup{}.As(h)
	t, err := setup.Try(ctx, steps)
	if err != nil {
		return fmt.Errorf("%s: %w", label(name), err)
	}
	expected := h.Header().Expect.Names
	stale := slices.ContainsFunc(expected, func(name string) bool { return !t.Has(name) })
	switch {
	case t.Rule() == "":
		return fmt.Errorf("%s: expected a schedule whose run fails; the verdict of this one is %s, so there is nothing to make smaller", label(name), t.Result.Verdict)
	case stale:
		return fmt.Errorf("%s: the run fails by %s, and the case documents %s; check replay %s says how they differ",
			label(name), strings.Join(t.Result.Names(), ","), strings.Join(expected, ","), shellWord(name))
	}
	least, runs, err := setup.Minimize(ctx, t, s.budget)
	if err != nil {
		return err
	}
	small, err := least.Case()
	if err != nil {
		return err
	}
	return s.save(small, shortening{"step", len(steps.Steps), len(least.Schedule.Steps), "run", runs, ctx.Err() == nil && runs < s.budget}, "replay")
}

// A shortening is how much was left out, how many tries that took, and whether
// there was nothing left to try.
type shortening struct {
	unit     string
	from, to int
	try      string
	tries    int
	finished bool
}

func (s *shortener) save(h *histories.History, how shortening, next string) error {
	if err := h.WriteFile(s.to); err != nil {
		return err
	}
	command, stopped := "check "+next+" "+shellWord(s.to), ""
	if !how.finished {
		command, stopped = "check minimize "+shellWord(s.to)+" -o "+newName("minimal", ".hist"), "; stopped before it was done"
	}
	if s.json {
		s.app.encode(jsonMinimized{s.to, h.Header().Expect.String(), how.unit + "s", how.from, how.to, how.tries, how.finished, command})
		return nil
	}
	fmt.Fprintf(s.app.out, "%s: %s, from %s to %d in %s%s\n  next: %s\n", label(s.to), h.Header().Expect,
		count(how.from, how.unit), how.to, count(how.tries, how.try), stopped, command)
	return nil
}

// jsonMinimized is the JSON of minimize. Names are part of the command line's
// contract.
type jsonMinimized struct {
	File     string `json:"file"`     // that was written
	Expected string `json:"expected"` // its verdict, as "violation lost-write"
	Unit     string `json:"unit"`     // of from and to: operations of a recording, or steps of a schedule
	From     int    `json:"from"`     // so many
	To       int    `json:"to"`       // so many
	Tries    int    `json:"tries"`    // runs of the schedule, or checks of the recording, that it took
	Finished bool   `json:"finished"` // nothing was left to try: neither the budget nor the time ended it
	Next     string `json:"next"`     // what to type next
}
