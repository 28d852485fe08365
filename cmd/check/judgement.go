package main

import (
	"fmt"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// A judgement is what became of one file: an error, or the result of its check.
type judgement struct {
	file      string
	err       error
	header    histories.Header
	result    *checker.Result
	expecting bool // the exit code says whether the file's expectation is met
}

func (j judgement) exit() int {
	switch {
	case j.err != nil:
		return exitInput
	case !j.expecting || j.result.Verdict.ExitCode() == exitInternal:
		return j.result.Verdict.ExitCode()
	case j.met():
		return exitOK
	}
	return exitViolation
}

func (j judgement) met() bool { return j.result.Meets(j.header.Expect) }

// printText writes the file's line and, if everything is asked for or the file
// is why the exit code is not 0, what a person needs to act on it.
func (a *app) printText(j judgement, everything bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", label(j.file), a.headline(j))
	if j.err == nil && (everything || j.exit() != exitOK) {
		a.details(&b, j)
	}
	fmt.Fprint(a.out, b.String())
}

// How much is shown of what a history may have at any length.
const (
	saysWidth     = 600
	evidenceWidth = 240
	nameWidth     = 80
)

func (a *app) headline(j judgement) string {
	if j.err != nil {
		return a.ink.red("input error")
	}
	text := a.ink.verdict(j.result)
	if !j.expecting {
		return text
	}
	if j.met() {
		return text + "; as expected"
	}
	return text + "; " + a.ink.red("expected "+j.header.Expect.String())
}

func (i ink) verdict(r *checker.Result) string {
	if r.Verdict == checker.Conforms {
		return fmt.Sprintf("%s (%s)", i.green("ok"), extent(r))
	}
	colour := i.red
	if r.Verdict == checker.Undecided {
		colour = i.yellow
	}
	verdict, why, _ := strings.Cut(r.Err().Error(), ": ")
	return colour(verdict) + ": " + clip(why, saysWidth)
}

// extent says what was at stake, so that a pass over next to nothing is seen
// to be one.
func extent(r *checker.Result) string {
	e := r.Exercised
	parts := []string{count(e.Operations, "operation"), count(e.Sends, "send"), count(e.Reads, "read"), count(e.Faults, "fault")}
	if n := len(allowed(r)); n > 0 {
		parts = append(parts, count(n, "allowed finding"))
	}
	return strings.Join(parts, ", ")
}

func allowed(r *checker.Result) []checker.Finding {
	var out []checker.Finding
	for _, f := range r.Findings {
		if f.Allowed != "" {
			out = append(out, f)
		}
	}
	return out
}

func (a *app) details(b *strings.Builder, j judgement) {
	r := j.result
	told := map[string]bool{}
	for _, f := range r.Findings {
		if f.Allowed != "" {
			continue
		}
		if told[f.Name] {
			a.another(b, f)
		} else {
			a.finding(b, f)
		}
		told[f.Name] = true
		if f.More > 0 {
			fmt.Fprintf(b, "    and %s of this kind\n", count(f.More, "more finding"))
		}
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(b, "\n  Lost: %s.\n", clip(losses(r), saysWidth))
	}
	if r.Legal != nil {
		fmt.Fprintf(b, "\n  %s.\n", legalUpTo(r))
	}
	for _, f := range allowed(r) {
		fmt.Fprintf(b, "\n  %s is allowed by %s: %s\n", a.title(f), f.Allowed, clip(f.Says, saysWidth))
	}
	if len(r.Notes)+len(r.Assumptions) > 0 {
		b.WriteByte('\n')
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "  note: %s\n", clip(note, saysWidth))
	}
	if len(r.Assumptions) > 0 {
		fmt.Fprintf(b, "  assumed, for the header does not say: %s\n", strings.Join(r.Assumptions, " "))
	}
	fmt.Fprintf(b, "  judged: %s; decided by %s\n", r.Exercised, r.Engine)
	if r.Verdict == checker.Violates {
		fmt.Fprintf(b, "  next: %s\n", next(j))
	}
}

