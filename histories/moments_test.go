package histories

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestPrefixesAreThoseOfTheFile cuts histories off behind each event: the
// prefix is the history that the first lines of its file are.
func TestPrefixesAreThoseOfTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHistory().Draw(t, "history")
		h, err := New(h.Name(), Header{}, h.Ops(), h.Marks()) // without comments
		if err != nil {
			t.Fatal(err)
		}
		moments := h.Moments()
		text := h.AppendEvents(nil)
		lines := bytes.SplitAfter(text, []byte("\n"))
		if len(lines) != len(moments)+2 {
			t.Fatalf("%d events in\n%s", len(moments), text)
		}
		n := rapid.IntRange(0, len(moments)).Draw(t, "events")
		got, err := h.Prefix(moments[:n])
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse("prefix.jsonl", bytes.Join(lines[:n+1], nil))
		if err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Fatalf("%d events of\n%sare\n%sinstead of\n%s", n, text, got.AppendNotation(nil), want.AppendNotation(nil))
		}
		if read, err := Parse("whole.jsonl", text); err != nil || n > 0 && read.Moments()[n-1].Line() != n+1 {
			t.Fatalf("event %d is on line %d", n, read.Moments()[n-1].Line())
		}
		if n > 1 && moments[n-1].Time() < moments[n-2].Time() {
			t.Fatalf("event %d is before the one before it", n)
		}
	})
}
