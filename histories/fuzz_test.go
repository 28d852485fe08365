package histories

import "testing"

// FuzzNotation and FuzzEvents demand that no input makes a reader panic, and
// that what it accepts survives both printers.
func FuzzNotation(f *testing.F) { fuzz(f, (*History).AppendNotation) }

func FuzzEvents(f *testing.F) { fuzz(f, (*History).AppendEvents) }

func fuzz(f *testing.F, print func(*History, []byte) []byte) {
	all, err := Corpus()
	if err != nil {
		f.Fatal(err)
	}
	for _, h := range all {
		if len(h.Ops()) < 100 {
			f.Add(print(h, nil))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := Parse("x", text)
		if err != nil {
			var e *Error
			if e = err.(*Error); e.Line < 1 || e.Column < 1 || e.File != "x" {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		for _, again := range [][]byte{h.AppendNotation(nil), h.AppendEvents(nil)} {
			if g, err := Parse("x", again); err != nil || !same(h, g) {
				t.Errorf("%v: printed as\n%s", err, again)
			}
		}
	})
}
