package histories

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A cursor reads one line of either encoding from left to right. Its first
// failure sticks and moves it to the end of the line, so that a reader states
// what it expects and asks for the error once.
type cursor struct {
	file string
	line int
	text []byte
	pos  int
	err  error

	words map[string]string // strings met before, to share; may be nil
}

// newCursor returns a cursor over a line that is known to be clean text.
func newCursor(file string, line int, text []byte) *cursor {
	c := &cursor{file: file, line: line, text: text}
	if at, msg := unclean(text); msg != "" {
		c.fail(at, "%s", msg)
	}
	return c
}

// unclean returns the place and the reason why a line cannot be text.
func unclean(line []byte) (at int, msg string) {
	ascii := true
	for i, b := range line {
		switch {
		case ' ' <= b && b < 0x7f || b == '\t':
		case b >= utf8.RuneSelf:
			ascii = false
		case b == '\r':
			return i, `a carriage return within the line; expected lines that end in \n or \r\n (a quoted string may write it \r)`
		default:
			return i, fmt.Sprintf("control character %#02x; expected text (a quoted string may write it \\u%04x)", b, b)
		}
	}
	if ascii || utf8.Valid(line) {
		return 0, ""
	}
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			return i, fmt.Sprintf("byte %#02x is not valid UTF-8", line[i])
		}
		i += n
	}
	return 0, ""
}

// fail records the line's first error, at a byte of the line.
func (c *cursor) fail(pos int, format string, args ...any) {
	if c.err == nil {
		c.err = &Error{File: c.file, Line: c.line, Column: pos + 1, Msg: fmt.Sprintf(format, args...)}
	}
	c.pos = len(c.text)
}

// expected fails at the cursor, naming what should be there and what is.
func (c *cursor) expected(what string) {
	if c.done() {
		c.fail(c.pos, "expected %s, but the line ends here", what)
		return
	}
	c.fail(c.pos, "expected %s, found %s", what, c.here())
}

// here is an excerpt of the text at the cursor, up to the next space.
func (c *cursor) here() string {
	s := c.text[c.pos:]
	if i := bytes.IndexAny(s, " \t"); i > 0 {
		s = s[:i]
	}
	return excerpt(string(s[:min(len(s), 100)]))
}

func (c *cursor) done() bool { return c.pos >= len(c.text) }

// peek returns the byte at the cursor, 0 at the end of the line.
func (c *cursor) peek() byte {
	if c.done() {
		return 0
	}
	return c.text[c.pos]
}

// take moves over one byte if it is next.
func (c *cursor) take(b byte) bool {
	if c.peek() != b || c.done() {
		return false
	}
	c.pos++
	return true
}

func (c *cursor) spaces() {
	for !c.done() && (c.text[c.pos] == ' ' || c.text[c.pos] == '\t') {
		c.pos++
	}
}

// gap ends a word of the notation: spaces or the end of the line follow.
func (c *cursor) gap() {
	if !c.done() && c.text[c.pos] != ' ' && c.text[c.pos] != '\t' {
		c.expected("a space")
		return
	}
	c.spaces()
}

// rest takes what is left of the line without the spaces around it.
func (c *cursor) rest() string {
	s := strings.Trim(string(c.text[c.pos:]), " \t")
	c.pos = len(c.text)
	return s
}

// integer reads a decimal integer in its only spelling: no plus sign, no
// leading zeros, no fraction, no exponent.
func (c *cursor) integer(what string) int64 {
	start := c.pos
	negative := c.take('-')
	var n uint64
	for ; c.pos < len(c.text) && c.text[c.pos]-'0' < 10; c.pos++ {
		d := uint64(c.text[c.pos] - '0')
		if n > (1<<63-d)/10 {
			c.fail(start, "%s does not fit in 64 bits", what)
			return 0
		}
		n = n*10 + d
	}
	digits := c.text[start:c.pos]
	if negative {
		digits = digits[1:]
	}
	switch {
	case len(digits) == 0:
		c.pos = start
		c.expected(what)
	case digits[0] == '0' && (len(digits) > 1 || negative):
		c.fail(start, "expected %s without leading zeros", what)
	case c.peek() == '.' || c.peek() == 'e' || c.peek() == 'E':
		c.fail(start, "expected %s without a fraction or an exponent", what)
	case !negative && n > math.MaxInt64:
		c.fail(start, "%s does not fit in 64 bits", what)
	case negative:
		return -int64(n)
	default:
		return int64(n)
	}
	return 0
}

