package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A lineReader reads lines of any reasonable length.
type lineReader struct {
	name string
	r    *bufio.Reader
	buf  []byte
	line int  // number of the line read last
	open bool // it had no line break
}

// maxLine bounds the memory that a file without line breaks can take.
const maxLine = 1 << 28

// next returns a line without its line break, valid until the next call.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	l.line++
	for {
		part, err := l.r.ReadSlice('\n')
		if l.line == 1 && len(l.buf) == 0 {
			part = bytes.TrimPrefix(part, bom)
		}
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > maxLine:
			return nil, &Error{File: l.name, Line: l.line, Column: 1, Msg: fmt.Sprintf("the line is longer than %d bytes; expected one event a line", maxLine)}
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(l.buf) == 0:
			l.line--
			return nil, io.EOF
		case err != nil && err != io.EOF:
			return nil, &Error{File: l.name, Line: l.line, Column: len(l.buf) + 1, Msg: err.Error(), cause: err}
		}
		l.open = err == io.EOF
		line := bytes.TrimSuffix(l.buf, []byte("\n"))
		return bytes.TrimSuffix(line, []byte("\r")), nil
	}
}

// explain adds to the error of a last line that ends in the middle what is most
// likely wrong with it.
func (l *lineReader) explain(err error) error {
	var e *Error
	if l.open && !bytes.HasSuffix(l.buf, []byte("}")) && errors.As(err, &e) {
		e.Msg += " (the file ends in this line without a line break: it may have been cut off)"
	}
	return err
}
