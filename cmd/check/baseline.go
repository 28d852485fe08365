package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

// An allowance is a rule of a baseline: what a gate may find until a day.
type allowance struct {
	Name    string `json:"name"`    // of the rule
	Kind    string `json:"kind"`    // of the problem, or the finding
	On      string `json:"on"`      // pattern of the item's name, as path.Match has it, a * also over slashes
	Until   string `json:"until"`   // the last day, in UTC
	Reason  string `json:"reason"`  // for people
	Expired bool   `json:"expired"` // the day is over, and nothing is allowed any more
	Uses    int    `json:"uses"`    // items that it allowed
}

// baselineHead is the first line of a baseline.
const baselineHead = "baseline 1"

// readBaseline reads a file of rules, one a line:
//
//	allow NAME kind=KIND on=PATTERN until=YYYY-MM-DD reason="TEXT"
func (a *app) readBaseline(file string, now time.Time) ([]allowance, error) {
	a.file = file
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rules, begun := []allowance{}, false
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		column, err := 1, error(nil)
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || trimmed[0] == '#':
		case !begun:
			if begun = trimmed == baselineHead; !begun {
				err = fmt.Errorf("expected %q", baselineHead)
			}
		default:
			var rule allowance
			if rule, column, err = parseAllowance(line); err == nil && slices.ContainsFunc(rules, func(r allowance) bool { return r.Name == rule.Name }) {
				err = fmt.Errorf("the name %s is taken; expected another", label(rule.Name))
			}
			rule.Expired = rule.Until < now.UTC().Format(time.DateOnly)
			rules = append(rules, rule)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d:%d: %w", label(file), i+1, column, err)
		}
	}
	if !begun {
		return nil, fmt.Errorf("%s:1:1: expected %q; the file is empty", label(file), baselineHead)
	}
	return rules, nil
}

// parseAllowance reads a line. The column is that of the error, or of the name.
func parseAllowance(line string) (r allowance, column int, err error) {
	nameAt := 0
	fields := map[string]*string{"kind": &r.Kind, "on": &r.On, "until": &r.Until, "reason": &r.Reason}
	for n, rest := 0, line; ; n++ {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		column = len(line) - len(rest) + 1
		if rest == "" {
			break
		}
		var word string
		word, rest = nextWord(rest)
		switch key, value, _ := strings.Cut(word, "="); {
		case n == 0 && word != "allow":
			return r, column, fmt.Errorf("expected allow, not %s", label(word))
		case n == 0:
		case n == 1 && strings.Contains(word, "="):
			return r, column, fmt.Errorf("expected a name for the rule, not %s", label(word))
		case n == 1:
			r.Name, nameAt = word, column
		case fields[key] == nil || *fields[key] != "":
			return r, column, fmt.Errorf("expected kind=, on=, until= and reason=, each once, not %s", label(word))
		default:
			if *fields[key], err = unquoted(value); err != nil {
				return r, column, fmt.Errorf("expected a word or a text in double quotes after %s=", key)
			}
			if err = r.check(key); err != nil {
				return r, column, fmt.Errorf("expected %w, not %s", err, label(word))
			}
		}
	}
	for _, key := range []string{"kind", "on", "until", "reason"} {
		if *fields[key] == "" {
			return r, column, fmt.Errorf("expected %s= as well", key)
		}
	}
	return r, nameAt, nil
}

// check demands a sensible value of a field. The error says what was expected.
func (r allowance) check(key string) error {
	switch key {
	case "kind":
		if r.Kind == internalError {
			return errors.New("a kind that can be allowed: it is the checker that is wrong")
		}
		invariant, ok := strings.CutPrefix(r.Kind, "invariant ")
		known := ok && slices.ContainsFunc(impl.Invariants, func(i impl.Invariant) bool { return i.Name == invariant })
		if !known && !slices.Contains(kinds, r.Kind) && (ok || !histories.IsAnomaly(r.Kind)) {
			return fmt.Errorf("a kind of problem such as kind=%s, or the name of a finding", strings.Join(kinds, " or "))
		}
	case "until":
		if _, err := time.Parse(time.DateOnly, r.Until); err != nil {
			return errors.New("a day such as until=2030-12-31")
		}
	case "on":
		if _, err := path.Match(r.On, ""); err != nil {
			return errors.New("a pattern such as on=failing/*.hist")
		}
	}
	return nil
}

