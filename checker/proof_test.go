package checker

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"pgregory.net/rapid"
)

// unproven returns the findings of a history that the operations they name,
// with what these depend on, do not show alone, or that name too many.
func unproven(h *histories.History, r *Result) []Finding {
	var bad []Finding
	for _, f := range r.Findings {
		if f.Allowed != "" {
			continue
		}
		m := newShortening(context.Background(), h, r, MinimizeOptions{})
		m.target = f
		if n := len(f.Evidence); n == 0 || n > mostNamed || !proves(m) {
			bad = append(bad, f)
		}
	}
	return bad
}

// proves reports whether a part of a handful of operations breaks the same rule
// on the same partition.
func proves(m *shortening) bool {
	for k := range m.proofs() {
		part := m.part(k)
		if part == nil {
			continue
		}
		if slices.ContainsFunc(Check(context.Background(), part, Options{}).Findings, func(f Finding) bool {
			return f.Allowed == "" && f.Name == m.target.Name && f.Partition == m.target.Partition
		}) {
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
