// Package draw helps to draw histories and schedules with rapid. Rapid's own
// ranges favour small numbers and first elements; a good mix of faults and
// operations needs choices that are about equally likely.
package draw

import (
	"math/bits"

	"pgregory.net/rapid"
)

// Int draws an integer from lo to hi, each about as likely as the others. It
// shrinks towards lo.
func Int(t *rapid.T, lo, hi int, label string) int {
	n := 0
	for range wide(lo, hi) {
		n <<= 1
		if bit.Draw(t, label) {
			n++
		}
	}
	return lo + n%(hi-lo+1)
}

var bit = rapid.Bool()

// wide is how many bits an integer from lo to hi is made of.
func wide(lo, hi int) int { return bits.Len(uint(hi-lo)) + 2 }

// From draws one of the items, each about as likely as the others. It shrinks
// towards the first.
func From[T any](t *rapid.T, label string, items ...T) T {
	return items[Int(t, 0, len(items)-1, label)]
}

// OneIn reports true about once in n times. It shrinks towards false.
func OneIn(t *rapid.T, n int, label string) bool { return Int(t, 0, n-1, label) == n-1 }
