package matrix

import (
	"fmt"
	"io"
	"strings"
)

// weighty are the letters that §5 forbids wherever it does not list them.
const weighty = "LDOR"

// A correction is a reason why cells permit more than §5 of the protocol reference
// does. Schedules have shown each of them to be needed.
type correction struct {
	says   string
	covers func(column int, letter string) bool
}

// corrections are tried in this order.
var corrections = []correction{
	{"below acks=all an acknowledgement may be lost, which leaves its offset to somebody else, who may be told the same",
		func(c int, l string) bool { return c == c1 && l == "O" }},
	{"a planned move of a single replica loses what acks below all were told, as one of a leader does in C1",
		func(c int, _ string) bool { return c == c7 }},
	{"acks below all may suffer what they may in C1; and whatever ends a leader that the ISR had shrunk to, or all that are in sync, ends in an unclean election: then, and only then, so may acks=all",
		func(c int, _ string) bool { return c == c6 }},
	{"the last replica standing may lose everything that only it had: after that, and only then, all four are one story",
		func(c int, _ string) bool { return c <= c3 }},
	{"a crash counts as much as a loss: when all have crashed nobody is eligible, and the last known leader is elected even if it is the one that lost records. So one lossy broker is enough, if it is that one",
		func(c int, _ string) bool { return c == c4 || c == c5 }},
}

// A widening is what a correction does to cells.
type widening struct {
	correction *correction // nil if there is none
	letters    string
	rows       []string
	columns    []string // of all these rows
}

// widenings lists what the table permits and §5 does not, by correction.
func widenings() (out []*widening) {
	for i := range corrections {
		out = append(out, widened(&corrections[i])...)
	}
	return append(out, widened(nil)...)
}

// widened lists the cells in which a correction is the first to cover a letter, rows
// with the same letters and columns together.
func widened(by *correction) (out []*widening) {
	for i := range Faults {
		f := &Faults[i]
		cells := map[string][]string{} // columns by letters
		var order []string
		for c := range columns {
			letters := ""
			for _, l := range strings.Split(weighty, "") {
				if f.may[c].exceeds(f.published[c], l) && correctionOf(c, l) == by {
					letters += l
				}
			}
			if letters != "" && cells[letters] == nil {
				order = append(order, letters)
			}
			if letters != "" {
				cells[letters] = append(cells[letters], Configs[c].Name)
			}
		}
		for _, letters := range order {
			out = include(out, &widening{by, letters, []string{f.Name}, cells[letters]})
		}
	}
	return out
}

// include adds a widening of one row, to one that is like it if there is one.
func include(all []*widening, w *widening) []*widening {
	for _, like := range all {
		if like.letters == w.letters && strings.Join(like.columns, " ") == strings.Join(w.columns, " ") {
			like.rows = append(like.rows, w.rows...)
			return all
		}
	}
	return append(all, w)
}

func correctionOf(column int, letter string) *correction {
	for i := range corrections {
		if corrections[i].covers(column, letter) {
			return &corrections[i]
		}
	}
	return nil
}

// writeWider says where the table permits more than §5, and why.
func writeWider(w io.Writer) {
	fmt.Fprint(w, "\nThe protocol reference (kafka-replication.md, section 5) forbids L, D, O and R wherever it does not list them. These\ncells permit more of them, for schedules have shown that it is needed. S, U and P are permitted almost everywhere\nthere, and here in every cell but those of \"no fault\".\n\n")
	var last *correction
	for _, x := range widenings() {
		if x.correction != last {
			fmt.Fprintf(w, "- %s:\n", x.correction.says)
			last = x.correction
		}
		fmt.Fprintf(w, "  - **%s** in %s: %s\n", strings.Join(strings.Split(x.letters, ""), ", "), strings.Join(x.columns, ", "), strings.Join(x.rows, "; "))
	}
}
