package histories

import (
	"bytes"
	"io"
)

var bom = []byte("\xef\xbb\xbf")

// Parse reads a history from its text, in either encoding: events begin with
// a brace, the notation with the word history. name is what errors call the
// file. A byte order mark and line ends of Windows are accepted.
func Parse(name string, text []byte) (*History, error) {
	text = bytes.TrimPrefix(text, bom)
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, &Error{File: name, Line: 1, Column: 1, Msg: "the file is empty; expected a history"}
	}
	return parseNotation(name, text)
}

// Read reads a history from r.
func Read(name string, r io.Reader) (*History, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, &Error{File: name, Msg: err.Error(), cause: err}
	}
	return Parse(name, text)
}
