package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shellWord quotes a word, such as a file's name, for a POSIX shell where that
// is needed. The result is one line of what can be seen, whatever the word holds,
// and no flag.
func shellWord(s string) string {
	if strings.HasPrefix(s, "-") && s != "-" {
		s = "./" + s
	}
	special := func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@%=", r)
		return !plain
	}
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	switch {
	case strings.ContainsFunc(s, hidden) || !utf8.ValidString(s):
		return dollarQuoted(s)
	case s == "" || strings.ContainsFunc(s, special):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// dollarQuoted is a word between dollar-single-quotes (POSIX.1-2024, section
// 2.2.4), in which bytes that cannot be seen are octal.
func dollarQuoted(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case strconv.IsPrint(r) && (r != utf8.RuneError || size > 1):
			b.WriteRune(r)
		default:
			for _, c := range []byte(s[:size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		s = s[size:]
	}
	return b.String() + "'"
}