// natural reads an integer that is not negative.
func (c *cursor) natural(what string) int64 {
	start := c.pos
	n := c.integer(what)
	if n < 0 {
		c.fail(start, "%s is negative", what)
		return 0
	}
	return n
}

// value reads an integer or a quoted string.
func (c *cursor) value(what string) Value {
	if c.peek() == '"' {
		return String(c.quoted(what))
	}
	return Int(c.integer(what))
}

// word reads a plain word or a quoted string.
func (c *cursor) word(what string) string {
	if c.peek() == '"' {
		return c.quoted(what)
	}
	start := c.pos
	for !c.done() && plain[c.text[c.pos]] {
		c.pos++
	}
	if c.pos == start {
		c.expected(what)
		return ""
	}
	return c.share(c.text[start:c.pos])
}

// quoted reads a string in double quotes with the escapes of JSON.
func (c *cursor) quoted(what string) string {
	start := c.pos
	if !c.take('"') {
		c.expected(what)
		return ""
	}
	from := c.pos
	for !c.done() && c.text[c.pos] != '"' && c.text[c.pos] != '\\' && c.text[c.pos] != '\t' {
		c.pos++
	}
	if c.peek() == '"' { // nothing is escaped
		c.pos++
		return c.share(c.text[from : c.pos-1])
	}
	out := append([]byte(nil), c.text[from:c.pos]...)
	for !c.done() {
		switch b := c.text[c.pos]; b {
		case '"':
			c.pos++
			return string(out)
		case '\\':
			out = utf8.AppendRune(out, c.escape())
		case '\t': // as in JSON
			c.fail(c.pos, `expected no tab in a string; it is written \t`)
		default:
			out = append(out, b)
			c.pos++
		}
	}
	c.fail(start, "expected a closing quote before the end of the line")
	return ""
}

// share returns the text as a string, the same one for short texts met before:
// a history names few processes, partitions and operations, many times.
func (c *cursor) share(text []byte) string {
	const longest, most = 64, 1 << 12
	if c.words == nil || len(text) > longest {
		return string(text)
	}
	if s, ok := c.words[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(c.words) < most {
		c.words[s] = s
	}
	return s
}

// escape reads one escape sequence of a quoted string.
func (c *cursor) escape() rune {
	start := c.pos
	c.pos++
	b := c.peek()
	if b == 'u' {
		r := c.codeUnit()
		if utf16.IsSurrogate(r) && c.err == nil {
			if c.peek() == '\\' && c.pos+1 < len(c.text) && c.text[c.pos+1] == 'u' {
				c.pos++
				r = utf16.DecodeRune(r, c.codeUnit())
			} else {
				r = utf8.RuneError
			}
			if r == utf8.RuneError {
				c.fail(start, "expected a pair of surrogates")
			}
		}
		return r
	}
	if i := strings.IndexByte(escapes, b); i >= 0 && !c.done() {
		c.pos++
		return rune(escaped[i])
	}
	c.fail(start, `expected an escape of JSON: \" \\ \/ \b \f \n \r \t \uXXXX`)
	return 0
}

const (
	escapes = `"\/bfnrt`
	escaped = "\"\\/\b\f\n\r\t"
)

// codeUnit reads uXXXX.
func (c *cursor) codeUnit() rune {
	if c.pos+5 <= len(c.text) {
		if n, err := strconv.ParseUint(string(c.text[c.pos+1:c.pos+5]), 16, 16); err == nil {
			c.pos += 5
			return rune(n)
		}
	}
	c.expected("u and four hexadecimal digits")
	return 0
}

// plain says which bytes a word may have without quotes.
var plain = func() (t [256]bool) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/#+,") {
		t[b] = true
	}
	return t
}()

func isPlain(s string) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return s != ""
}

// appendWord appends a word, in quotes where it needs them.
func appendWord(b []byte, s string) []byte {
	if isPlain(s) {
		return append(b, s...)
	}
	return appendQuoted(b, s)
}

// quote returns the string in double quotes, as both encodings write it.
func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted appends the string in double quotes. It escapes as JSON does,
// and all that cannot be seen, so that a line stays one line for every tool.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x7f && r >= ' ':
			b = append(b, byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case strconv.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return append(b, '"')
}
