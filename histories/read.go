package histories

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

var bom = []byte("\xef\xbb\xbf")

// Parse reads a history from its text, in either encoding: events begin with
// a brace, the notation with the word history. name is what errors call the
// file. A byte order mark and line ends of Windows are accepted.
func Parse(name string, text []byte) (*History, error) {
	return read(name, bufio.NewReader(bytes.NewReader(text)))
}

// Read reads a history in either encoding, packed with gzip or zstd or not,
// within the zero [Limit]. What r holds decides, not its name.
func Read(name string, r io.Reader) (*History, error) { return Limit(0).Read(name, r) }

// ReadFile reads a history from a file, as [Read] does.
func ReadFile(path string) (*History, error) { return Limit(0).ReadFile(path) }

// Read is the function of that name within another limit.
func (l Limit) Read(name string, r io.Reader) (*History, error) {
	u, err := l.Unpack(name, r)
	if err != nil {
		return nil, err
	}
	return read(name, u)
}

// ReadFile is the function of that name within another limit.
func (l Limit) ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return l.Read(path, f)
}

func read(name string, r *bufio.Reader) (*History, error) {
	head, _ := r.Peek(r.Size()) // what cannot be read will be told by the reader
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, &Error{File: name, Line: 1, Column: 1, Msg: "the text is UTF-16; expected UTF-8"}
	}
	if start := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n"); len(start) > 0 && start[0] == '{' {
		e, err := newEventReader(name, r)
		if err != nil {
			return nil, err
		}
		return readEvents(e)
	}
	return readNotation(name, r)
}
