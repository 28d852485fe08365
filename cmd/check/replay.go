package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A replayer is the command replay.
type replayer struct {
	app   *app
	trace bool
	save  bool // what the schedule makes now, in place of what it made
	json  bool
}

func (a *app) replay() *cobra.Command {
	r := &replayer{app: a}
	cmd := &cobra.Command{
		Use:   "replay CASE|SCHEDULE|SCENARIO",
		Short: "Run a schedule again, or a scenario",
		Long: "replay runs the schedule of a case again, on the reference cluster, and succeeds if the\n" +
			"history, the verdict and the fingerprint of the run are the ones that were saved. A case\n" +
			"whose run has become another one is stale: what it documents is no longer shown by it.\n" +
			"--save renews one that has the verdict it documents: the run of now takes the place of the\n" +
			"saved one in its file.\n" +
			"Of a schedule without a history it prints the case, and the exit code is the verdict's.\n" +
			"- is stdin.\n\n" +
			"A scenario, by its name (see 'check help scenarios') or in a file, is printed with what\n" +
			"happened in each of its parts and the replicas at the end of it, with a * at those that\n" +
			"changed. --trace adds nothing to that.\n" +
			"replay succeeds if all that the scenario expects holds. The name of a seeded bug (see\n" +
			"'check bugs') stands for the scenario that shows it, which expects what the bug breaks\n" +
			"and what clients see of it. Last comes what becomes of the same schedule when the bug is\n" +
			"off.",
		Example: "  check replay failures/lost-write-9c1f02ab55d01e77.hist\n" +
			"  check replay --trace schedule.txt > case.hist\n" +
			"  check replay rolling-restart\n" +
			"  check replay truncate-to-high-watermark",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r.run(context.Background(), args[0])
			return nil
		},
	}
	a.limitFlag(cmd)
	cmd.Flags().BoolVar(&r.trace, "trace", false, "say every change of the cluster's state, on stderr")
	cmd.Flags().BoolVar(&r.save, "save", false, "renew a stale case: write the run of now into its file")
	jsonFlag(cmd, &r.json)
	return cmd
}

func (r *replayer) run(ctx context.Context, name string) {
	text, err := r.app.bytesOf(name)
	if err != nil {
		text, err = scenarioNamed(name, err)
	}
	switch {
	case err != nil:
	case r.save && (name == "-" || isSchedule(name, text)):
		err = fmt.Errorf("%s: expected the file of a case with --save", label(name))
	case !isSchedule(name, text):
		err = r.saved(ctx, name, text)
	case isScenario(text):
		err = r.scenario(ctx, name, text)
	default:
		err = r.schedule(ctx, name, text)
	}
	if err != nil {
		r.app.fail(exitInput, err)
	}
}

// bytesOf returns what is in a file, or on stdin for "-".
func (a *app) bytesOf(name string) ([]byte, error) {
	a.file = name
	if name == "-" {
		return io.ReadAll(a.in)
	}
	return os.ReadFile(name)
}

// isSchedule tells a schedule, with or without the lines of a scenario, from a
// history: by the name if it says so and otherwise by the first line that counts.
func isSchedule(name string, text []byte) bool {
	if isHistory(name) {
		return false
	}
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		word, _, _ := bytes.Cut(line, []byte(" "))
		switch string(word) {
		case "set", "bug", "fingerprint", "run", "check":
			return true
		}
		return len(bytes.Trim(word, "0123456789")) == 0
	}
	return false
}

// saved runs the schedule of a case and compares.
func (r *replayer) saved(ctx context.Context, name string, text []byte) error {
	h, err := r.app.limit.Read(name, bytes.NewReader(text))
	if err != nil {
		return tooLong(err)
	}
	if h.Header().Schedule == "" {
		return fmt.Errorf("%s: expected a case with a schedule, which is the cause of its history; this has none: check verify %s judges it as it is", label(name), shellWord(name))
	}
	if checker.OfLogtest(h.Header()) {
		return fmt.Errorf("%s: expected a case of the reference cluster; the schedule of this one is for a log that package logtest tested: the Go test that saved it runs it again", label(name))
	}
	replay, err := hunt.Setup{}.Replay(ctx, h)
	if err != nil {
		return err
	}
	if err := r.traceOf(replay.Trial.Schedule); err != nil {
		return err
	}
	renewed := false
	if r.save {
		if renewed, err = renew(name, h, replay); err != nil {
			return err
		}
	}
	if !renewed && (replay.Stale != "" || replay.Wrong != "") {
		r.app.worsen(exitViolation)
	}
	if renewed && !r.json {
		fmt.Fprintf(r.app.out, "%s: renewed: %s (%s, %s)\n", label(name), replay.Stale, hunt.Outcome(replay.Trial.Result), replay.Trial.Run.Fingerprint)
		return nil
	}
	if r.json {
		out := r.asJSON(name, replay)
		out.Renewed = renewed
		r.app.encode(out)
		return nil
	}
	r.print(name, replay)
	return nil
}

