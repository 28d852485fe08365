package histories

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// WrittenAsItGoes is the setting of a header that says that the file was
// written while the history happened. If whoever wrote it was killed, the file
// may end within a line, or within a frame of packed data: such an end is left
// out, so that the history is what was written in whole lines, and operations
// whose answers are missing are open. In any other file it is an error, because
// nobody knows what is missing.
var WrittenAsItGoes = Setting{"x-written", "as-it-goes"}

// lenient lets a reader of an unpacked history end where its last whole line
// does, if its header says [WrittenAsItGoes].
func lenient(name string, r *bufio.Reader) *bufio.Reader {
	head, _ := r.Peek(r.Size()) // what cannot be read will be told by the reader
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !whole || !bytes.Contains(line, []byte(WrittenAsItGoes.Key)) {
		return r
	}
	e, err := newEventReader(name, bufio.NewReader(bytes.NewReader(line)))
	if err != nil {
		return r
	}
	if v, _ := e.Header().Config.Stated(WrittenAsItGoes.Key); v != WrittenAsItGoes.Value {
		return r
	}
	return bufio.NewReaderSize(&wholeLines{r: r}, r.Size())
}

// wholeLines reads lines that end.
type wholeLines struct {
	r    *bufio.Reader
	line []byte // what is left of the one that was read last
	long []byte // the one that is longer than the reader's buffer
}

func (w *wholeLines) Read(p []byte) (int, error) {
	for len(w.line) == 0 {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.line)
	w.line = w.line[n:]
	return n, nil
}

func (w *wholeLines) next() error {
	w.long = w.long[:0]
	for {
		part, err := w.r.ReadSlice('\n')
		switch {
		case err == nil && len(w.long) == 0:
			w.line = part
			return nil
		case err == nil:
			w.long = append(w.long, part...)
			w.line = w.long
			return nil
		case err == bufio.ErrBufferFull && len(w.long) <= maxLine:
			w.long = append(w.long, part...)
			continue
		case err == bufio.ErrBufferFull: // the reader of lines says what is wrong
			w.line = append(w.long, part...)
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		}
		return err
	}
}
