package histories

import (
	"bytes"
	"strings"
	"testing"
)

// benchmark returns the largest recording of the corpus.
func benchmark(b *testing.B) *History {
	all, err := Corpus()
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range all {
		if strings.Contains(h.Name(), "jetstream-faults") {
			return h
		}
	}
	b.Fatal("the corpus has no recording")
	return nil
}

func BenchmarkParse(b *testing.B) {
	h := benchmark(b)
	for name, text := range map[string][]byte{"notation": h.AppendNotation(nil), "events": h.AppendEvents(nil)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read("x", bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	h := benchmark(b)
	for name, print := range map[string]func(*History, []byte) []byte{"notation": (*History).AppendNotation, "events": (*History).AppendEvents} {
		b.Run(name, func(b *testing.B) {
			var text []byte
			for b.Loop() {
				text = print(h, text[:0])
			}
			b.SetBytes(int64(len(text)))
		})
	}
}
