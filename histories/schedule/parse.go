package schedule

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An Error is a place in a schedule's text and what was expected there.
type Error struct {
	File         string
	Line, Column int // from 1; columns count bytes
	Msg          string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Parse reads a schedule from its text; name is the file that errors point at.
// Blank lines and lines that begin with # are dropped. Settings and bugs come
// before the first step, a fingerprint last; steps are sorted by time. Which
// settings, bugs and verbs exist is not checked. Every error is an [*Error].
func Parse(name string, text []byte) (Schedule, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	p := parser{file: name}
	for line := range bytes.Lines(text) {
		p.line++
		if err := p.parseLine(line); err != nil {
			return Schedule{}, err
		}
	}
	slices.SortStableFunc(p.s.Steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return p.s, nil
}

type parser struct {
	file string
	line int
	s    Schedule
}

// A token is one word of a line.
type token struct {
	text string
	col  int
}

func (p *parser) parseLine(line []byte) error {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if i := badText(line); i >= 0 {
		return p.expected(i+1, "UTF-8 text without NUL bytes")
	}
	tokens := split(string(line))
	if len(tokens) == 0 || strings.HasPrefix(tokens[0].text, "#") {
		return nil
	}
	for _, t := range tokens {
		if i := strings.IndexFunc(t.text, func(r rune) bool { return !strconv.IsPrint(r) }); i >= 0 {
			return p.expected(t.col+i, "printable text, found %s", quote(t.text[i:]))
		}
	}
	if p.s.Fingerprint != "" {
		return p.expected(tokens[0].col, "nothing after the fingerprint, found %s", quote(tokens[0].text))
	}
	switch tokens[0].text {
	case "set":
		return p.setting(tokens)
	case "bug":
		return p.bug(tokens)
	case "fingerprint":
		return p.fingerprint(tokens)
	}
	return p.step(tokens)
}

func (p *parser) setting(tokens []token) error {
	t, err := p.only(tokens, "key=value")
	if err != nil {
		return err
	}
	key, value, ok := keyValue(t.text)
	switch {
	case !ok:
		return p.expected(t.col, "key=value, found %s", quote(t.text))
	case slices.ContainsFunc(p.s.Settings, func(s Setting) bool { return s.Key == key }):
		return p.expected(t.col, "each setting once, %s was set before", quote(key))
	}
	p.s.Settings = append(p.s.Settings, Setting{key, value})
	return nil
}

func (p *parser) bug(tokens []token) error {
	t, err := p.only(tokens, "the name of a bug")
	if err != nil {
		return err
	}
	if slices.Contains(p.s.Bugs, t.text) {
		return p.expected(t.col, "each bug once, %s was named before", quote(t.text))
	}
	p.s.Bugs = append(p.s.Bugs, t.text)
	return nil
}

// only returns the single word behind a line's first in the part of the text
// before the steps: a setting in the middle would look as if it began there.
func (p *parser) only(tokens []token, what string) (token, error) {
	if len(p.s.Steps) > 0 {
		return token{}, p.expected(tokens[0].col, "settings and bugs before the first step")
	}
	return p.single(tokens, what)
}

func (p *parser) single(tokens []token, what string) (token, error) {
	switch first := tokens[0]; len(tokens) {
	case 1:
		return token{}, p.expected(first.col+len(first.text), "%s after %q", what, first.text)
	case 2:
		return tokens[1], nil
	}
	return token{}, p.expected(tokens[2].col, "the end of the line, found %s", quote(tokens[2].text))
}

func (p *parser) fingerprint(tokens []token) error {
	const what = "16 hexadecimal digits in lower case"
	t, err := p.single(tokens, what)
	if err != nil {
		return err
	}
	if len(t.text) != 16 || strings.Trim(t.text, "0123456789abcdef") != "" {
		return p.expected(t.col, what+", found %s", quote(t.text))
	}
	p.s.Fingerprint = t.text
	return nil
}

func (p *parser) step(tokens []token) error {
	first, last := tokens[0], tokens[len(tokens)-1]
	at, err := strconv.ParseUint(first.text, 10, 63)
	if err != nil {
		return p.expected(first.col, `a time in milliseconds, "set", "bug" or "fingerprint", found %s`, quote(first.text))
	}
	step := Step{At: int64(at), Line: p.line}
	for i, what := range []string{"an actor after the time", "a verb after the actor"} {
		if len(tokens) < i+2 {
			return p.expected(last.col+len(last.text), "%s", what)
		}
		if t := tokens[i+1]; strings.Contains(t.text, "=") {
			return p.expected(t.col, "%s, found %s", what, quote(t.text))
		}
	}
	step.Actor, step.Verb = tokens[1].text, tokens[2].text
	for _, t := range tokens[3:] {
		key, value, ok := keyValue(t.text)
		switch {
		case !ok && strings.Contains(t.text, "="):
			return p.expected(t.col, "key=value, found %s", quote(t.text))
		case !ok && len(step.Args) > 0:
			return p.expected(t.col, "key=value after the first key=value, found %s", quote(t.text))
		case !ok:
			step.Words = append(step.Words, t.text)
		case slices.ContainsFunc(step.Args, func(a Arg) bool { return a.Key == key }):
			return p.expected(t.col, "each argument once, %s was given before", quote(key))
		default:
			step.Args = append(step.Args, Arg{key, value})
		}
	}
	p.s.Steps = append(p.s.Steps, step)
	return nil
}

func (p *parser) expected(column int, format string, args ...any) error {
	return &Error{p.file, p.line, column, "expected " + fmt.Sprintf(format, args...)}
}

// split cuts a line at its blanks and tabs.
func split(line string) []token {
	var tokens []token
	for at := 0; at < len(line); {
		rest := strings.TrimLeft(line[at:], " \t")
		at = len(line) - len(rest)
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			tokens = append(tokens, token{rest[:end], at + 1})
		}
		at += end
	}
	return tokens
}

// keyValue splits key=value. Neither part is empty; a value may hold further
// equal signs.
func keyValue(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, "=")
	return key, value, ok && key != "" && value != ""
}

// badText returns the index of the first byte that is NUL or not UTF-8, or -1.
func badText(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// quote quotes an excerpt of the input, cut so that a hostile line does not
// flood the terminal.
func quote(s string) string {
	const limit = 60
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		return strconv.Quote(string(r[:limit])) + "..."
	}
	return strconv.Quote(s)
}
