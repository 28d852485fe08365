package checker

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/isrcheck/isrcheck/model/modeltest"
)

// BenchmarkCheckFile judges a file of events: the whole way from bytes to the
// verdict. ISRCHECK_BENCH_OPS sets its size.
func BenchmarkCheckFile(b *testing.B) {
	n := 200_000
	if v := os.Getenv("ISRCHECK_BENCH_OPS"); v != "" {
		n, _ = strconv.Atoi(v)
	}
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		b.Run(fmt.Sprintf("ops=%d/%s", n, ending[1:]), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "run"+ending)
			if err := large(b, modeltest.Load{Ops: n, Clients: 10, Unknown: 10}).WriteFile(path); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			for b.Loop() {
				if _, _, ok := checkStream(path); !ok {
					b.Fatal("the file was not judged while it was read")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}
