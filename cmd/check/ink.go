package main

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/isrcheck/isrcheck/checker"
)

// ink colours words on a terminal; elsewhere it leaves them plain.
type ink bool

// inkFor decides by what is written to, results or errors, and by the environment:
// NO_COLOR and CI ask for plain text.
func inkFor(w io.Writer) ink {
	return ink(isTerminal(w))
}

// isTerminal reports whether a person watches what is written, on something
// that understands escape sequences and may use them.
func isTerminal(w io.Writer) bool {
	if v, ok := w.(visible); ok {
		w = v.Writer
	}
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

func (i ink) red(s string) string    { return i.wrap(red, s) }
func (i ink) green(s string) string  { return i.wrap(green, s) }
func (i ink) yellow(s string) string { return i.wrap(yellow, s) }
func (i ink) bold(s string) string   { return i.wrap(bold, s) }

func (i ink) wrap(start sequence, s string) string {
	if !i {
		return s
	}
	return start.String() + s + reset.String()
}

// label returns a file name as people see it: as it is, or quoted if it would
// break the line or move the cursor.
func label(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// clip shortens a text to so many letters, the last three of them dots: a
// history may hold names and values of any length.
func clip(text string, letters int) string {
	n, cut := 0, 0
	for i := range text {
		if n++; n == letters-2 {
			cut = i
		}
		if n > letters {
			return text[:cut] + "..."
		}
	}
	return text
}

// count returns a number with its noun, and number one as people write it.
func count(n int, noun string) string { return checker.Counted(n, noun) }
func number(n int) string             { return checker.Number(n) }

// ordinal returns "1st", "2nd", "23rd", "111th".
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return number(n) + suffix
}
