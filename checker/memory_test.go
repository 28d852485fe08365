package checker

import (
	"context"
	"runtime"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/model"
)

// probe asks what is on the heap when a search is given up.
type probe struct {
	*search
	heap int64
}

func (p *probe) Step() bool {
	if p.search.Step() {
		return true
	}
	if p.heap == 0 {
		p.heap = heap()
	}
	return false
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryBudget compares the bytes that are counted with those that a search
// holds when it is given up for their number.
func TestMemoryBudget(t *testing.T) {
	for _, n := range []int{24, 100} {
		s := searchOf(adversarial(t, n))
		parts, c := divide(model.Compile(s.ops, s.options))
		if c != nil || len(parts) != 1 {
			t.Fatalf("%d parts and conflict %v, want one part to be searched", len(parts), c)
		}
		s.ctx, s.budget.Memory = context.Background(), 8<<20
		calls := parts[0].Operations()
		s.open(calls)
		p := &probe{search: s}
		before := heap()
		porcupine.CheckOperations(parts[0].CommittedLog(p), calls)
		if held := p.heap - before; held < 2<<20 || held > 10<<20 {
			t.Errorf("with %d sends a search of 8 MiB holds %d bytes when it is given up", n, held)
		}
	}
}
