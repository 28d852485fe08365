package draw

import (
	"math/bits"

	"pgregory.net/rapid"
)

// A Source makes choices.
type Source interface {
	// Int chooses an integer from lo to hi, each about as likely as the others.
	Int(lo, hi int, label string) int
	// Order puts a copy of the items in some order.
	Order(items []string, label string) []string
}

// Rapid returns the source of a property: what is chosen can be shrunk.
func Rapid(t *rapid.T) Source { return byRapid{t} }

type byRapid struct{ t *rapid.T }

func (r byRapid) Int(lo, hi int, label string) int { return Int(r.t, lo, hi, label) }

func (r byRapid) Order(items []string, label string) []string {
	return rapid.Permutation(items).Draw(r.t, label)
}

// A Stream chooses what rapid's Example of the same seed chooses, and nothing
// can be shrunk: it keeps no account of its choices, which takes rapid ten times as
// long. It is Bob Jenkins's small generator of 64 bits, three rotations (JSF64,
// burtleburtle.net/bob/rand/smallprng.html).
type Stream struct{ a, b, c, d uint64 }

// NewStream returns the stream of a seed.
func NewStream(seed uint64) *Stream {
	s := &Stream{0xf1ea5eed, seed, seed, seed}
	for range 20 {
		s.next()
	}
	return s
}

func (s *Stream) next() uint64 {
	e := s.a - bits.RotateLeft64(s.b, 7)
	s.a = s.b ^ bits.RotateLeft64(s.c, 13)
	s.b = s.c + bits.RotateLeft64(s.d, 37)
	s.c = s.d + e
	s.d = e + s.a
	return s.d
}

// Int implements [Source].
func (s *Stream) Int(lo, hi int, _ string) int {
	n := 0
	for range wide(lo, hi) {
		n = n<<1 | int(s.next()&1)
	}
	return lo + n%(hi-lo+1)
}

// Order implements [Source]. Before each exchange, and at the end, rapid flips a
// coin that has one side.
func (s *Stream) Order(items []string, _ string) []string {
	out := append([]string(nil), items...)
	for i := range len(out) - 1 {
		s.next()
		j := i + s.below(len(out)-i)
		out[i], out[j] = out[j], out[i]
	}
	s.next()
	return out
}

// below is an integer from 0 to n-1, each exactly as likely as the others.
func (s *Stream) below(n int) int {
	mask := uint64(1)<<bits.Len(uint(n-1)) - 1
	for {
		if u := s.next() & mask; u < uint64(n) {
			return int(u)
		}
	}
}
