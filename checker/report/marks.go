package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// maxBetween is how many faults are drawn, first and last ones, that struck between
// the operations of the proof and far from each: one of them may be the cause.
const maxBetween = 200

// faultsOf draws the faults and notes of what is drawn, and the faults from the
// first operation of the proof to the last.
func (d *data) faultsOf(h *histories.History, drawn []stretch) {
	marks := h.Marks()
	var between []int
	if len(d.Proof) > 0 {
		first, last := slices.Min(d.Proof), slices.Max(d.Proof)
		for i := range marks {
			if m := &marks[i]; m.Kind == histories.Nemesis && first < m.Index && m.Index < last && !within(drawn, m.Index) {
				between = append(between, m.Index)
			}
		}
	}
	if n := len(between); n > maxBetween {
		between = slices.Concat(between[:maxBetween/2], between[n-maxBetween/2:])
	}
	ends := faultEnds(marks)
	for i := range marks {
		if _, found := slices.BinarySearch(between, marks[i].Index); found || within(drawn, marks[i].Index) {
			d.mark(&marks[i], ends)
		}
	}
}

// marksIn counts the marks that are drawn from one index to another.
func (d *data) marksIn(from, to int) (n int) {
	for _, m := range d.Marks {
		if from <= m.Index && m.Index < to {
			n++
		}
	}
	return n
}

func (d *data) mark(m *histories.Mark, ends map[int]int64) {
	_, text, _ := strings.Cut(m.String(), " ")
	one := mark{Index: m.Index, Line: m.Line, Time: m.Time, Kind: m.Kind.String(), Text: plain(strings.TrimPrefix(text, "nemesis "), textWidth)}
	if m.Kind == histories.Nemesis {
		one.Until = until(m, ends)
	}
	d.Marks = append(d.Marks, one)
}

// faultEnds finds the marks "end of X" of faults X, and says by the index of the
// fault's mark when it was over. Of equal faults the one that began last ends first.
func faultEnds(marks []histories.Mark) map[int]int64 {
	ends, open := map[int]int64{}, map[string][]int{}
	for i := range marks {
		m := &marks[i]
		if m.Kind != histories.Nemesis {
			continue
		}
		fault, isEnd := m.Ends()
		if !isEnd {
			open[m.Text] = append(open[m.Text], m.Index)
		} else if n := len(open[fault]); n > 0 {
			ends[open[fault][n-1]] = m.Time
			open[fault] = open[fault][:n-1]
		}
	}
	return ends
}

// until is when a fault ends: when a mark says so, or after for=N. Its end, which
// repeats its words, lasts no longer.
func until(m *histories.Mark, ends map[int]int64) *int64 {
	if _, over := m.Ends(); over {
		return nil
	}
	if end, ok := ends[m.Index]; ok {
		return &end
	}
	for _, word := range strings.Fields(m.Text) {
		if n, ok := strings.CutPrefix(word, "for="); ok {
			if last, err := strconv.ParseInt(n, 10, 64); err == nil && last > 0 && m.Time+last > m.Time {
				end := m.Time + last
				return &end
			}
		}
	}
	return nil
}
