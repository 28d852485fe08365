package hunt

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// TestNotLiveIsAFinding judges a run that confesses that it never became calm.
func TestNotLiveIsAFinding(t *testing.T) {
	h, err := histories.Parse("stuck", []byte(`history 1
1-2 P1 send 1 => ok @0
3 nemesis crash broker=1 for=10
900 nemesis not live: t/0 has an incomplete ISR
901-902 S1 scan => ok [0:1] end=1
`))
	if err != nil {
		t.Fatal(err)
	}
	r := checker.Check(context.Background(), h, checker.Options{})
	if r.Verdict != checker.Violates || !slices.Equal(r.Names(), []string{NotLive}) {
		t.Errorf("%s %v, want a violation %s", r.Verdict, r.Names(), NotLive)
	}
	calm, err := withoutConfessions(h)
	if err != nil {
		t.Fatal(err)
	}
	if r := checker.Check(context.Background(), calm, checker.Options{}); r.Verdict != checker.Conforms {
		t.Errorf("judged by what clients saw alone: %v", r.Err())
	}
}
