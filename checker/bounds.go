package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/model"
)

// A bound says when the end of the log reaches an offset, at the earliest or at
// the latest, and which operation says so.
type bound struct {
	offset, time int64
	by           *model.Op
}

// Bounds are sorted by offset, and their times increase with it.
type bounds []bound

// tightest keeps the bounds that do not follow from another, in order of
// offsets: of lower bounds (sign 1) those later than all for lower offsets, of
// upper bounds (sign -1), in falling order, those earlier than all for higher
// ones.
func (b bounds) tightest(sign int) bounds {
	slices.SortStableFunc(b, func(x, y bound) int {
		return cmp.Or(sign*cmp.Compare(x.offset, y.offset), -sign*cmp.Compare(x.time, y.time))
	})
	kept := b[:0]
	for _, x := range b {
		if n := len(kept); n == 0 || sign*cmp.Compare(x.time, kept[n-1].time) > 0 {
			kept = append(kept, x)
		}
	}
	return kept
}

// from returns the index of the first bound at or behind an offset.
func (b bounds) from(offset int64) int {
	return sort.Search(len(b), func(i int) bool { return b[i].offset >= offset })
}

// upTo returns the last bound at or before an offset, nil if there is none.
func (b bounds) upTo(offset int64) *bound {
	if i := sort.Search(len(b), func(i int) bool { return b[i].offset > offset }); i > 0 {
		return &b[i-1]
	}
	return nil
}
