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
// Of a named finding what is left is no violation at all, where it would be said
// in other words.
func TestDeletionsStayLegal(t *testing.T) {
	parts, n := 0, drawn(t, 6_000)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := drawOptions(t, 12)
			h := build(t, opt, modeltest.Legal(t, opt))
			name := draw.From(t, "finding", notLinearizable, notLinearizable, "gap", lostWrite, lostWrite)
			legal := &Result{Verdict: Violates, Findings: []Finding{{Name: name, Partition: histories.DefaultPartition}}}
			m := newShortening(context.Background(), h, legal, MinimizeOptions{})
			m.strict = name == lostWrite
			for range 3 {
				part := drawPart(t, m)
				if part == nil {
					continue
				}
				parts++
				r := Check(context.Background(), part, Options{})
				if r.Verdict == Violates && (m.strict || slices.Contains(r.Names(), name)) {
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

// TestDeletionsKeepPositions deletes in every way from a legal history in which a
// consumer goes back since it was told to. What is left is legal.
func TestDeletionsKeepPositions(t *testing.T) {
	h, err := histories.Parse("seeks", []byte(`history 1
config acks=all auto.offset.reset=earliest
1-2 P1 send 1,2 => ok @0
3-4 C1 assign from=0 => ok
5-6 C1 poll => ok [0:1 1:2]
7-8 C1 seek 0 => ok
9-10 C1 poll => ok [0:1]
11-12 C1 poll => fail
13-14 C1 poll => ok [1:2]
15- C1 poll
17-18 "C1'" seek 0 => ok
19-20 "C1'" poll => ok [0:1]
`))
	if err != nil {
		t.Fatal(err)
	}
	legal := &Result{Verdict: Violates, Findings: []Finding{{Name: lostWrite, Partition: histories.DefaultPartition}}}
	m := newShortening(context.Background(), h, legal, MinimizeOptions{})
	m.strict = true
	for parts := range 1 << len(h.Ops()) {
		k := kept{make([]bool, len(m.gone)), m.dropped, true}
		for i := range k.gone {
			k.gone[i] = parts>>i&1 == 1
		}
		if k, ok := m.sound(k); ok {
			if part := m.part(k); part != nil {
				if r := Check(context.Background(), part, Options{}); r.Verdict == Violates {
					t.Fatalf("%v\n%s", r.Err(), part.AppendNotation(nil))
				}
			}
		}
	}
}

// TestDeletionsKeepWhatIsCopied deletes in every way, and cuts everywhere, from a
// legal history in which only a copy of the first send explains an offset.
func TestDeletionsKeepWhatIsCopied(t *testing.T) {
	h, err := histories.Parse("copies", []byte(`history 1
config acks=all enable.idempotence=false offsets=dense
1-2 P1 send 1 => ok @0
3-4 C1 list latest => ok @2
5-6 P1 send 2 => ok @2
7-8 C1 fetch from=2 => ok [2:2]
`))
	if err != nil {
		t.Fatal(err)
	}
	legal := &Result{Verdict: Violates, Findings: []Finding{{Name: notLinearizable, Partition: histories.DefaultPartition}}}
	m := newShortening(context.Background(), h, legal, MinimizeOptions{})
	tried := 0
	for parts := range 1 << len(h.Ops()) {
		for from := range int64(4) {
			if m.cut = uncut; from > 0 {
				m.cut.from = from
			}
			k := kept{make([]bool, len(m.gone)), m.dropped, false}
			for i := range k.gone {
				k.gone[i] = parts>>i&1 == 1
			}
			k, ok := m.sound(k)
			if !ok {
				continue
			}
			if part := m.part(k); part != nil {
				tried++
				if r := Check(context.Background(), part, Options{}); r.Verdict == Violates {
					t.Fatalf("%v\n%s", r.Err(), part.AppendNotation(nil))
				}
			}
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}
