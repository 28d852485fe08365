package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// visible keeps what histories and file names hold from driving a terminal:
// whatever cannot be seen is written as JSON escapes it, so that JSON stays
// JSON. Line breaks, tabs and the colours of this program pass.
type visible struct{ io.Writer }

// A sequence drives the terminal, as ink writes it: not as itself, but by a
// name that nothing in a history or a file's name can have, for it is new in every
// process and no text.
type sequence string

// The sequences of ink.
const (
	reset  sequence = "\x1b[0m"
	bold   sequence = "\x1b[1m"
	red    sequence = "\x1b[31m"
	green  sequence = "\x1b[32m"
	yellow sequence = "\x1b[33m"
)

var ours = []sequence{reset, bold, red, green, yellow}

var secret = fmt.Sprintf("\xff%016x", rand.Uint64())

func (s sequence) String() string {
	return secret + string(rune('a'+slices.Index(ours, s)))
}

// Write expects whole letters.
func (v visible) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for rest := p; len(rest) > 0; {
		n := passes(rest)
		if out = append(out, rest[:n]...); n > 0 {
			rest = rest[n:]
			continue
		}
		if s, ok := ourSequence(rest); ok {
			out, rest = append(out, s...), rest[len(s.String()):]
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
	if r, size := utf8.DecodeRune(p); strconv.IsPrint(r) && (r != utf8.RuneError || size > 1) {
		return size
	}
	return 0
}

// ourSequence returns the one at the beginning.
func ourSequence(p []byte) (s sequence, ok bool) {
	i := slices.IndexFunc(ours, func(s sequence) bool { return bytes.HasPrefix(p, []byte(s.String())) })
	if i < 0 {
		return "", false
	}
	return ours[i], true
}