// finding tells of a finding with what proves it.
func (a *app) finding(b *strings.Builder, f checker.Finding) {
	fmt.Fprintf(b, "\n  %s: %s\n", a.title(f), clip(f.Says, saysWidth))
	if f.Rule != "" {
		fmt.Fprintf(b, "  Every client may rely on %s.\n", strings.TrimSuffix(f.Rule, "."))
	}
	width := 0
	for _, e := range f.Evidence {
		width = max(width, len(place(e)))
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "    %*s  %s\n", width, place(e), clip(e.Text, evidenceWidth))
		if e.Should != "" {
			fmt.Fprintf(b, "    %*s  which should have %s\n", width, "", clip(e.Should, saysWidth))
		}
	}
}

// another is a finding of a name of which one was told in full.
func (a *app) another(b *strings.Builder, f checker.Finding) {
	places := make([]string, len(f.Evidence))
	for i, e := range f.Evidence {
		places[i] = place(e)
	}
	fmt.Fprintf(b, "  %s: %s (%s)\n", a.title(f), clip(f.Says, saysWidth), strings.Join(places, ", "))
}

// title names a finding, and the partition it is about if it is about one.
func (a *app) title(f checker.Finding) string {
	if f.Partition == "" {
		return a.ink.bold(f.Name)
	}
	return a.ink.bold(f.Name) + " on " + clip(f.Partition, nameWidth)
}

func place(e checker.Evidence) string {
	if e.Line == 0 {
		return fmt.Sprintf("#%d", e.Index)
	}
	return fmt.Sprintf("line %d", e.Line)
}

// next is the command that takes a violation further.
func next(j judgement) string {
	switch {
	case checker.OfLogtest(j.header) && checker.LogtestCommand(j.header) != "":
		return checker.LogtestCommand(j.header)
	case checker.OfLogtest(j.header):
		return "run the Go test that saved the case again (package logtest); it begins with it"
	case j.file == "-" && j.header.Schedule != "":
		return "save the case to a file, then: check replay FILE"
	case j.file == "-" && j.isMinimal():
		return "save the history to a file, then: check explain FILE"
	case j.file == "-":
		return "save the history to a file, then: check minimize FILE -o " + newName("minimal", ".hist")
	case j.header.Schedule != "":
		return "check replay " + shellWord(j.file)
	case j.isMinimal():
		return "check explain " + shellWord(j.file)
	}
	return "check minimize " + shellWord(j.file) + " -o " + newName("minimal", ".hist")
}

