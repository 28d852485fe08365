package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A replayer is the command replay.
type replayer struct {
	app   *app
	trace bool
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
			"Of a schedule without a history it prints the case, and the exit code is the verdict's.\n" +
			"- is stdin.\n\n" +
			"A scenario, by its name (see 'check help scenarios') or in a file, is printed with what\n" +
			"happened in each of its parts and the replicas at the end of it, with or without --trace.\n" +
			"replay succeeds if all that the scenario expects holds.",
		Example: "  check replay failures/lost-write-9c1f02ab55d01e77.hist\n" +
			"  check replay --trace schedule.txt > case.hist\n" +
			"  check replay rolling-restart",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r.run(context.Background(), args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&r.trace, "trace", false, "say every change of the cluster's state, on stderr")
	cmd.Flags().BoolVar(&r.json, "json", false, "one JSON object")
	return cmd
}

func (r *replayer) run(ctx context.Context, name string) {
	text, err := r.app.bytesOf(name)
	if err != nil {
		text, err = scenarioNamed(name, err)
	}
	switch {
	case err != nil:
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

// scenarioNamed returns the text of the scenario with a name that no file could
// be read by, for the reason given.
func scenarioNamed(name string, unread error) ([]byte, error) {
	names := impl.Scenarios()
	switch {
	case slices.Contains(names, name):
		return impl.ScenarioText(name)
	case !errors.Is(unread, fs.ErrNotExist) || filepath.Base(name) != name || filepath.Ext(name) != "":
		return nil, unread // a file was meant
	}
	return nil, fmt.Errorf("no file and no scenario %q%s ('check help scenarios' lists them all)", name, didYouMean(name, names))
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

// isScenario tells a scenario from a plain schedule, by the first line that only
// a scenario has.
func isScenario(text []byte) bool {
	for line := range bytes.Lines(text) {
		word, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		switch string(word) {
		case "run", "expect", "check", "----":
			return true
		}
	}
	return false
}

// saved runs the schedule of a case and compares.
func (r *replayer) saved(ctx context.Context, name string, text []byte) error {
	h, err := histories.Read(name, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if h.Header().Schedule == "" {
		return fmt.Errorf("%s: expected a case with a schedule, which is the cause of its history; this has none: check verify %s judges it as it is", label(name), shellWord(name))
	}
	replay, err := hunt.Setup{}.Replay(ctx, h)
	if err != nil {
		return err
	}
	if err := r.traceOf(replay.Trial.Schedule); err != nil {
		return err
	}
	if replay.Stale != "" || replay.Wrong != "" {
		r.app.worsen(exitViolation)
	}
	if r.json {
		r.app.encode(r.asJSON(name, replay))
		return nil
	}
	r.print(name, replay)
	return nil
}

func (r *replayer) print(name string, replay *hunt.Replay) {
	ink, t := r.app.ink, replay.Trial
	if replay.Stale == "" && replay.Wrong == "" {
		fmt.Fprintf(r.app.out, "%s: %s: history, verdict and fingerprint are as saved (%s, %s)\n",
			label(name), ink.green("same"), verdictOf(t), t.Run.Fingerprint)
		return
	}
	if replay.Stale != "" {
		fmt.Fprintf(r.app.out, "%s: %s: %s\n", label(name), ink.red("stale-fingerprint"), replay.Stale)
		fmt.Fprintf(r.app.out, "  The schedule makes another run than the one that was saved (%s, now %s).\n", verdictOf(t), t.Run.Fingerprint)
	}
	if replay.Wrong != "" {
		fmt.Fprintf(r.app.out, "%s: %s: %s\n", label(name), ink.red("verdict differs"), replay.Wrong)
	}
}

// verdictOf is a trial's verdict with its names.
func verdictOf(t *hunt.Trial) string {
	return strings.TrimSpace(t.Result.Verdict.String() + " " + strings.Join(t.Result.Names(), ","))
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
	fmt.Fprintf(r.app.err, "%s: %s\n", label(name), r.app.verdict(j.result))
	if replay.Stale != "" {
		r.app.fail(exitViolation, errors.New("stale-fingerprint: "+replay.Stale))
	}
	return nil
}

// scenario runs a scenario and prints it with what happened.
func (r *replayer) scenario(ctx context.Context, name string, text []byte) error {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	var result *checker.Result
	run, err := impl.RunScenario(label(name), text, func(h *histories.History) (impl.Verdict, error) {
		result = checker.Check(ctx, h, checker.Options{Engine: checker.Both})
		return verdictFor(result), nil
	})
	if err != nil {
		return err
	}
	if len(run.Wrong) > 0 {
		r.app.worsen(exitViolation)
	}
	j := judgement{file: name, header: run.History.Header(), result: result}
	if r.json {
		r.app.encode(scenarioJSON(j, run))
	} else {
		r.app.out.Write(run.Text)
		r.conclude(j, run, bytes.Contains(text, []byte("\n----")))
	}
	if result.Verdict == checker.Contradictory {
		r.app.reportBug(result.Reason, name)
	}
	return nil
}

// verdictFor is a result in the words of the scenarios.
func verdictFor(r *checker.Result) impl.Verdict {
	v := impl.Verdict{Name: r.Verdict.String(), Findings: r.Names()}
	for _, f := range allowed(r) {
		v.Allowed = append(v.Allowed, f.Name)
	}
	return v
}

// conclude says which expectations of a scenario are not met, and the verdict.
// An account that was saved with it and is another one is worth a word, and no
// more: what people rely on stands in the expectations.
func (r *replayer) conclude(j judgement, run *impl.ScenarioRun, saved bool) {
	for _, wrong := range run.Wrong {
		r.app.fail(exitViolation, wrong)
	}
	if saved && len(run.Stale) > 0 {
		fmt.Fprintf(r.app.err, "%s: note: the saved account of %s is not that of this run\n", label(j.file), count(len(run.Stale), "part"))
	}
	outcome := r.app.ink.green(count(expectations(run), "expectation") + " met")
	if n := len(run.Wrong); n > 0 {
		outcome = r.app.ink.red(count(n, "expectation") + " not met")
	}
	fmt.Fprintf(r.app.err, "%s: %s; %s\n", label(j.file), outcome, r.app.verdict(j.result))
}

// expectations counts the lines of a scenario that can go wrong.
func expectations(run *impl.ScenarioRun) int {
	n := 0
	for _, b := range run.Blocks {
		for _, line := range b.Lines {
			if words := strings.Fields(line); len(words) > 1 && (words[0] == "expect" || words[0] == "run" && words[1] == "until") {
				n++
			}
		}
	}
	return n
}

// jsonScenario is the JSON of a scenario's run. Names are part of the command
// line's contract.
type (
	jsonScenario struct {
		File        string        `json:"file"`
		Met         bool          `json:"met"`               // all that is expected
		NotMet      []string      `json:"not_met,omitempty"` // what is not, and where it is expected
		Fingerprint string        `json:"fingerprint"`       // of the run
		Parts       []jsonPart    `json:"parts"`
		Case        jsonJudgement `json:"case"` // of the run
	}
	jsonPart struct {
		Lines []string `json:"lines"` // of the scenario
		Trace []string `json:"trace"` // what happened, and the replicas after it
	}
)

func scenarioJSON(j judgement, run *impl.ScenarioRun) jsonScenario {
	out := jsonScenario{File: j.file, Met: len(run.Wrong) == 0, Fingerprint: run.Schedule.Fingerprint, Case: asJSON(j)}
	for _, wrong := range run.Wrong {
		out.NotMet = append(out.NotMet, wrong.Error())
	}
	for _, b := range run.Blocks {
		out.Parts = append(out.Parts, jsonPart(b))
	}
	return out
}

// jsonReplay is the JSON of a replay. Names are part of the command line's
// contract.
type jsonReplay struct {
	File        string        `json:"file"`
	Same        bool          `json:"same"`
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
