package impl

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// separator stands between a block and its trace.
const separator = "----"

// errorAt is an error at a line of the scenario.
func (s *scenario) errorAt(line int, format string, args ...any) error {
	return &schedule.Error{File: s.name, Line: line, Column: 1, Msg: fmt.Sprintf(format, args...)}
}

// parseScenario reads a scenario. Its schedule is read as if the other lines
// were blank, so that errors point at the right ones.
func parseScenario(name string, text []byte) (*scenario, error) {
	s := &scenario{name: name}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	scheduled := slices.Clone(lines)
	at := 0
	for at < len(lines) {
		b := block{line: at + 1}
		for ; at < len(lines) && lines[at] != separator; at++ {
			b.lines, b.line = append(b.lines, lines[at]), at+1
			cmd, own, err := s.parseLine(lines[at], at+1)
			if err != nil {
				return nil, err
			}
			if own {
				scheduled[at] = ""
			}
			if cmd != nil {
				b.does = append(b.does, *cmd)
			}
		}
		trace, after := traceAt(lines, at)
		for i := at; i < after; i++ {
			scheduled[i] = ""
		}
		b.trace, at = trace, after
		s.blocks = append(s.blocks, b)
	}
	var err error
	if s.schedule, err = schedule.Parse(name, []byte(strings.Join(scheduled, "\n"))); err != nil {
		return nil, err
	}
	return s, s.complete()
}

// traceAt returns the trace below the separator in a line, and the line behind
// the blank one that ends it.
func traceAt(lines []string, separatorAt int) (trace string, after int) {
	var out bytes.Buffer
	at := separatorAt + 1
	for ; at < len(lines) && lines[at] != ""; at++ {
		out.WriteString(lines[at] + "\n")
	}
	return out.String(), min(at+1, len(lines))
}

// complete demands steps in order and one check, at the end, and counts each
// block's steps.
func (s *scenario) complete() error {
	last := &s.blocks[len(s.blocks)-1]
	steps := s.schedule.Steps // sorted by time, and so must be their lines
	for i := 1; i < len(steps); i++ {
		if steps[i].Line < steps[i-1].Line {
			return s.errorAt(steps[i-1].Line, "expected steps in order of time")
		}
	}
	for i := range s.blocks {
		b := &s.blocks[i]
		b.steps, _ = slices.BinarySearchFunc(steps, b.line, func(step schedule.Step, line int) int { return step.Line - line })
		for _, cmd := range b.does {
			if cmd.ms == checked && b != last {
				return s.errorAt(cmd.line, "expected check in the last block only")
			}
		}
	}
	if !slices.ContainsFunc(last.does, func(cmd command) bool { return cmd.ms == checked }) {
		return s.errorAt(last.line, "expected check in the last block: a scenario without it proves nothing")
	}
	for i := range s.blocks {
		if err := s.inTime(&s.blocks[i]); err != nil {
			return err
		}
	}
	return s.sayable()
}

// expectation is what may stand behind expect and expect not.
var expectation = "a verdict (" + strings.Join(verdicts, ", ") + "), KEY=VALUE, or whole words of a line of the account"

// checked is the time of a check: the end.
const checked = forever

// parseLine reads a line. own means that it is the scenario's, not the
// schedule's.
func (s *scenario) parseLine(line string, number int) (cmd *command, own bool, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, false, nil
	}
	cmd = &command{line: number}
	switch words[0] {
	case "run":
		err = s.parseRun(cmd, words[1:])
	case "expect":
		err = s.parseExpect(cmd, words[1:])
	case "check":
		if cmd.ms, cmd.do = checked, conclude; len(words) > 1 {
			err = s.errorAt(number, "expected nothing after check, found %q", words[1])
		}
	default:
		return nil, false, nil // a comment, or the schedule's
	}
	return cmd, true, err
}

func (s *scenario) parseRun(cmd *command, words []string) error {
	switch {
	case len(words) == 1 && strings.HasPrefix(words[0], "to="):
		cmd.do = runTo
		return s.parseTime(cmd, strings.TrimPrefix(words[0], "to="))
	case len(words) > 2 && words[0] == "until" && strings.HasPrefix(words[len(words)-1], "within="):
		cmd.do = runUntil
		if err := s.parseClaims(cmd, words[1:len(words)-1]); err != nil {
			return err
		}
		return s.parseTime(cmd, strings.TrimPrefix(words[len(words)-1], "within="))
	}
	return s.errorAt(cmd.line, "expected run to=MS or run until KEY=VALUE... within=MS")
}

func (s *scenario) parseTime(cmd *command, text string) error {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > dayOfMs {
		return s.errorAt(cmd.line, "expected milliseconds from 0 to %d, found %q", int64(dayOfMs), text)
	}
	cmd.ms = ms
	return nil
}

