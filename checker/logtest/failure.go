package logtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A Failure is a rule that the log broke, with the smallest case found.
type Failure struct {
	Rule     string             // name of the finding, see "check help anomalies"; or one of those that the package's documentation names
	Case     string             // in which it was found
	Finding  checker.Finding    // what happened, and what proves it
	Also     []string           // further rules that are broken by the same case
	Schedule schedule.Schedule  // the smallest found
	History  *histories.History // of its run
	Runs     int                // that it took
	Stack    string             // of a log that panicked, or of all goroutines if it hangs
	Flaky    bool               // the schedule did not fail again: the history is all there is
	File     string             // where it was saved, "" if it was not
	Page     string             // a page about it for a browser, "" if there is none
	Unsaved  error              // why it, or the page, could not be

	// Known is what was reported before under the same rule. The rest is then
	// about this case, which was neither made small nor saved.
	Known *Failure

	rerun        string
	test, tested string // its name, and its package
}

// Error says what the log did, in a few lines.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Rule, f.Finding.Says)
	if f.Known != nil {
		fmt.Fprintf(&b, "  the same rule as in %s", f.Known.Case)
		return b.String()
	}
	fmt.Fprintf(&b, "  every client may rely on %s\n", f.Finding.Rule)
	for _, e := range f.Finding.Evidence {
		fmt.Fprintf(&b, "    %s", e.Text)
		if e.Should != "" {
			fmt.Fprintf(&b, "   <- should have %s", e.Should)
		}
		b.WriteByte('\n')
	}
	if len(f.Also) > 0 {
		fmt.Fprintf(&b, "  also: %s\n", strings.Join(f.Also, ", "))
	}
	if text := f.hint(); text != "" {
		fmt.Fprintf(&b, "  perhaps it is this: %s\n", text)
	}
	fmt.Fprintf(&b, "  found in %s; ", f.Case)
	if f.Flaky {
		fmt.Fprintf(&b, "it did not fail again in %s, so what was recorded is all there is", checker.Counted(f.Runs, "run"))
	} else {
		fmt.Fprintf(&b, "the smallest schedule of %s:\n%s", checker.Counted(f.Runs, "run"), indented(f.Schedule))
	}
	switch {
	case f.Unsaved != nil:
		fmt.Fprintf(&b, "\n  it could not be saved (%v); this is it:\n%s", f.Unsaved, f.History.AppendNotation(nil))
	case f.File != "":
		fmt.Fprintf(&b, "\n  saved as %s; see it with: check explain %s", f.File, fromAnywhere(f.File))
	}
	if f.Page != "" {
		fmt.Fprintf(&b, "\n  a page about it: %s", f.Page)
	}
	if f.Stack != "" {
		fmt.Fprintf(&b, "\n  the stack:\n    %s", strings.ReplaceAll(strings.TrimSpace(f.Stack), "\n", "\n    "))
	}
	if f.rerun != "" {
		fmt.Fprintf(&b, "\n  again: %s", f.rerun)
	}
	return b.String()
}

func indented(s schedule.Schedule) string {
	text, err := s.AppendText(nil)
	switch {
	case err != nil:
		return "    " + err.Error()
	case len(text) == 0:
		return "    no step: the log need not be asked for anything"
	}
	return "    " + strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    ")
}

// report makes a failure of a trial that is a violation: of the first rule that
// was not reported before, or a short one if all were.
func (s *suite) report(ctx context.Context, where string, t *trial) *Failure {
	names := t.result.Names()
	for _, rule := range names {
		if s.known[rule] == nil {
			return s.found(ctx, where, t, rule)
		}
	}
	return &Failure{Rule: names[0], Case: where, Finding: finding(t, names[0]), Schedule: t.schedule, History: t.history, Known: s.known[names[0]]}
}

