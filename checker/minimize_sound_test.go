package checker

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// TestDeletionsStayLegal deletes from legal histories what minimizing may delete
// where it looks for less of what only the engines, or a hole, show. Nothing that
// is left is a violation of that kind: what was taken away is never what is wrong.
func TestDeletionsStayLegal(t *testing.T) {
	parts, n := 0, drawn(t, 6_000)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := drawOptions(t, 12)
			h := build(t, opt, modeltest.Legal(t, opt))
			name := draw.From(t, "finding", notLinearizable, notLinearizable, "gap")
			legal := &Result{Verdict: Violates, Findings: []Finding{{Name: name, Partition: histories.DefaultPartition}}}
			m := newShortening(context.Background(), h, legal, MinimizeOptions{})
			for range 3 {
				part := drawPart(t, m)
				if part == nil {
					continue
				}
				parts++
				r := Check(context.Background(), part, Options{})
				if r.Verdict == Violates && slices.Contains(r.Names(), name) {
					t.Fatalf("%v\n%sis left of the legal\n%s", r.Err(), part.AppendNotation(nil), h.AppendNotation(nil))
				}
			}
		}
	})
	t.Logf("%d parts", parts)
}

// drawPart deletes some items and values, or cuts off offsets; nil if that is not to
// be tried.
func drawPart(t *rapid.T, m *shortening) *histories.History {
	k := kept{slices.Clone(m.gone), map[histories.Value]bool{}, draw.OneIn(t, 3, "sparse")}
	often := draw.Int(t, 1, 6, "often")
	for i := range k.gone {
		k.gone[i] = draw.OneIn(t, often, "gone")
	}
	m.cut = uncut
	froms, tos := m.edges()
	if m.packed(k.sparse) {
		if len(froms) > 0 && draw.OneIn(t, 2, "cut below") {
			m.cut.from = draw.From(t, "from", froms...)
		}
		if len(tos) > 0 && draw.OneIn(t, 2, "cut behind") {
			m.cut.to = draw.From(t, "to", tos...)
		}
	} else {
		for _, v := range m.values() {
			k.dropped[v] = draw.OneIn(t, 4, "dropped")
		}
	}
	k, ok := m.sound(k)
	if !ok || m.cut.from >= m.cut.to {
		return nil
	}
	return m.part(k)
}
