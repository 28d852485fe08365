package checker

import (
	"context"
	"testing"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// TestCorruptions sees that each way to spoil a history is drawn and changes
// verdicts, if anybody is promised what it changes.
func TestCorruptions(t *testing.T) {
	drawn, changed := map[string]int{}, map[string]int{}
	// Counted over the same draws everywhere: which ones are lucky must not matter.
	once := rapid.Custom(func(t *rapid.T) bool {
		for range 6 {
			opt := drawOptions(t, 10)
			opt.Isolated, opt.Deletes = draw.OneIn(t, 2, "isolated"), draw.OneIn(t, 2, "deletes")
			legal := modeltest.Legal(t, opt)
			before := Check(context.Background(), build(t, opt, legal), Options{})
			for _, c := range modeltest.Corruptions {
				tries := 1
				if !c.Idle && changed[c.Name] == 0 { // a time, or where a consumer seeks to, hardly ever decides
					tries = 10
				}
				for range tries {
					ops, ok := c.Apply(t, legal)
					if !ok || !wellFormed(ops) {
						continue
					}
					drawn[c.Name]++
					if Check(context.Background(), build(t, opt, ops), Options{}).Verdict != before.Verdict {
						changed[c.Name]++
					}
				}
			}
		}
		return true
	})
	for seed := range 60 {
		once.Example(seed)
	}
	t.Logf("of %v verdicts changed %v", drawn, changed)
	for _, c := range modeltest.Corruptions {
		if drawn[c.Name] == 0 || c.Idle != (changed[c.Name] == 0) {
			t.Errorf("%s: %d drawn, %d verdicts changed; idle is %v", c.Name, drawn[c.Name], changed[c.Name], c.Idle)
		}
	}
}
