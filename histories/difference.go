package histories

import (
	"bytes"
	"fmt"
)

// Difference says how what clients saw and what went wrong in a run differ from
// what was saved, at the first line that does. It is "" if they are the same.
func Difference(saved, now *History) string {
	a, b := itemLines(saved), itemLines(now)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("the run goes on where the saved history ends: %s", b[i])
		case i >= len(b):
			return fmt.Sprintf("the run ends where the saved history goes on: %s", a[i])
		case !bytes.Equal(a[i], b[i]):
			return fmt.Sprintf("the run has %q where the saved history has %q", b[i], a[i])
		}
	}
	return ""
}

func itemLines(h *History) [][]byte {
	var out [][]byte
	ops, marks := h.Ops(), h.Marks()
	for len(ops) > 0 || len(marks) > 0 {
		if len(ops) == 0 || len(marks) > 0 && marks[0].Index < ops[0].Index {
			out = append(out, []byte(marks[0].String()))
			marks = marks[1:]
			continue
		}
		out = append(out, []byte(ops[0].String()))
		ops = ops[1:]
	}
	return out
}
