package histories

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortByTime sorts lists that are nearly in order and such that are not at all.
func TestSortByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Mark {
			return Mark{Time: rapid.Int64Range(0, 30).Draw(t, "time"), Line: rapid.Int().Draw(t, "line")}
		}), 0, 60).Draw(t, "marks")
		if rapid.Bool().Draw(t, "nearly in order") {
			for i := range marks {
				marks[i].Time += int64(8 * i)
			}
		}
		want := slices.Clone(marks)
		slices.SortStableFunc(want, func(a, b Mark) int { return cmp.Compare(a.Time, b.Time) })
		sortByTime(marks, func(m *Mark) int64 { return m.Time })
		if !slices.Equal(marks, want) {
			t.Fatalf("%v, want %v", marks, want)
		}
	})
}
