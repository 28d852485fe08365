package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// visible keeps what histories and file names hold from driving a terminal:
// whatever cannot be seen is written as JSON escapes it, so that JSON stays
// JSON. Line breaks, tabs and the colours of this program pass.
type visible struct{ io.Writer }

// ours are the sequences that ink and progress use.
var ours = [][]byte{[]byte("\x1b[0m"), []byte("\x1b[1m"), []byte("\x1b[31m"), []byte("\x1b[32m"), []byte("\x1b[33m"), []byte(clearLine)}

// clearLine begins a line of a terminal anew.
const clearLine = "\r\x1b[K"

// Write expects whole letters.
func (v visible) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for rest := p; len(rest) > 0; {
		n := passes(rest)
		if out = append(out, rest[:n]...); n > 0 {
			rest = rest[n:]
			continue
		}
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, rest[0])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	if _, err := v.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// passes returns how many bytes at the beginning may be written as they are.
func passes(p []byte) int {
	n := 0
	for n < len(p) && (p[n] >= ' ' && p[n] < 0x7f || p[n] == '\n' || p[n] == '\t') {
		n++
	}
	if n > 0 {
		return n
	}
	for _, sequence := range ours {
		if bytes.HasPrefix(p, sequence) {
			return len(sequence)
		}
	}
	if r, size := utf8.DecodeRune(p); strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
		return size
	}
	return 0
}