// The JSON of one file. Names are part of the command line's contract.
type (
	jsonJudgement struct {
		File        string         `json:"file"`                  // path, or - for stdin
		Verdict     string         `json:"verdict"`               // ok, violation, unknown or error
		Exit        int            `json:"exit"`                  // what the file alone would give
		Error       string         `json:"error,omitempty"`       // of an input that cannot be read
		Reason      string         `json:"reason,omitempty"`      // of a verdict that is unknown or error
		Expected    string         `json:"expected,omitempty"`    // the verdict that the header states
		Findings    []jsonFinding  `json:"findings"`              // what is wrong, and what is allowed
		Notes       []string       `json:"notes,omitempty"`       // what is worth knowing
		Assumptions []string       `json:"assumptions,omitempty"` // settings that the header does not state, as key=value
		Exercised   *jsonExercised `json:"exercised,omitempty"`   // what was at stake
		Engine      string         `json:"engine,omitempty"`      // what decided: rules, linear, porcupine or both
		Lost        []jsonLoss     `json:"lost,omitempty"`        // what is gone, by producer
		Legal       *jsonPrefix    `json:"legal,omitempty"`       // of a violation: the longest prefix that is none
	}
	jsonFinding struct {
		Name       string          `json:"name"`                 // as check help anomalies has it
		Partition  string          `json:"partition"`            // as topic/number, empty for what a cluster reports itself
		Allowed    bool            `json:"allowed"`              // by a setting
		AllowedBy  string          `json:"allowed_by,omitempty"` // that setting
		Says       string          `json:"says"`                 // in a sentence
		Rule       string          `json:"rule,omitempty"`       // what every client may rely on
		Operations []jsonOperation `json:"operations"`           // that prove it
		More       int             `json:"more,omitempty"`       // findings of the kind that are left out
	}
	jsonOperation struct {
		Line int    `json:"line"` // in the file, 0 where it has no lines
		Text string `json:"text"` // as the notation has it
		// Should completes "it should have", for an operation that did not.
		Should string `json:"should,omitempty"`
	}
	jsonLoss struct {
		Partition string `json:"partition"` // as topic/number
		Producer  string `json:"producer"`  // a process
		Part      string `json:"part"`      // of its records: all, first, middle or last
		Lost      int    `json:"lost"`      // records
		Of        int    `json:"of"`        // records of the producer there
		First     string `json:"first"`     // value, as the notation has it
		Last      string `json:"last"`      // value
	}
	jsonPrefix struct {
		Events  int            `json:"events"`            // in the order of the encoding as events
		Of      int            `json:"of"`                // events there are
		Line    int            `json:"line"`              // every line up to it is in the prefix
		Time    int64          `json:"time"`              // of its last event, -1 if there is none
		Breaks  *jsonOperation `json:"breaks,omitempty"`  // the operation that comes next
		Answer  bool           `json:"answer"`            // it is the answer of that operation that breaks it
		At      int64          `json:"at"`                // when
		Rule    string         `json:"rule"`              // by which it is no longer legal then
		Skipped string         `json:"skipped,omitempty"` // why none of this is known
	}
	jsonExercised struct {
		Operations   int   `json:"operations"`   // of clients
		Sends        int   `json:"sends"`        // batches
		Acknowledged int   `json:"acknowledged"` // sends with acks=all that ended with ok
		Values       int   `json:"values"`       // in the sends
		Reads        int   `json:"reads"`        // that returned something or nothing
		Records      int   `json:"records"`      // in the reads
		Scans        int   `json:"scans"`        // of the whole log at the end
		Faults       int   `json:"faults"`       // that the history tells of
		Partitions   int   `json:"partitions"`   // of the log
		Rules        int   `json:"rules"`        // that were applied
		Steps        int64 `json:"steps"`        // of the model, by the engine
	}
)

func asJSON(j judgement) jsonJudgement {
	out := jsonJudgement{File: j.file, Verdict: "error", Exit: j.exit(), Findings: []jsonFinding{}}
	if j.err != nil {
		out.Error = j.err.Error()
		return out
	}
	r, exercised := j.result, jsonExercised(j.result.Exercised)
	out.Verdict, out.Reason, out.Engine = r.Verdict.String(), r.Reason, r.Engine
	out.Notes, out.Assumptions, out.Exercised = r.Notes, r.Assumptions, &exercised
	out.Expected = j.header.Expect.String()
	for _, l := range r.Lost {
		out.Lost = append(out.Lost, jsonLoss{l.Partition, l.Producer, l.Part, l.Lost, l.Of, l.First.String(), l.Last.String()})
	}
	if p := r.Legal; p != nil {
		out.Legal = &jsonPrefix{Events: p.Events, Of: p.Of, Line: p.Line, Time: p.Time, Answer: p.Answer, At: p.At, Rule: p.Rule, Skipped: p.Skipped}
		if p.Skipped == "" {
			out.Legal.Breaks = &jsonOperation{Line: p.Breaks.Line, Text: p.Breaks.Text}
		}
	}
	for _, f := range r.Findings {
		operations := make([]jsonOperation, len(f.Evidence))
		for i, e := range f.Evidence {
			operations[i] = jsonOperation{e.Line, e.Text, e.Should}
		}
		out.Findings = append(out.Findings, jsonFinding{
			Name: f.Name, Partition: f.Partition, Allowed: f.Allowed != "", AllowedBy: f.Allowed,
			Says: f.Says, Rule: f.Rule, Operations: operations, More: f.More,
		})
	}
	return out
}
