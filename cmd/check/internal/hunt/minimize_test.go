package hunt

import (
	"context"
	"slices"
	"testing"
)

// TestMinimizeByClientsAlone makes cases small that only clients can tell: they
// are short, and no step of them can be left out.
func TestMinimizeByClientsAlone(t *testing.T) {
	ctx := context.Background()
	u := Setup{NoInvariants: true}
	for _, bug := range []string{"ack-before-commit", "truncate-to-high-watermark", "watermark-before-truncation"} {
		r, err := Run(ctx, Options{Runs: 3000, Seed: 3, Bug: bug, Setup: u})
		if err != nil || r.Failed == nil {
			t.Fatalf("%s is not found, %v", bug, err)
		}
		small, _, err := u.Minimize(ctx, r.Failed, 3000)
		if err != nil {
			t.Fatal(err)
		}
		rule, steps := r.Failed.Rule(), small.Schedule.Steps
		if !small.Has(rule) || len(steps) > 8 {
			t.Errorf("%s: %v in %d steps, want %s in 8 at most\n%s", bug, small.Result.Names(), len(steps), rule, small.Schedule)
		}
		for i := range steps {
			s := small.Schedule
			s.Steps = slices.Delete(slices.Clone(steps), i, i+1)
			if c, err := u.Try(ctx, s); err != nil || c.Has(rule) && u.isFine(ctx, cured(s)) {
				t.Errorf("%s: step %d of the case can be left out, %v\n%s", bug, i+1, err, small.Schedule)
			}
		}
	}
}
