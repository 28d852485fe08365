package checker

import (
	"context"
	"reflect"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestTerse judges the corpus tersely: all that is left out is what permitted
// findings say, where there are no others.
func TestTerse(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	terse := 0
	for _, h := range cases {
		full, brief := Check(context.Background(), h, Options{Engine: Both}), Check(context.Background(), h, Options{Engine: Both, Terse: true})
		for i := range brief.Findings {
			if f := &brief.Findings[i]; f.Says == "" && f.Allowed != "" && full.Verdict != Violates {
				terse++
			}
		}
		brief.show()
		if !reflect.DeepEqual(full, brief) {
			t.Errorf("%s: tersely\n%+v\nin full\n%+v", h.Name(), brief, full)
		}
	}
	if terse == 0 {
		t.Error("no case has a permitted finding that was left unsaid")
	}
}
