package importers

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/isrcheck/isrcheck/histories"
)

// magics are how binary files begin that are taken for recordings, once they are
// unpacked, and what they look like.
var magics = []struct{ begins, looks string }{
	{"JEPSEN\x00", "Jepsen's binary format (.jepsen); expected the history.edn or history.txt that a run writes beside it"},
	{"\x1f\x8b", "gzip data within packed data; expected a recording or history that is packed once"},
	{"\x28\xb5\x2f\xfd", "zstd data within packed data; expected a recording or history that is packed once"},
	{"\xfd7zXZ\x00", "xz data; expected a recording or history, packed with gzip or zstd or not"},
	{"PK\x03\x04", "a zip archive; expected a recording or history, packed with gzip or zstd or not"},
}

// notText is the error of what begins like no text, nil if it may be one. What
// is recognised all the same, or claimed to be something, is left to its reader,
// which knows the place.
func notText(file string, head []byte, known bool) error {
	looks := ""
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.begins)) {
			looks = m.looks
		}
	}
	if looks == "" && (known || !notUTF8(head)) {
		return nil
	}
	if looks == "" {
		looks = "binary data; expected " + strings.Join(Names(), ", ") + " or a history, which are text, packed with gzip or zstd or not"
	}
	return &histories.Error{File: file, Line: 1, Column: 1, Msg: "this looks like " + looks}
}

// notUTF8 reports whether the first bytes are of no text in UTF-8, or a zero is
// among the next ones. UTF-16 is text, of which the reader of histories knows.
func notUTF8(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	first := head[:min(8, len(head))]
	for len(first) > 0 {
		r, n := utf8.DecodeRune(first)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(first) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return true
		}
		first = first[n:]
	}
	return bytes.IndexByte(head[:min(512, len(head))], 0) >= 0
}
