package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A gateReport is the JSON of a gate, or of several put together. Names are part
// of the command line's contract; docs/gate.md describes them.
type gateReport struct {
	Version  int         `json:"version"`            // of this form
	Verdict  string      `json:"verdict"`            // the gravest of the parts: violation, error, input, stale, unknown or ok
	Exit     int         `json:"exit"`               // code
	Complete bool        `json:"complete"`           // false as long as the gate is under way, and for ever if it was ended
	Seed     uint64      `json:"seed"`               // of the schedules
	Runs     int         `json:"runs"`               // schedules of all shards, 0 for as many as the time allows
	Shard    string      `json:"shard"`              // i/n
	Build    string      `json:"build"`              // the version and the commit of what made the report, "" if its shards differ
	Corpus   string      `json:"corpus"`             // a digest of the cases, "" if its shards differ
	Unknown  string      `json:"unknown"`            // what it is to count as: fail or pass
	Flags    []string    `json:"flags,omitempty"`    // what else the command had, as --name=value, but for where reports go
	Ms       int64       `json:"ms"`                 // milliseconds, of all shards together
	Parts    []part      `json:"parts"`              // corpus, rules, replay, bugs and safe, as far as it has come
	Troubles []string    `json:"troubles,omitempty"` // why the report is not all it should be: reports that could not be merged, pages that could not be written
	Baseline []allowance `json:"baseline,omitempty"` // the rules of what is allowed
}

// reportVersion changes when a field changes its meaning or goes away.
const reportVersion = 1

// A part is one line of the gate's report.
type part struct {
	Name    string `json:"name"`            // corpus, rules, replay, bugs or safe
	Verdict string `json:"verdict"`         // the gravest of the items, none if there are none
	Says    string `json:"says"`            // what was covered, in words
	Of      int    `json:"of"`              // items there are to do
	Drawn   *drawn `json:"drawn,omitempty"` // of the part safe: what schedules covered
	Items   []item `json:"items"`           // that were looked at, of the part safe only what is wrong
}

// drawn says what drawn schedules covered.
type drawn struct {
	Schedules    int `json:"schedules"`    // that were run
	Acknowledged int `json:"acknowledged"` // sends
	Elections    int `json:"elections"`    // of leaders
	Truncations  int `json:"truncations"`  // of replicas
	Idle         int `json:"idle"`         // schedules in which nothing was at stake
}

func (d *drawn) add(e drawn) {
	d.Schedules += e.Schedules
	d.Acknowledged += e.Acknowledged
	d.Elections += e.Elections
	d.Truncations += e.Truncations
	d.Idle += e.Idle
}

// An item is one thing that was looked at: a case, a rule, a bug, a schedule.
type item struct {
	Index     int    `json:"index"`               // among those of its part, whichever shard looked at it; -1 for the part as a whole
	Name      string `json:"name"`                // of the case, rule, bug or schedule
	Verdict   string `json:"verdict"`             // violation, error, input, stale, unknown or ok
	Kind      string `json:"kind,omitempty"`      // what is wrong, such as wrong-verdict, or the finding of a schedule
	Says      string `json:"says,omitempty"`      // what is wrong, in words
	Again     string `json:"again,omitempty"`     // the command that shows it again
	File      string `json:"file,omitempty"`      // of the case
	Page      string `json:"page,omitempty"`      // for a browser, about the history
	Allowed   string `json:"allowed,omitempty"`   // the rule of the baseline that allows it
	Schedules int    `json:"schedules,omitempty"` // that were drawn for a bug
	Ms        int64  `json:"ms"`                  // milliseconds
}

// The kinds of what a gate finds.
const (
	wrongVerdict     = "wrong-verdict"
	staleFingerprint = "stale-fingerprint"
	emptyCorpus      = "empty-corpus"
	uncoveredRule    = "uncovered-rule"
	missedBug        = "missed-bug"
	undecidedItem    = "undecided"
	unreadableCase   = "unreadable-case"
	internalError    = "internal-error"
)

// kinds are those that a baseline may allow, beside findings.
var kinds = []string{wrongVerdict, staleFingerprint, emptyCorpus, uncoveredRule, missedBug, undecidedItem, unreadableCase}

func (it *item) wrong(verdict, kind, format string, args ...any) {
	it.Verdict, it.Kind, it.Says = verdict, kind, fmt.Sprintf(format, args...)
}

// counts is the verdict that counts.
func (it item) counts() string {
	if it.Allowed != "" {
		return "ok"
	}
	return it.Verdict
}

// gravity orders the verdicts of items, parts and reports, the gravest first. A
// stale run fails like a violation and is none: the code moved, not the verdict.
// A part has the last one if there was nothing to look at.
var gravity = []string{"violation", "error", "input", "stale", "unknown", "ok", nothing}

const nothing = "none"

func gravest(a, b string) string {
	if slices.Index(gravity, a) < slices.Index(gravity, b) {
		return a
	}
	return b
}

// problems are the items that count against a part.
func (p part) problems() []item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(it item) bool { return it.counts() == "ok" })
}

