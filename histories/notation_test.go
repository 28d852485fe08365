package histories

import (
	"io/fs"
	"path"
	"testing"
)

// TestCasesAreCanonical says that reading and printing a hand-written case
// gives the same bytes, and so does a detour through events.
func TestCasesAreCanonical(t *testing.T) {
	cases := 0
	err := fs.WalkDir(corpus, "corpus", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".hist" {
			return err
		}
		cases++
		text, err := fs.ReadFile(corpus, name)
		if err != nil {
			return err
		}
		h, err := Parse(name, text)
		if err != nil {
			return err
		}
		if got := h.AppendNotation(nil); string(got) != string(text) {
			t.Errorf("%s is printed as\n%s\nwant\n%s", name, got, text)
		}
		e, err := Parse(name, h.AppendEvents(nil))
		if err != nil {
			return err
		}
		if got := e.AppendNotation(nil); string(got) != string(text) {
			t.Errorf("%s comes back from events as\n%s\nwant\n%s", name, got, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if cases < 42 {
		t.Errorf("found %d cases, want at least 42", cases)
	}
}
