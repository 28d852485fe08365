package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// ends is plain, but what is left out of a long text is its middle: the end of an
// operation is what was answered.
func ends(text string, letters int) string {
	runes := []rune(text)
	if len(runes) <= letters {
		return plain(text, letters)
	}
	tail := letters / 3
	return plain(string(runes[:letters-tail]), letters) + "…" + plain(string(runes[len(runes)-tail:]), letters)
}

// plain makes text from a recording fit to be shown: what cannot be seen, or
// would turn the direction of what follows, is written as JSON escapes it, and
// at most so many letters are left.
func plain(text string, letters int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > letters {
			b.WriteString("…")
			break
		}
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
