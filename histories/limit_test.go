package histories

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// packers pack a text that is repeated so many times.
var packers = map[string]func(t *testing.T, head, text string, times int) []byte{
	"plain": func(_ *testing.T, head, text string, times int) []byte {
		return []byte(head + strings.Repeat(text, times))
	},
	"gzip": func(t *testing.T, head, text string, times int) []byte {
		return packed(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, head, text, times)
	},
	"zstd": func(t *testing.T, head, text string, times int) []byte {
		return packed(t, func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		}, head, text, times)
	},
}

func packed(t *testing.T, open func(io.Writer) (io.WriteCloser, error), head, text string, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, head)
	for range times {
		io.WriteString(w, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ignore is a sink that wants everything.
type ignore struct{}

func (ignore) Header(Header) bool { return true }
func (ignore) Op(*Op, int) bool   { return true }
func (ignore) Mark(*Mark) bool    { return true }

// TestLimit reads files at their limit and beyond, at once and while they are
// streamed.
func TestLimit(t *testing.T) {
	const fault = `{"time":1,"process":"nemesis","type":"info","f":"restart"}` + "\n"
	for name, pack := range packers {
		for _, head := range []string{"{\"history\":1}\n", "history 1\n"} {
			text := fault
			if head[0] == 'h' {
				text = "1 nemesis restart\n"
			}
			const times = 1000
			data := pack(t, head, text, times)
			size := Limit(len(head) + times*len(text))
			if h, err := size.Read("x", bytes.NewReader(data)); err != nil || len(h.Marks()) != times {
				t.Errorf("%s: at the limit: %v", name, err)
			}
			_, err := (size - 1).Read("x", bytes.NewReader(data))
			if !errors.Is(err, ErrTooLong) {
				t.Errorf("%s: above the limit: %v", name, err)
			}
			demand(t, err, "x:1001:")
			if err = size.Stream("x", bytes.NewReader(data), ignore{}); (err == nil) != (head[0] == '{') {
				t.Errorf("%s: streamed at the limit: %v", name, err)
			}
			if err = (size - 1).Stream("x", bytes.NewReader(data), ignore{}); errors.Is(err, ErrTooLong) != (head[0] == '{') {
				t.Errorf("%s: streamed above the limit: %v", name, err)
			}
		}
	}
}

// TestBombs reads what unpacks to much more than it is: an error, and memory in
// proportion to the data and not to what it would become.
func TestBombs(t *testing.T) {
	for i, bomb := range []struct{ head, text string }{
		{"history 1\n", strings.Repeat("\n", 1<<16)},
		{"history 1\n", strings.Repeat(" ", 1<<16)},
		{"history 1\n1-2 P1 send 1", strings.Repeat(",1", 1<<15)},
		{"history 1\n1-2 S1 scan => ok [", strings.Repeat("0:1 ", 1<<14)},
		{"history 1\n", strings.Repeat("1 nemesis a\n", 5000)},
		{"history 1\nnote a\n", strings.Repeat("note a\n", 9000)},
		{"{\"history\":1}\n", strings.Repeat(`{"time":1,"process":"nemesis","type":"info","f":"a"}`+"\n", 1200)},
		{"{\"history\":1}\n", strings.Repeat(`{"x-comment":""}`+"\n", 4000)},
		{"{\"history\":1}\n", strings.Repeat("\n", 1<<16)},
		{"{\"history\":1,\"x-\":", strings.Repeat("[", 1<<16)},
		{"", strings.Repeat("\x00", 1<<16)},
	} {
		name := []string{"gzip", "zstd"}[i%2]
		data := packers[name](t, bomb.head, bomb.text, 80) // 5 MiB
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read("x", bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		if err == nil || len(err.Error()) > 500 {
			t.Errorf("%s of %.30q...: %.300v", name, bomb.head+bomb.text, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
			t.Errorf("%s of %.30q...: %d bytes were allocated for %d", name, bomb.head+bomb.text, n, len(data))
		}
	}
}
