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
// out, so that the history is what was written in whole lines with the note
// [CutOff] behind them, and operations whose answers are missing are open. In any
// other file it is an error, because nobody knows what is missing.
var WrittenAsItGoes = Setting{"x-written", "as-it-goes"}

// EndMarked is the setting of a header that says that the last thing that happens
// is the note [Complete]. A file without that one lacks its end, wherever that was
// lost: a cut between two lines shows nothing else.
var EndMarked = Setting{"x-end", "marked"}

// Notes about where a history ends.
const (
	CutOff   = "the file ends in the middle: what came after is not known"
	Complete = "the recording is complete"

	Incomplete = "the recording is not complete: " // and why
)

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

// wholeLines reads lines that end, and says in a line of its own if there was one
// that does not.
type wholeLines struct {
	r     *bufio.Reader
	line  []byte // what is left of the one that was read last
	long  []byte // the one that is longer than the reader's buffer
	last  []byte // the whole of the one that was read last
	ended bool
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
	if w.ended {
		return io.EOF
	}
	w.long = w.long[:0]
	for {
		part, err := w.r.ReadSlice('\n')
		switch {
		case err == nil && len(w.long) == 0:
			w.line = part
			w.last = append(w.last[:0], part...)
			return nil
		case err == nil:
			w.long = append(w.long, part...)
			w.line = w.long
			w.last = append(w.last[:0], w.long...)
			return nil
		case err == bufio.ErrBufferFull && len(w.long) <= maxLine:
			w.long = append(w.long, part...)
			continue
		case err == bufio.ErrBufferFull: // the reader of lines says what is wrong
			w.line = append(w.long, part...)
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF && len(part)+len(w.long) > 0:
			w.line, w.ended = w.cutOff(), true
			return nil
		}
		return err
	}
}

// cutOff is the line that says that the next one is missing, at the time of the
// last one that is whole.
func (w *wholeLines) cutOff() []byte {
	c := newCursor("", 0, bytes.TrimRight(w.last, "\r\n"))
	c.words = map[string]string{}
	e := c.event()
	m := Mark{Kind: Note, Process: "reader", Text: CutOff, Time: max(e.Op.Call, e.Op.Return, e.Mark.Time, 0), Offset: None}
	var out eventWriter
	out.mark(&m)
	return out.buf
}
