package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// recordings returns the corpus's recordings of live systems in which nothing is
// found, not even what a setting permits.
func recordings(t *testing.T) []*histories.History {
	all, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	live := slices.DeleteFunc(all, func(h *histories.History) bool {
		return !strings.HasPrefix(h.Header().Note, "source=") || len(Check(t.Context(), h, Options{}).Findings) > 0
	})
	if len(live) == 0 {
		t.Fatal("the corpus has no recording of a live system")
	}
	return live
}

// spoil returns a copy of a history in which a change was made to the records
// of its final scan.
func spoil(t *testing.T, h *histories.History, change func([]histories.Record) []histories.Record) *histories.History {
	ops := slices.Clone(h.Ops())
	for i := range ops {
		if ops[i].Kind == histories.Scan {
			ops[i].Records = change(slices.Clone(ops[i].Records))
		}
	}
	spoiled, err := histories.New(h.Name(), h.Header(), ops, h.Marks())
	if err != nil {
		t.Fatal(err)
	}
	return spoiled
}

// TestSpoiledRecordings damages recordings that are fine, at their beginning,
// middle and end. Each copy is a violation whose first finding names the
// damaged record.
func TestSpoiledRecordings(t *testing.T) {
	damages := []struct {
		name   string
		change func(records []histories.Record, i int) []histories.Record
	}{
		{"record taken out", func(r []histories.Record, i int) []histories.Record { return slices.Delete(r, i, i+1) }},
		{"records swapped", func(r []histories.Record, i int) []histories.Record {
			j := i + 1
			if j == len(r) {
				j = i - 1
			}
			r[i].Value, r[j].Value = r[j].Value, r[i].Value
			return r
		}},
		{"value changed", func(r []histories.Record, i int) []histories.Record {
			r[i].Value = histories.Int(1_000_000_000)
			return r
		}},
		{"value repeated", func(r []histories.Record, i int) []histories.Record {
			r[i].Value = r[(i+7)%len(r)].Value
			return r
		}},
	}
	for _, h := range recordings(t) {
		var records []histories.Record
		for _, o := range h.Ops() {
			if o.Kind == histories.Scan {
				records = o.Records
			}
		}
		n := len(records)
		for _, d := range damages {
			for _, i := range []int{0, 1, n / 2, n - 2, n - 1} {
				t.Run(fmt.Sprintf("%s/%s at %d", h.Name(), d.name, i), func(t *testing.T) {
					spoiled := spoil(t, h, func(r []histories.Record) []histories.Record { return d.change(r, i) })
					got := Check(context.Background(), spoiled, Options{})
					if got.Verdict != Violates {
						t.Fatalf("verdict %s (%s)", got.Verdict, got.Reason)
					}
					record := fmt.Sprintf("record %s", records[i].Value)
					if !slices.ContainsFunc(got.Findings, func(f Finding) bool { return strings.Contains(strings.ToLower(f.Says)+" ", record+" ") }) {
						t.Errorf("no finding names %s: %s", record, got.Findings[0].Says)
					}
				})
			}
		}
	}
}
