package histories

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	all, err := Corpus()
	if err != nil {
		t.Fatal(err)
	}
	h := all[len(all)-1]
	first := map[string]string{".hist": "# ", ".jsonl": "{", ".jsonl.gz": "\x1f\x8b", ".jsonl.zst": "\x28\xb5\x2f\xfd"}
	for _, end := range Encodings {
		t.Run(end, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "h"+end)
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			named, err := h.WithHeader(Header{layout: []string{"# first", "history"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := named.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(data), first[end]) {
				t.Errorf("the file begins with %q", data[:4])
			}
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !Equal(named, got) || got.Name() != path {
				t.Errorf("%s holds another history", got.Name())
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
				t.Errorf("%v: the folder holds %v, want one file", err, files)
			}
		})
	}
}

func TestWriteFileFails(t *testing.T) {
	h, err := New("h", Header{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := h.WriteFile(filepath.Join(dir, "h.json")); err == nil || !strings.Contains(err.Error(), ".hist, .jsonl, .jsonl.gz, .jsonl.zst") {
		t.Errorf("got the error %v, want one that names the encodings", err)
	}
	if err := h.WriteFile(filepath.Join(dir, "absent", "h.hist")); err == nil {
		t.Error("a file appears in a folder that does not exist")
	}
	taken := filepath.Join(dir, "taken.hist", "by")
	if err := os.MkdirAll(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteFile(filepath.Dir(taken)); err == nil {
		t.Error("a file replaces a folder")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v: failed writes leave %v", err, files)
	}
	if _, err := ReadFile(filepath.Join(dir, "absent.hist")); !os.IsNotExist(err) {
		t.Errorf("got the error %v for a file that does not exist", err)
	}
}

func TestEventReader(t *testing.T) {
	all, err := Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		text := h.AppendEvents(nil)
		var written bytes.Buffer
		if err := h.WriteEvents(&written); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, written.Bytes()) {
			t.Errorf("%s: WriteEvents and AppendEvents differ", h.Name())
		}
		r, err := NewEventReader(h.Name(), bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Header().Expect.String(), h.Header().Expect.String(); got != want {
			t.Errorf("%s: header expects %q, want %q", h.Name(), got, want)
		}
		counts := make(map[EventType]int)
		last := int64(0)
		for {
			e, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			counts[e.Type]++
			time := map[EventType]int64{Invoked: e.Op.Call, Completed: e.Op.Return, Marked: e.Mark.Time, Commented: last}[e.Type]
			if time < last {
				t.Fatalf("%s:%d: an event at %d behind one at %d", h.Name(), e.Line, time, last)
			}
			last = time
		}
		open := 0
		for _, o := range h.Ops() {
			if o.Outcome == Open {
				open++
			}
		}
		if counts[Invoked] != len(h.Ops()) || counts[Completed] != len(h.Ops())-open || counts[Marked] != len(h.Marks()) || counts[Commented] != len(h.comments) {
			t.Errorf("%s: %d operations, %d of them open, and %d marks are written as %v", h.Name(), len(h.Ops()), open, len(h.Marks()), counts)
		}
	}
}

// TestLongLines says that a line may be long if it is one answer.
func TestLongLines(t *testing.T) {
	const records = 200_000
	scan := NewOp("C1", Scan)
	scan.Outcome, scan.Return = OK, 1
	for i := range int64(records) {
		scan.Records = append(scan.Records, Record{i, Int(i)})
	}
	h, err := New("scan", Header{}, []Op{scan}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{h.AppendNotation(nil), h.AppendEvents(nil)} {
		got, err := Parse("scan", text)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Ops()[0].Records); n != records {
			t.Errorf("read %d records, want %d", n, records)
		}
	}
}

// TestScheduleLine lets errors in a schedule point into the file.
func TestScheduleLine(t *testing.T) {
	h, err := Parse("x", []byte("history 1\n# why\n\nschedule\nset a=b\nend\n"))
	if err != nil {
		t.Fatal(err)
	}
	if hd := h.Header(); hd.ScheduleLine() != 5 {
		t.Errorf("the schedule begins in line %d, want 5", hd.ScheduleLine())
	}
	events, err := Parse("x", h.AppendEvents(nil))
	if err != nil {
		t.Fatal(err)
	}
	if hd := events.Header(); hd.ScheduleLine() != 0 {
		t.Errorf("the schedule begins in line %d of events, want 0", hd.ScheduleLine())
	}
}

// TestWriteFileStops leaves what was there, and nothing else, when it has to
// stop.
func TestWriteFileStops(t *testing.T) {
	h, err := Parse("x", []byte("history 1\n1-2 P1 send 1 => ok @0\n"))
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, end := range Encodings {
		dir := t.TempDir()
		path := filepath.Join(dir, "out"+end)
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.WriteFileContext(stopped, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that the context was cancelled", end, err)
		}
		text, _ := os.ReadFile(path)
		if left, _ := os.ReadDir(dir); len(left) != 1 || string(text) != "before" {
			t.Errorf("%s: %d files are left, and %q in the one that was there", end, len(left), text)
		}
	}
}