// judge derives a report's verdicts, words and exit code from its items.
func (r *gateReport) judge() {
	r.Verdict = nothing
	if !r.Complete {
		r.Verdict = "unknown"
	}
	if len(r.Troubles) > 0 {
		r.Verdict = gravest(r.Verdict, "input")
	}
	for i := range r.Baseline {
		r.Baseline[i].Uses = 0
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		slices.SortStableFunc(p.Items, func(a, b item) int { return cmp.Compare(a.Index, b.Index) })
		p.Verdict, p.Says = nothing, r.says(*p)
		for _, it := range p.Items {
			p.Verdict = gravest(p.Verdict, it.counts())
			r.use(it.Allowed)
		}
		r.Verdict = gravest(r.Verdict, p.Verdict)
	}
	if r.Verdict == nothing {
		r.Verdict = "unknown"
	}
	r.Exit = map[string]int{"ok": exitOK, "input": exitInput, "violation": exitViolation, "stale": exitViolation, "error": exitInternal, "unknown": exitUnknown}[r.Verdict]
	if r.Verdict == "unknown" && r.Unknown == "pass" && r.Complete {
		r.Exit = exitOK
	}
}

// says tells what a part covered.
func (r *gateReport) says(p part) string {
	done := count(p.Of, partNouns[p.Name])
	if looked := p.looked(); looked < p.Of && p.Drawn == nil {
		done = number(looked) + " of " + done
	}
	switch p.Name {
	case "rules":
		done += ", each of which a case must violate"
	case "replay":
		done += " of cases"
	case "bugs":
		done += " hunted" + p.foundBugs()
	case "safe":
		d := *p.Drawn
		done = fmt.Sprintf("%s of seed %d: %s acknowledged, %s, %s, nothing at stake in %s", count(d.Schedules, "schedule"), r.Seed,
			count(d.Acknowledged, "send"), count(d.Elections, "election"), count(d.Truncations, "truncation"), number(d.Idle))
	}
	if allowed := len(p.Items) - len(p.problems()) - p.fine(); allowed > 0 {
		done += fmt.Sprintf(", %d allowed", allowed)
	}
	return done
}

// partNames are the parts in their order.
var partNames = []string{"corpus", "rules", "replay", "bugs", "safe"}

// partNouns says what the items of each part are.
var partNouns = map[string]string{"corpus": "case", "rules": "rule", "replay": "schedule", "bugs": "bug", "safe": "schedule"}

// looked counts the items but for those about the part as a whole.
func (p part) looked() int {
	n := 0
	for _, it := range p.Items {
		if it.Index >= 0 {
			n++
		}
	}
	return n
}

// fine counts the items with nothing wrong.
func (p part) fine() int {
	n := 0
	for _, it := range p.Items {
		if it.Verdict == "ok" {
			n++
		}
	}
	return n
}

// foundBugs says how many bugs were found, and which was the hardest to find.
func (p part) foundBugs() string {
	var last item
	for _, it := range p.Items {
		if it.Verdict == "ok" && it.Schedules > last.Schedules {
			last = it
		}
	}
	text := fmt.Sprintf(", %d found", p.fine())
	if last.Name != "" {
		text += fmt.Sprintf(", the last, %s, by the %s schedule", last.Name, ordinal(last.Schedules))
	}
	return text
}

// furtherFlags are those of a gate's command that change what it does, as
// --name=value: all but those that a report has in a field of their own, and
// those that say where reports go.
func furtherFlags(cmd *cobra.Command) []string {
	var flags []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		own := slices.Contains([]string{"seed", "runs", "shard", "json", "junit", "html"}, f.Name)
		if own || f.Value.String() == f.DefValue {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			flags = append(flags, "--"+f.Name+"="+value)
		}
	})
	return flags
}

// again is the command that makes the whole report anew.
func (r *gateReport) again() string {
	text := fmt.Sprintf("check gate --seed %d", r.Seed)
	if r.Runs > 0 {
		text += fmt.Sprintf(" --runs %d", r.Runs)
	}
	for _, flag := range r.Flags {
		name, value, _ := strings.Cut(flag, "=")
		text += " " + name + "=" + shellWord(value)
	}
	if r.Shard != "1/1" {
		text += " --shard " + r.Shard
	}
	return text
}

// printPart prints the line of a part, and below it what is wrong.
func (a *app) printPart(p part) {
	fmt.Fprintf(a.out, "%-7s %s  %s\n", p.Name, a.column(p.Verdict), p.Says)
	for _, it := range p.problems() {
		fmt.Fprintf(a.out, "          %s\n", strings.ReplaceAll(it.line()+it.again(), "\n", "\n            "))
	}
}

func (it item) line() string {
	return fmt.Sprintf("%s: %s: %s", label(it.Name), it.Kind, clip(oneLine.Replace(it.Says), saysWidth))
}

// again is one more line, of how to see the problem again, and one with its page.
func (it item) again() string {
	text := ""
	if it.Again != "" {
		text = "\nagain: " + oneLine.Replace(it.Again)
	}
	if it.Page != "" {
		text += "\npage: " + oneLine.Replace(it.Page)
	}
	return text
}

// oneLine keeps what a history holds from beginning a line: one that begins with
// two colons is a command to GitHub, also behind blanks.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// column pads a verdict and gives it its colour.
func (a *app) column(verdict string) string {
	text := fmt.Sprintf("%-9s", verdict)
	switch verdict {
	case nothing:
		return text
	case "ok":
		return a.ink.green(text)
	case "unknown", "stale":
		return a.ink.yellow(text)
	}
	return a.ink.red(text)
}
