package schedule

import (
	"bytes"
	"strings"
)

// Find returns the place, both from 1, of a word in a text that [Parse] reads:
// on the line with that number or, if that is 0, on the one that begins with
// "set" or "bug" and goes on with the word. Of key=value, the key decides. Where the word is not found, the
// place is the first word of the line.
func Find(text []byte, line int, word string) (foundLine, column int) {
	n := 0
	for b := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		n++
		tokens := split(strings.TrimRight(string(b), "\r\n"))
		if len(tokens) == 0 {
			continue
		}
		first := tokens[0]
		if n == line {
			column = first.col
			for _, t := range tokens {
				if same(t.text, word) { // the last one: an actor and a verb may have one name
					column = t.col
				}
			}
			return n, column
		}
		if line == 0 && (first.text == "set" || first.text == "bug") && len(tokens) > 1 && same(tokens[1].text, word) {
			return n, tokens[1].col
		}
	}
	return max(line, 1), 1
}

// same reports whether two words are equal or key=value with one key, which a
// line has once, and the settings of a schedule as well.
func same(a, b string) bool {
	x, _, ok := keyValue(a)
	y, _, also := keyValue(b)
	return a == b || ok && also && x == y
}
