package histories

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// AppendEvents appends the history as events (.jsonl).
func (h *History) AppendEvents(b []byte) []byte {
	b = append(h.header.appendJSON(b), '\n')
	w := eventWriter{buf: b}
	h.events(&w, func() error { return nil })
	return w.buf
}

// WriteEvents writes the history as events (.jsonl).
func (h *History) WriteEvents(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	e := eventWriter{buf: append(h.header.appendJSON(nil), '\n')}
	flush := func() error {
		_, err := out.Write(e.buf)
		e.buf = e.buf[:0]
		return err
	}
	if err := h.events(&e, flush); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Flush()
}

// events writes one line after another in order of time: what completes at one
// instant before what is invoked there, an operation that takes no time as one.
func (h *History) events(w *eventWriter, after func() error) (err error) {
	ends := h.completions()
	piped := h.pipelined()
	emit := func(until int64) {
		for ; err == nil && len(ends) > 0 && h.ops[ends[0]].Return <= until; ends = ends[1:] {
			o := &h.ops[ends[0]]
			w.complete(o, id(o, piped))
			err = after()
		}
	}
	h.each(func(c *comment, o *Op, m *Mark) {
		switch {
		case err != nil:
			return
		case c != nil && c.index == len(h.ops)+len(h.marks):
			emit(forever)
			w.comment(c.text)
		case c != nil:
			emit(h.timeOf(c.index))
			w.comment(c.text)
		case m != nil:
			emit(m.Time)
			w.mark(m)
		default:
			emit(o.Call)
			w.invoke(o, id(o, piped))
			if o.Outcome != Open && o.Return == o.Call {
				w.complete(o, id(o, piped))
			}
		}
		if err == nil {
			err = after()
		}
	})
	emit(forever)
	return err
}

// completions returns the operations that take time, in order of completion.
func (h *History) completions() []int {
	var ends []int
	for i := range h.ops {
		if h.ops[i].Outcome != Open && h.ops[i].Return > h.ops[i].Call {
			ends = append(ends, i)
		}
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(h.ops[a].Return, h.ops[b].Return) })
	return ends
}

// timeOf returns the time of the item with that index.
func (h *History) timeOf(index int) int64 {
	i, _ := slices.BinarySearchFunc(h.ops, index, func(o Op, index int) int { return cmp.Compare(o.Index, index) })
	if i < len(h.ops) && h.ops[i].Index == index {
		return h.ops[i].Call
	}
	i, _ = slices.BinarySearchFunc(h.marks, index, func(m Mark, index int) int { return cmp.Compare(m.Index, index) })
	return h.marks[i].Time
}

// pipelined returns the processes that have several sends under way at once.
func (h *History) pipelined() map[string]bool {
	piped := make(map[string]bool)
	ends := make(map[string]int64)
	for i := range h.ops {
		o := &h.ops[i]
		if o.Kind != Send {
			continue
		}
		if end, ok := ends[o.Process]; ok && end > o.Call {
			piped[o.Process] = true
		}
		ends[o.Process] = max(ends[o.Process], o.end())
	}
	return piped
}

// id tells the sends of a pipelining process apart.
func id(o *Op, piped map[string]bool) int64 {
	if o.Kind == Send && piped[o.Process] {
		return int64(o.Index)
	}
	return None
}

// An eventWriter appends events, counting them.
type eventWriter struct {
	buf   []byte
	index int64
}

// event appends what every event begins with.
func (w *eventWriter) event(time int64, process, typ, f string) []byte {
	b := strconv.AppendInt(append(w.buf, `{"index":`...), w.index, 10)
	w.index++
	b = strconv.AppendInt(append(b, `,"time":`...), time, 10)
	b = appendQuoted(append(b, `,"process":`...), process)
	b = append(append(append(b, `,"type":"`...), typ...), '"')
	return appendQuoted(append(b, `,"f":`...), f)
}

func (w *eventWriter) invoke(o *Op, id int64) {
	b := w.event(o.Call, o.Process, "invoke", o.Kind.String())
	w.buf = append(o.appendAsked(b, id), "}\n"...)
}

func (w *eventWriter) complete(o *Op, id int64) {
	b := w.event(o.Return, o.Process, o.Outcome.String(), o.Kind.String())
	w.buf = append(o.appendAnswered(o.appendAsked(b, id)), "}\n"...)
}

func (w *eventWriter) mark(m *Mark) {
	process, text := "nemesis", m.Text
	if m.Kind != Nemesis {
		process, text = "client", string(m.appendMarker(nil))
	}
	w.buf = append(w.event(m.Time, process, "info", text), "}\n"...)
}

func (w *eventWriter) comment(text string) {
	w.buf = append(appendQuoted(append(w.buf, `{"x-comment":`...), text), "}\n"...)
}

