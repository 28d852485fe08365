package matrix

import "strings"

// A permission is what a cell may show, in letters. Behind a bar stand those
// that are permitted only in runs which the protocol does not promise to survive:
// with an unclean election that the settings allow, or with the last replica
// standing, or enough of the eligible ones, losing records. The digit 1 is for
// what a send that was not acknowledged by all may suffer: L and O.
//
// A stale tail, unavailability and phantoms are permitted almost everywhere: in
// every cell that is not calm, written or not. Copies and disorder (X) are permitted
// exactly where sends are retried without idempotence, and the cell is not calm.
type permission string

// calm permits nothing at all.
const calm permission = "-"

// everywhere are the letters that only a calm cell forbids.
const everywhere = "SUP"

// Listed are the letters that a permission names, in their order: what honest
// schedules should be able to show.
func (p permission) listed() string {
	if p == notApplicable {
		return ""
	}
	named := strings.ReplaceAll(string(p), "1", "LO")
	var out strings.Builder
	for _, l := range Letters {
		if strings.Contains(named, l.Letter) {
			out.WriteString(l.Letter)
		}
	}
	return out.String()
}

// allows reports whether a run may show a letter.
func (p permission) allows(letter string, r *run) bool {
	if letter == "X" {
		return r.retried && p != calm
	}
	always, excused, _ := strings.Cut(string(p), "|")
	return p != calm && strings.Contains(everywhere, letter) ||
		strings.Contains(always, letter) ||
		r.weak && strings.Contains(always, "1") && strings.Contains("LO", letter) ||
		r.excused && strings.Contains(excused, letter)
}

// exceeds reports whether some run may show a letter by this permission, and not by
// another one, or only an excused run by that.
func (p permission) exceeds(other permission, letter string) bool {
	always, excused, _ := strings.Cut(strings.ReplaceAll(string(p), "1", "LO"), "|")
	otherAlways, otherExcused, _ := strings.Cut(string(other), "|")
	return p != notApplicable && !strings.Contains(otherAlways, letter) &&
		(strings.Contains(always, letter) || strings.Contains(excused, letter) && !strings.Contains(otherExcused, letter))
}
