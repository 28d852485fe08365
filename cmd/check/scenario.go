package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// scenarioNamed returns the text of the scenario with a name that no file could
// be read by, for the reason given.
func scenarioNamed(name string, unread error) ([]byte, error) {
	names := impl.Scenarios()
	switch {
	case slices.Contains(names, name):
		return impl.ScenarioText(name)
	case errors.Is(unread, fs.ErrNotExist) && slices.ContainsFunc(impl.Bugs, func(b impl.Bug) bool { return b.Name == name }):
		return impl.BugText(name)
	case !errors.Is(unread, fs.ErrNotExist) || filepath.Base(name) != name || filepath.Ext(name) != "":
		return nil, unread // a file was meant
	}
	for i := range impl.Bugs {
		names = append(names, impl.Bugs[i].Name)
	}
	return nil, fmt.Errorf("no file, scenario or bug %q%s ('check help scenarios' and 'check bugs' list them all)", name, didYouMean(name, names))
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
	without, err := withoutBugs(ctx, run.Schedule)
	if err != nil {
		return err
	}
	j := judgement{file: name, header: run.History.Header(), result: result}
	if r.json {
		r.app.encode(scenarioJSON(j, run, without))
	} else {
		r.app.out.Write(run.Text)
		r.conclude(j, run, bytes.Contains(text, []byte("\n----")))
		if without != nil {
			fmt.Fprintf(r.app.err, "%s: without %s: %s\n", label(name), strings.Join(run.Schedule.Bugs, ", "), hunt.Outcome(without.Result))
		}
	}
	if result.Verdict == checker.Contradictory {
		r.app.reportBug(result.Reason, name)
	}
	return nil
}

// withoutBugs runs a schedule as it goes when its bugs are off: what differs is
// their doing. It returns nil if there are none.
func withoutBugs(ctx context.Context, s schedule.Schedule) (*hunt.Trial, error) {
	if len(s.Bugs) == 0 {
		return nil, nil
	}
	s.Bugs, s.Fingerprint = nil, ""
	return hunt.Setup{}.TryTwice(ctx, s)
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
	ink := inkFor(r.app.err)
	outcome := ink.green(count(expectations(run), "expectation") + " met")
	if n := len(run.Wrong); n > 0 {
		outcome = ink.red(count(n, "expectation") + " not met")
	}
	fmt.Fprintf(r.app.err, "%s: %s; %s\n", label(j.file), outcome, ink.verdict(j.result))
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
		File        string             `json:"file"`                   // path, name, or - for stdin
		Met         bool               `json:"met"`                    // all that is expected
		NotMet      []string           `json:"not_met,omitempty"`      // what is not, and where it is expected
		Fingerprint string             `json:"fingerprint"`            // of the run
		Parts       []jsonScenarioPart `json:"parts"`                  // of the scenario, in order
		Case        jsonJudgement      `json:"case"`                   // of the run
		Without     string             `json:"without_bugs,omitempty"` // verdict and findings of the same schedule when its bugs are off
	}
	jsonScenarioPart struct {
		Lines []string `json:"lines"` // of the scenario
		Trace []string `json:"trace"` // what happened, and the replicas after it
	}
)

func scenarioJSON(j judgement, run *impl.ScenarioRun, without *hunt.Trial) jsonScenario {
	out := jsonScenario{File: j.file, Met: len(run.Wrong) == 0, Fingerprint: run.Schedule.Fingerprint, Case: asJSON(j)}
	if without != nil {
		out.Without = hunt.Outcome(without.Result)
	}
	for _, wrong := range run.Wrong {
		out.NotMet = append(out.NotMet, wrong.Error())
	}
	for _, b := range run.Blocks {
		out.Parts = append(out.Parts, jsonScenarioPart(b))
	}
	return out
}