// nextWord cuts a word off a line; double quotes hold one together.
func nextWord(line string) (word, rest string) {
	quoted, escaped := false, false
	end := strings.IndexFunc(line, func(r rune) bool {
		if r == '"' && !escaped {
			quoted = !quoted
		}
		escaped = r == '\\' && quoted && !escaped
		return unicode.IsSpace(r) && !quoted
	})
	if end < 0 {
		return line, ""
	}
	return line[:end], line[end:]
}

func unquoted(value string) (string, error) {
	if value == "" || !strings.Contains(value, `"`) {
		return value, nil
	}
	return strconv.Unquote(value)
}

// about reports whether the rule is about the item of that name.
func (r allowance) about(name string) bool {
	// A slash is nothing special here: "*" is to match what is in folders, too.
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, _ := path.Match(flat(r.On), flat(name)) // the pattern was tried when it was read
	return ok
}

// aboutSchedules reports whether it may be about a drawn schedule.
func (r allowance) aboutSchedules() bool {
	const name = "schedule"
	prefix := r.On
	if i := strings.IndexAny(prefix, `*?[\`); i >= 0 {
		prefix = prefix[:i]
	}
	return strings.HasPrefix(prefix, name) || strings.HasPrefix(name, prefix)
}

// tested reports whether a report looked at all that a rule may be about: bugs
// that there was no time for, or schedules that were not drawn, may need it.
func (r *gateReport) tested(rule allowance) bool {
	for _, p := range r.Parts {
		switch {
		case p.Name == "bugs" && slices.Contains([]string{missedBug, undecidedItem}, rule.Kind):
			for _, bug := range impl.Bugs {
				hunted := slices.ContainsFunc(p.Items, func(it item) bool { return it.Name == bug.Name })
				if !hunted && rule.about(bug.Name) {
					return false
				}
			}
		case p.Name == "safe" && (rule.Kind == undecidedItem || !slices.Contains(kinds, rule.Kind)):
			if (r.Runs == 0 || p.Drawn.Schedules < p.Of) && rule.aboutSchedules() {
				return false
			}
		}
	}
	return true
}

// allows names the first rule of the baseline that allows an item's problem,
// "" if there is none. What is wrong with the checker itself cannot be allowed.
func (r *gateReport) allows(it item) string {
	if it.Verdict == "ok" || it.Verdict == "error" {
		return ""
	}
	for _, rule := range r.Baseline {
		if !rule.Expired && rule.Kind == it.Kind && rule.about(it.Name) {
			return rule.Name
		}
	}
	return ""
}

// use counts that a rule allowed something.
func (r *gateReport) use(name string) {
	for i := range r.Baseline {
		if r.Baseline[i].Name == name {
			r.Baseline[i].Uses++
		}
	}
}

// addBaseline adds the rules of a shard that are not there yet.
func (r *gateReport) addBaseline(rules []allowance) {
	for _, rule := range rules {
		if !slices.ContainsFunc(r.Baseline, func(other allowance) bool { return other.Name == rule.Name }) {
			r.Baseline = append(r.Baseline, rule)
		}
	}
}

// stale says what is to be done about a rule that is of no use any more, "" if
// nothing.
func (r *gateReport) stale(rule allowance) string {
	switch {
	case rule.Expired:
		return "expired after " + rule.Until + ": mend what it allowed, or give it another day"
	case rule.Uses == 0 && r.tested(rule):
		return "unused: nothing was found that it allows; take it out"
	}
	return ""
}

// printBaseline prints what is to be done about the rules of the baseline, once
// all that might need them was looked at.
func (a *app) printBaseline(r *gateReport) {
	for _, rule := range r.Baseline {
		if s := r.stale(rule); s != "" {
			fmt.Fprintf(a.out, "baseline %s: %s\n", label(rule.Name), s)
		}
	}
}