// parseExpect reads what is expected, or behind not what is not.
func (s *scenario) parseExpect(cmd *command, words []string) error {
	if cmd.not = len(words) > 0 && words[0] == "not"; cmd.not {
		words = words[1:]
	}
	switch {
	case len(words) == 0 || words[0] == "not":
		return s.errorAt(cmd.line, "expected a claim after expect and after expect not")
	case slices.Contains(verdicts, words[0]):
		return s.parseVerdict(cmd, words)
	case strings.Contains(words[0], "="):
		cmd.about, cmd.do = theState, expectState
		if err := s.parseClaims(cmd, words); err != nil {
			return err
		}
		if cmd.not && len(cmd.claims) > 1 {
			return s.errorAt(cmd.line, "expected one KEY=VALUE after not, found %d: is one of them not to hold, or none?", len(cmd.claims))
		}
	default:
		cmd.about, cmd.do, cmd.words = theTrace, expectSaid, strings.Join(words, " ")
		if slices.ContainsFunc(words, func(w string) bool { return w == "=" || strings.HasPrefix(w, "#") }) {
			return s.errorAt(cmd.line, "expected words of a line of the trace, found %q; a claim is KEY=VALUE, a comment has its own line", cmd.words)
		}
	}
	return nil
}

// verdicts are the words with which claims about a verdict begin.
var verdicts = []string{"ok", "unknown", "violation", "allowed"}

// parseVerdict reads a verdict and, where there are any, names of findings.
func (s *scenario) parseVerdict(cmd *command, words []string) error {
	cmd.about, cmd.do, cmd.words = theVerdict, expectVerdict, words[0]
	if len(words) == 1 {
		return nil
	}
	if words[0] == "ok" || words[0] == "unknown" {
		return s.errorAt(cmd.line, "expected nothing after %s, found %q", words[0], words[1])
	}
	for name := range strings.SplitSeq(strings.Join(words[1:], " "), ",") {
		cmd.names = append(cmd.names, strings.TrimSpace(name))
	}
	if err := checkFindings(cmd.names); err != nil {
		return s.errorAt(cmd.line, "%v", err)
	}
	return nil
}

// inTime refuses expectations of what has not been yet where they stand: whatever
// they say is not would not be.
func (s *scenario) inTime(b *block) error {
	ran, checks := false, false
	for i := range b.does {
		cmd := &b.does[i]
		switch {
		case cmd.about == nothing:
			ran, checks = true, checks || cmd.ms == checked
		case cmd.about == theTrace && !ran:
			return s.errorAt(cmd.line, "expected run or check above this line: nothing has happened in this part yet")
		case cmd.about == theVerdict && !checks:
			return s.errorAt(cmd.line, "expected check above this line: there is no verdict yet")
		}
	}
	return nil
}

// parseClaims reads KEY=VALUE words. partition=, broker= and client= say what the
// claims behind them are about.
func (s *scenario) parseClaims(cmd *command, words []string) error {
	var about subject
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if !ok || value == "" {
			return s.errorAt(cmd.line, "expected KEY=VALUE, found %q", w)
		}
		switch keys := about.keys(); {
		case key == "client":
			about.client, about.broker = value, 0
		case key == "partition", key == "broker":
			if err := s.parseSubject(&about, cmd.line, key, value); err != nil {
				return err
			}
		default:
			k := claim{subject: about, key: key, value: value}
			if err := k.parse(keys); err != nil {
				return s.errorAt(cmd.line, "%v", err)
			}
			cmd.claims = append(cmd.claims, k)
		}
	}
	if len(cmd.claims) == 0 {
		return s.errorAt(cmd.line, "expected a claim")
	}
	return nil
}

// parse reads the value of a claim, which has one of these keys.
func (k *claim) parse(keys []claimKey) (err error) {
	for i := range keys {
		if keys[i].name != k.key {
			continue
		}
		if k.values, err = keys[i].value.alternatives(k.value); err != nil {
			return fmt.Errorf("%s=%s: %w", k.key, k.value, err)
		}
		if keys[i].value.brokers {
			k.named = brokersIn(k.value)
		}
		return nil
	}
	var names []string
	for i := range keys {
		names = append(names, keys[i].name)
	}
	return fmt.Errorf("unknown key %q; expected one of %s", k.key, strings.Join(names, ", "))
}

func (s *scenario) parseSubject(about *subject, line int, key, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || key == "broker" && (n < 1 || n > maxBrokers) {
		return s.errorAt(line, "%s=%s: expected a number", key, value)
	}
	if key == "broker" {
		about.broker, about.client = n, ""
	} else {
		about.partition = n
	}
	return nil
}
