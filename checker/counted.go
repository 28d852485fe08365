package checker

import "strconv"

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
