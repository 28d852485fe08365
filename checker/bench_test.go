package checker

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// large makes a history for benchmarks.
func large(b testing.TB, load modeltest.Load) *histories.History {
	b.Helper()
	config := histories.Config{{Key: "acks", Value: "all"}, {Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"}, {Key: "enable.idempotence", Value: "true"}}
	h, err := histories.New("large", histories.Header{Config: config}, modeltest.Large(load), nil)
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// BenchmarkCheck judges large legal histories of 10 clients with 1 % unknown
// sends. Porcupine is asked only where it can answer at all.
func BenchmarkCheck(b *testing.B) {
	for _, engine := range []Engine{Auto, Linear, Porcupine} {
		for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 4_000_000} {
			if engine != Auto && n > 100_000 || engine == Porcupine && n > 10_000 {
				continue
			}
			b.Run(fmt.Sprintf("engine=%s/ops=%d", cmp.Or(string(engine), "auto"), n), func(b *testing.B) {
				h := large(b, modeltest.Load{Ops: n, Clients: 10, Unknown: 10})
				for b.Loop() {
					if got := Check(context.Background(), h, Options{Engine: engine}); len(got.Names()) > 0 {
						b.Fatal(got.Err())
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
			})
		}
	}
}

// BenchmarkGrowth judges legal histories that are in memory, from 1,000 operations
// up to ISRCHECK_BENCH_OPS. The bytes are all that the first judgement allocates, for
// each offset of the log, and first-ns/operation is its time: those behind it use the
// same memory.
func BenchmarkGrowth(b *testing.B) {
	for n := 1_000; n <= benchOps(b); n *= 10 {
		b.Run(fmt.Sprintf("ops=%d", n), func(b *testing.B) {
			h := large(b, modeltest.Load{Ops: n, Clients: 10, Unknown: 10})
			slots := int64(0)
			for i := range h.Ops() {
				o := &h.Ops()[i]
				slots = max(slots, o.HW, o.Offset+int64(len(o.Values)))
			}
			judge := func() {
				if r, ok := checkQuickly(h); !ok {
					b.Fatal(r)
				}
			}
			for range 3 {
				runtime.GC() // what making the history left behind, and the memory of other judgements
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			judge()
			first := time.Since(start)
			runtime.ReadMemStats(&after)
			for b.Loop() {
				judge()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
			b.ReportMetric(float64(first.Nanoseconds())/float64(n), "first-ns/operation")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(slots), "bytes/slot")
		})
	}
}
