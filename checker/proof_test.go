package checker

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"pgregory.net/rapid"
)

// unproven returns the findings of a history that the operations they name do not
// show, or that name too many: those of a named rule by these operations alone, as a
// history under the same header, or with a dependency; others with all that they
// depend on.
func unproven(h *histories.History, r *Result) []Finding {
	var bad []Finding
	for _, f := range r.Findings {
		if f.Allowed != "" {
			continue
		}
		m := newShortening(context.Background(), h, r, MinimizeOptions{})
		m.target = f
		shown := f.Name == notLinearizable && proves(m) || standsAlone(m)
		if n := len(f.Evidence); n == 0 || n > mostNamed || !shown {
			bad = append(bad, f)
		}
	}
	return bad
}

// A dependency is what a finding may need beside the operations that it names.
type dependency struct {
	why string
	add func(m *shortening, items []bool) []bool
}

var dependencies = []dependency{
	{"nothing", func(_ *shortening, items []bool) []bool { return items }},
	{"where a group assigns partitions, positions are judged only if a rebalance is recorded: any one", func(m *shortening, items []bool) []bool {
		for i := range m.whole.Marks() {
			if mark := &m.whole.Marks()[i]; isRebalance(mark) {
				items[mark.Index] = true
				break
			}
		}
		return items
	}},
	{"an operation of a transaction is in no history without its begin and its end", func(m *shortening, items []bool) []bool {
		m.transactions.frame(items)
		return items
	}},
	{"which records a reader passes as those of a transaction, and what may hold up a scan, the sends of the transactions tell; where a torn one names four operations, others tell the log start", func(m *shortening, items []bool) []bool {
		for i := range m.whole.Ops() {
			o := &m.whole.Ops()[i]
			items[o.Index] = items[o.Index] || o.Kind == histories.Send && o.Tx != "" || m.target.Name == "torn-transaction" && o.Kind == histories.List && o.At == "earliest"
		}
		m.transactions.frame(items)
		return items
	}},
	{"of transactions in a circle more than four operations have a part: the sends of what was read", func(m *shortening, items []bool) []bool {
		items = m.withSends(items, m.target.about)
		m.transactions.frame(items)
		return items
	}},
}

// standsAlone reports whether what a finding names breaks the same rule on the same
// partition, by itself or with a dependency. No record is taken out of an answer.
func standsAlone(m *shortening) bool {
	return slices.ContainsFunc(dependencies, func(d dependency) bool {
		items := make([]bool, len(m.gone))
		for _, e := range m.target.Evidence {
			items[e.Index] = true
		}
		h := m.untouched(d.add(m, items))
		return h != nil && m.isFoundIn(h)
	})
}

// untouched is the history of some operations and marks as they are.
func (m *shortening) untouched(items []bool) *histories.History {
	ops := slices.DeleteFunc(slices.Clone(m.whole.Ops()), func(o histories.Op) bool { return !items[o.Index] })
	marks := slices.DeleteFunc(slices.Clone(m.whole.Marks()), func(o histories.Mark) bool { return !items[o.Index] })
	header := m.whole.Header()
	header.Schedule = ""
	h, err := histories.New(m.whole.Name(), header, ops, marks)
	if err != nil {
		return nil
	}
	return h
}

func (m *shortening) isFoundIn(h *histories.History) bool {
	return slices.ContainsFunc(Check(context.Background(), h, Options{}).Findings, func(f Finding) bool {
		return f.Allowed == "" && f.Name == m.target.Name && f.Partition == m.target.Partition
	})
}

// proves reports whether a part of a handful of operations breaks the same rule
// on the same partition.
func proves(m *shortening) bool {
	for k := range m.proofs() {
		if part := m.part(k); part != nil && m.isFoundIn(part) {
			return true
		}
	}
	return false
}

// TestNamedOperationsProveFindings takes every finding of the corpus alone.
func TestNamedOperationsProveFindings(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		for _, f := range unproven(h, Check(context.Background(), h, Options{})) {
			t.Errorf("%s: %s, %s: %v", h.Name(), f.Name, f.Says, f.Evidence)
		}
	}
}

// TestNamedOperationsProve does the same for what is found in corrupted histories.
// In a history that is wrong in three places at once a named operation may be seen
// in another light; that is rare.
func TestNamedOperationsProve(t *testing.T) {
	proven, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 4 {
			h := drawCorrupted(t, 10)
			if h == nil {
				continue
			}
			r := Check(context.Background(), h, Options{})
			for _, f := range unproven(h, r) {
				missed++
				t.Logf("%s, %s: %v\n%s", f.Name, f.Says, f.Evidence, h.AppendNotation(nil))
			}
			proven += len(r.Findings)
		}
	})
	t.Logf("%d findings, %d of which need more", proven, missed)
	if missed > 4+proven/200 { // of few, what two histories have
		t.Errorf("%d of %d findings are not proven by what they name", missed, proven)
	}
}

// TestDutiesCanBeDone demands that no answer should have held what was sent after
// it.
func TestDutiesCanBeDone(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		for _, f := range Check(context.Background(), h, Options{}).Findings {
			for _, e := range f.Evidence {
				o := opAt(h.Ops(), e.Index)
				if o == nil || !strings.HasPrefix(e.Should, "held record ") {
					continue
				}
				for i := range h.Ops() {
					if s := &h.Ops()[i]; s.Kind == histories.Send && s.Call > o.Return && strings.HasPrefix(e.Should, "held record "+s.Values[0].String()+" ") && len(s.Values) == 1 {
						t.Errorf("%s: %s: %s (time %d) should have %s, which was sent at %d", h.Name(), f.Name, e.Text, o.Return, e.Should, s.Call)
					}
				}
			}
		}
	}
}