// appendAsked appends what was asked, which both events of an operation say.
func (o *Op) appendAsked(b []byte, id int64) []byte {
	b = appendQuoted(append(b, `,"on":`...), o.On)
	b = appendNumber(b, `,"id":`, id)
	if o.Kind == Send {
		b = append(b, `,"values":[`...)
		for i, v := range o.Values {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.append(b)
		}
		b = append(b, ']')
	}
	if o.Key != "" { // the notation writes keys as JSON does
		b = append(append(b, `,"key":`...), o.Key...)
	}
	b = appendText(b, `,"acks":`, o.Acks)
	b = appendNumber(b, `,"from":`, o.From)
	b = appendNumber(b, `,"max":`, o.Max)
	b = appendText(b, `,"at":`, o.At)
	b = appendText(b, `,"tx":`, o.Tx)
	b = appendNumber(b, `,"ts":`, o.TS)
	return appendNumber(b, `,"offset":`, o.To)
}

// appendAnswered appends what came back.
func (o *Op) appendAnswered(b []byte) []byte {
	b = appendText(b, `,"code":`, o.Code)
	b = appendNumber(b, `,"offset":`, o.Offset)
	if o.Outcome == OK && o.IsRead() {
		b = append(b, `,"records":[`...)
		for i, r := range o.Records {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendInt(append(b, '['), r.Offset, 10), ',')
			b = append(r.Value.append(b), ']')
		}
		b = append(b, ']')
	}
	b = appendNumber(b, `,"hw":`, o.HW)
	b = appendNumber(b, `,"lso":`, o.LSO)
	b = appendNumber(b, `,"start":`, o.Start)
	return appendNumber(b, `,"end":`, o.End)
}

// appendText appends a string if it is stated.
func appendText(b []byte, before, s string) []byte {
	if s == "" {
		return b
	}
	return appendQuoted(append(b, before...), s)
}

// appendJSON appends the header as the first line of events.
func (h *Header) appendJSON(b []byte) []byte {
	b = append(b, `{"history":1`...)
	if len(h.Config) > 0 {
		for i, s := range h.Config {
			b = append(b, [2]string{`,"config":{`, `,`}[min(i, 1)]...)
			b = appendQuoted(append(appendQuoted(b, s.Key), ':'), s.Value)
		}
		b = append(b, '}')
	}
	b = appendText(b, `,"expect":`, h.Expect.String())
	b = appendText(b, `,"note":`, h.Note)
	b = appendText(b, `,"schedule":`, h.Schedule)
	if len(h.layout) > 0 {
		for i, line := range h.layout {
			b = append(b, [2]string{`,"x-layout":[`, `,`}[min(i, 1)]...)
			b = appendQuoted(b, line)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// Encodings are the endings of the files [History.WriteFile] can write.
var Encodings = []string{".hist", ".jsonl", ".jsonl.gz", ".jsonl.zst"}

// WriteFile writes the history to a file in the encoding that its name ends
// in, one of [Encodings]. The file appears whole or not at all: what a failed
// write leaves behind is the file that was there before.
func (h *History) WriteFile(path string) error {
	return h.WriteFileContext(context.Background(), path)
}

// WriteFileContext is WriteFile that fails once ctx ends.
func (h *History) WriteFileContext(ctx context.Context, path string) error {
	i := slices.IndexFunc(Encodings, func(end string) bool { return strings.HasSuffix(path, end) })
	if i < 0 {
		return fmt.Errorf("%s: the name of a history ends in one of %s", path, strings.Join(Encodings, ", "))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path // which was asked for
	}
	if err != nil {
		return err
	}
	err = cmp.Or(h.encode(&contextWriter{ctx, f}, Encodings[i]), f.Chmod(0o644), f.Sync())
	err = cmp.Or(err, f.Close(), ctx.Err())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// A contextWriter refuses to write once its context has ended.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// encode writes the history in the encoding of that file ending.
func (h *History) encode(w io.Writer, end string) error {
	switch end {
	case ".hist":
		_, err := w.Write(h.AppendNotation(nil))
		return err
	case ".jsonl.gz":
		z := gzip.NewWriter(w)
		return cmp.Or(h.WriteEvents(z), z.Close())
	case ".jsonl.zst":
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		return cmp.Or(h.WriteEvents(z), z.Close())
	}
	return h.WriteEvents(w)
}

// Equal reports whether two histories have the same content: header, comments,
// operations and marks. Names and line numbers do not count.
func Equal(a, b *History) bool {
	return len(a.ops) == len(b.ops) && len(a.marks) == len(b.marks) &&
		string(a.AppendNotation(nil)) == string(b.AppendNotation(nil))
}
