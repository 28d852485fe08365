package histories_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/isrcheck/isrcheck/histories"
)

// TestCutOff cuts a file that says that it was written as it went at every
// byte, packed or not, and demands the history of the lines that are whole.
func TestCutOff(t *testing.T) {
	const header = `{"history":1,"config":{"x-written":"as-it-goes"}}` + "\n"
	lines := strings.SplitAfter(`{"time":1,"process":"P1","type":"invoke","f":"send","values":[1]}
{"time":2,"process":"P1","type":"ok","f":"send","values":[1],"offset":0}
{"time":3,"process":"C1","type":"invoke","f":"scan"}
{"time":4,"process":"C1","type":"ok","f":"scan","records":[[0,1]],"end":1}
`, "\n")
	whole := header + strings.Join(lines, "")
	for name, pack := range packings {
		packed := pack(t, whole)
		before := 0
		for n := len(pack(t, header)); n <= len(packed); n++ {
			h, err := histories.Read("cut", bytes.NewReader(packed[:n]))
			if err != nil {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(packed), err)
			}
			if got := events(h); got < before {
				t.Fatalf("%s: %d bytes hold %d events, and fewer held %d", name, n, got, before)
			} else {
				before = got
			}
			cut := n < len(packed) && notes(h, histories.CutOff) == 0 && !endsWhole(packings[name], t, header, lines, packed[:n])
			if cut || n == len(packed) && notes(h, histories.CutOff) != 0 {
				t.Fatalf("%s, %d of %d bytes: %d notes that the file is cut off", name, n, len(packed), notes(h, histories.CutOff))
			}
			r := &counting{}
			if err := histories.Stream("cut", bytes.NewReader(packed[:n]), r); err != nil || r.ops != len(h.Ops()) {
				t.Fatalf("%s, %d of %d bytes: %d operations in a stream, %d as a whole (%v)", name, n, len(packed), r.ops, len(h.Ops()), err)
			}
		}
		if before != 4 {
			t.Errorf("%s: %d events in all", name, before)
		}
		strict := pack(t, strings.Replace(whole, "as-it-goes", "at-the-end", 1))
		if _, err := histories.Read("cut", bytes.NewReader(strict[:len(strict)-5])); err == nil {
			t.Errorf("%s: a file is cut off, and does not say that it may be", name)
		}
	}
}

// packings make a member or frame of every line, as a recorder does.
var packings = map[string]func(*testing.T, string) []byte{
	"plain": func(_ *testing.T, text string) []byte { return []byte(text) },
	"gzip": func(t *testing.T, text string) []byte {
		return packLines(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	},
	"zstd": func(t *testing.T, text string) []byte {
		return packLines(t, text, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	},
}

func packLines(t *testing.T, text string, packer func(io.Writer) (io.WriteCloser, error)) []byte {
	var out bytes.Buffer
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line == "" {
			continue
		}
		z, err := packer(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(z, line); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func events(h *histories.History) int {
	n := 0
	for _, o := range h.Ops() {
		n++
		if o.Outcome != histories.Open {
			n++
		}
	}
	return n
}

// endsWhole reports whether a cut fell between two lines: then nothing shows it.
func endsWhole(pack func(*testing.T, string) []byte, t *testing.T, header string, lines []string, cut []byte) bool {
	for n := range lines {
		if bytes.Equal(cut, pack(t, header+strings.Join(lines[:n], ""))) {
			return true
		}
	}
	return false
}

func notes(h *histories.History, text string) (n int) {
	for _, m := range h.Marks() {
		if m.Kind == histories.Note && m.Text == text {
			n++
		}
	}
	return n
}

// counting counts what a stream hands over.
type counting struct{ ops int }

func (c *counting) Header(histories.Header) bool { return true }
func (c *counting) Op(*histories.Op, int) bool   { c.ops++; return true }
func (c *counting) Mark(*histories.Mark) bool    { return true }