func (r *replayer) print(name string, replay *hunt.Replay) {
	ink, t := r.app.ink, replay.Trial
	if replay.Stale == "" && replay.Wrong == "" {
		fmt.Fprintf(r.app.out, "%s: %s: history, verdict and fingerprint are as saved (%s, %s)\n",
			label(name), ink.green("same"), hunt.Outcome(t.Result), t.Run.Fingerprint)
		return
	}
	if replay.Stale != "" {
		fmt.Fprintf(r.app.out, "%s: %s: %s\n", label(name), ink.red("stale-fingerprint"), replay.Stale)
		fmt.Fprintf(r.app.out, "  The schedule makes another run than the one that was saved (%s, now %s).\n", hunt.Outcome(t.Result), t.Run.Fingerprint)
		if replay.Wrong == "" && name != "-" {
			fmt.Fprintf(r.app.out, "  Where that is meant: %s\n", renewal(name))
		}
	}
	if replay.Wrong != "" {
		fmt.Fprintf(r.app.out, "%s: %s: %s\n", label(name), ink.red("verdict differs"), replay.Wrong)
	}
}

// traceOf writes what changed in the cluster during a run, if that is wanted.
func (r *replayer) traceOf(s schedule.Schedule) error {
	if !r.trace {
		return nil
	}
	run, err := impl.Run(s, impl.Options{Trace: true, NoInvariants: true})
	if err != nil {
		return err
	}
	for _, line := range run.Trace {
		fmt.Fprintln(r.app.err, line)
	}
	return nil
}

// schedule runs a schedule that no history was saved with, and prints the case.
func (r *replayer) schedule(ctx context.Context, name string, text []byte) error {
	s, err := hunt.ReadSchedule(label(name), text)
	if err != nil {
		return err
	}
	want := s.Fingerprint
	s.Fingerprint = ""
	t, err := hunt.Setup{}.TryTwice(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", label(name), err)
	}
	if err := r.traceOf(s); err != nil {
		return err
	}
	r.app.worsen(t.Result.Verdict.ExitCode())
	replay := &hunt.Replay{Trial: t}
	if want != "" && want != t.Run.Fingerprint {
		replay.Stale = fmt.Sprintf("the run's fingerprint is %s, the saved one is %s", t.Run.Fingerprint, want)
		r.app.worsen(exitViolation)
	}
	if r.json {
		r.app.encode(r.asJSON(name, replay))
		return nil
	}
	j, text := judged(t, name)
	r.app.out.Write(text)
	fmt.Fprintf(r.app.err, "%s: %s\n", label(name), inkFor(r.app.err).verdict(j.result))
	if replay.Stale != "" {
		r.app.fail(exitViolation, errors.New("stale-fingerprint: "+replay.Stale))
	}
	return nil
}

// jsonReplay is the JSON of a replay. Names are part of the command line's
// contract.
type jsonReplay struct {
	File        string        `json:"file"`                        // path, or - for stdin
	Same        bool          `json:"same"`                        // history, verdict and fingerprint are as saved
	Renewed     bool          `json:"renewed,omitempty"`           // the run of now was written into the file
	Stale       string        `json:"stale_fingerprint,omitempty"` // how the run differs
	Wrong       string        `json:"verdict_differs,omitempty"`   // how the verdict differs
	Fingerprint string        `json:"fingerprint"`                 // of the run
	Case        jsonJudgement `json:"case"`                        // of the run
}

func (r *replayer) asJSON(name string, replay *hunt.Replay) jsonReplay {
	j, _ := judged(replay.Trial, name)
	return jsonReplay{File: name, Same: replay.Stale == "" && replay.Wrong == "", Stale: replay.Stale, Wrong: replay.Wrong,
		Fingerprint: replay.Trial.Run.Fingerprint, Case: asJSON(j)}
}
