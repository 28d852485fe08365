package checker

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// TestCheckFile compares the judgement of a file with that of its history, for
// every case of the corpus in both encodings, packed for one in ten.
func TestCheckFile(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	streamed := 0
	endings := []string{".hist", ".jsonl", ".jsonl.gz", ".jsonl.zst"}
	files := 0
	for i, h := range cases {
		some := endings[:2]
		if i%10 == 0 { // packing takes most of the time, and says nothing of a case
			some = endings
		}
		for _, ending := range some {
			files++
			path := filepath.Join(dir, "case"+ending)
			if err := h.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			compareFile(t, path)
			if r, _, _ := checkStream(context.Background(), path, Options{}); r != nil {
				streamed++
			}
		}
	}
	if streamed < files/13 {
		t.Errorf("only %d files were judged while they were read", streamed)
	}
}

func compareFile(t interface {
	Helper()
	Fatalf(string, ...any)
}, path string) {
	t.Helper()
	h, err := histories.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	want := Check(context.Background(), h, Options{})
	Explain(context.Background(), h, want, Options{})
	got, _, err := CheckFile(context.Background(), path, Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: the file is judged\n%+v\nits history\n%+v", path, got, want)
	}
}

// TestCheckFileOnDrawnHistories does the same for drawn histories.
func TestCheckFileOnDrawnHistories(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		opt := drawOptions(t, 12)
		ops := modeltest.Legal(t, opt)
		for range draw.Int(t, 0, 1, "corruptions") {
			ops = modeltest.Corrupt(t, ops)
		}
		if !wellFormed(ops) {
			return
		}
		path := filepath.Join(dir, "drawn.jsonl")
		if err := build(t, opt, ops).WriteFile(path); err != nil {
			t.Fatalf("%v", err)
		}
		compareFile(t, path)
	})
}