// found makes a failure of a trial that breaks a rule, for the first time, and
// saves it.
func (s *suite) found(ctx context.Context, where string, t *trial, rule string) *Failure {
	f := s.minimize(ctx, where, t, rule)
	f.save(s.saveIn)
	s.draw(ctx, f)
	s.known[rule] = f
	return f
}

// finding returns the trial's first finding of that name that nothing permits.
func finding(t *trial, rule string) checker.Finding {
	for _, f := range t.result.Findings {
		if f.Name == rule && f.Allowed == "" {
			return f
		}
	}
	return checker.Finding{Name: rule}
}

// minimize looks for the smallest schedule that breaks the rule. A log that is
// not deterministic gets several tries at each; where even the schedule itself
// does not fail again, the history is made small instead.
func (s *suite) minimize(ctx context.Context, where string, t *trial, rule string) *Failure {
	ctx, cancel := context.WithTimeout(ctx, s.opts.MinimizeTime)
	defer cancel()
	runs, least := 0, t
	same := func(sch schedule.Schedule) bool {
		for range s.attempts {
			if ctx.Err() != nil {
				return false
			}
			runs++
			if again, err := s.try(ctx, sch); err == nil && again.has(rule) && ctx.Err() == nil {
				least = again
				return true
			}
		}
		return false
	}
	f := &Failure{Rule: rule, Case: where, rerun: s.again(), test: s.test, tested: s.tested}
	if rule == hung { // and would again
		runs = 1
	} else if f.Flaky = !same(t.schedule); f.Flaky {
		least = &trial{schedule: t.schedule}
		least.history, _ = checker.Minimize(ctx, t.history, checker.MinimizeOptions{Budget: s.opts.MinimizeRuns, Known: t.result})
		least.result = checker.Check(context.WithoutCancel(ctx), least.history, checker.Options{})
		if !least.has(rule) { // it was made small for another one
			least = t
		}
	} else {
		schedule.Minimize(t.schedule, schedule.MinimizeOptions{Budget: s.opts.MinimizeRuns}, same)
	}
	f.Schedule, f.History, f.Runs, f.Finding, f.Stack = least.schedule, least.history, runs, finding(least, rule), least.stack
	for _, other := range least.result.Names() {
		if other != rule {
			f.Also = append(f.Also, other)
		}
	}
	return f
}

// save writes the failure's history, with its schedule and what is expected of
// it, into a folder. It writes over nothing.
func (f *Failure) save(folder string) {
	text, err := f.Schedule.AppendText(nil)
	if err == nil {
		hd := f.History.Header()
		hd.Schedule = string(text)
		hd.Expect = histories.Expect{Verdict: checker.Violates.String(), Names: append([]string{f.Rule}, f.Also...)}
		hd.Note = strings.TrimPrefix(checker.WithoutLogtest(hd.Note)+"\n"+checker.LogtestNoteOf(f.Case, f.test, f.tested), "\n")
		var h *histories.History
		if h, err = f.History.WithHeader(hd); err == nil {
			f.History = h
		}
	}
	if err == nil && folder != "" {
		f.File, err = f.write(folder, text)
	}
	f.Unsaved = err
}

// mostSaved is how many failures by one rule a folder takes.
const mostSaved = 4

// write writes the history into a folder, if that does not have enough like it.
func (f *Failure) write(folder string, schedule []byte) (path string, err error) {
	rule := strings.ReplaceAll(f.Rule, " ", "-")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	n := 0
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), rule+"-"); ok && hashed.MatchString(rest) {
			n++
		}
	}
	if n >= mostSaved {
		return "", fmt.Errorf("%s has %d by its rule: delete those that say nothing new", folder, n)
	}
	hash := fnv.New32a()
	hash.Write(schedule)
	return f.History.WriteNew(folder, fmt.Sprintf("%s-%08x", rule, hash.Sum32()))
}

// hashed is what stands behind the rule in the name of a failure.
var hashed = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9]+)?\.hist$`)
