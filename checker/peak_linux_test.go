package checker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// peakFile names the file that a child judges.
const peakFile = "ISRCHECK_PEAK_FILE"

// BenchmarkCheckFilePeak judges files of ISRCHECK_BENCH_OPS operations, packed ones
// too, each in a process of its own, and reports the most memory it had at a time.
func BenchmarkCheckFilePeak(b *testing.B) {
	n := benchOps(b)
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		b.Run(fmt.Sprintf("ops=%d/%s", n, ending[1:]), func(b *testing.B) {
			path := benchFile(b, n, ending)
			most := int64(0)
			for b.Loop() {
				most = max(most, peak(b, path))
			}
			if b.ReportMetric(float64(most)/(1<<20), "MiB-peak"); most > 2<<30 {
				b.Errorf("%d bytes at a time, want 2 GiB at most", most)
			}
		})
	}
}

// peak returns the most memory that a process had at a time that judged a file. The
// process says it itself: what the system tells its parent may be the parent's.
func peak(t testing.TB, path string) (bytes int64) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestPeakChild$", "-test.v")
	child.Env = append(os.Environ(), peakFile+"="+path)
	out, err := child.CombinedOutput()
	at := strings.Index(string(out), "VmHWM:")
	if err != nil || at < 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscanf(string(out[at:]), "VmHWM: %d kB", &bytes); err != nil {
		t.Fatal(err)
	}
	return bytes << 10
}

// TestPeakChild is the child.
func TestPeakChild(t *testing.T) {
	path := os.Getenv(peakFile)
	if path == "" {
		t.Skip("nothing to judge")
	}
	if r, _, err := CheckFile(context.Background(), path, Options{}); err != nil || r.Verdict == Violates {
		t.Fatal(r, err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s", status)
}
