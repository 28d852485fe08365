package histories

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

var bom = []byte("\xef\xbb\xbf")

// Parse reads a history from its text, in either encoding: events begin with
// a brace, the notation with the word history. name is what errors call the
// file. A byte order mark and line ends of Windows are accepted.
func Parse(name string, text []byte) (*History, error) {
	return read(name, bufio.NewReader(bytes.NewReader(text)))
}

// Read reads a history in either encoding, packed with gzip or zstd or not.
// What r holds decides, not its name.
func Read(name string, r io.Reader) (*History, error) {
	u, err := unpack(name, r)
	if err != nil {
		return nil, err
	}
	return read(name, u)
}

// ReadFile reads a history from a file, as [Read] does.
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f)
}

func read(name string, r *bufio.Reader) (*History, error) {
	head, _ := r.Peek(r.Size()) // what cannot be read will be told by the reader
	if start := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n"); len(start) > 0 && start[0] == '{' {
		e, err := newEventReader(name, r)
		if err != nil {
			return nil, err
		}
		return readEvents(e)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		line := bytes.Count(text, []byte("\n")) + 1
		return nil, &Error{File: name, Line: line, Column: len(text) - bytes.LastIndexByte(text, '\n'), Msg: err.Error(), cause: err}
	}
	text = bytes.TrimPrefix(text, bom)
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, &Error{File: name, Line: 1, Column: 1, Msg: "the file is empty; expected a history"}
	}
	return parseNotation(name, text)
}

// unpack recognises packed data by its first bytes.
func unpack(name string, r io.Reader) (*bufio.Reader, error) {
	const size = 1 << 16
	plain := bufio.NewReaderSize(r, size)
	head, _ := plain.Peek(4)
	var packed io.Reader
	var err error
	format := ""
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		format = "gzip"
		packed, err = gzip.NewReader(plain)
	case bytes.Equal(head, []byte("\x28\xb5\x2f\xfd")):
		format = "zstd"
		// One at a time, in the caller's goroutine: nothing needs closing.
		packed, err = zstd.NewReader(plain, zstd.WithDecoderConcurrency(1))
	default:
		return plain, nil
	}
	if err != nil {
		return nil, &Error{File: name, Line: 1, Column: 1, Msg: damaged(format, err).Error(), cause: err}
	}
	return bufio.NewReaderSize(&packedReader{packed, format}, size), nil
}

// A packedReader says what is damaged when its data is.
type packedReader struct {
	io.Reader
	format string
}

func (p *packedReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = damaged(p.format, err)
	}
	return n, err
}

func damaged(format string, err error) error {
	return fmt.Errorf("the %s data is cut off or damaged: %w", format, err)
}
