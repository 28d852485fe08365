package checker

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Number is a number as people write it: "1,017".
func Number[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Counted is a number with its noun: "1 send", "1,017 sends".
func Counted[N int | int64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}

// ByCount returns the names, the most frequent first and of equals in their own order.
func ByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
}
