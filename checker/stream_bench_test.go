package checker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/bytedance/sonic"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// benchOps is the size of the files that benchmarks judge: ISRCHECK_BENCH_OPS
// operations.
func benchOps(b *testing.B) int {
	n := 200_000
	if v := os.Getenv("ISRCHECK_BENCH_OPS"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// benchFile writes a large legal history to a file with that ending.
func benchFile(b testing.TB, n int, ending string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "run"+ending)
	if err := large(b, modeltest.Load{Ops: n, Clients: 10, Unknown: 10}).WriteFile(path); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	return path
}

func mustConform(b *testing.B, path string) {
	if r, _, err := CheckFile(context.Background(), path, Options{}); err != nil || r.Verdict == Violates {
		b.Fatal(r, err)
	}
}

// BenchmarkCheckFile judges a file of events: the whole way from bytes to the
// verdict.
func BenchmarkCheckFile(b *testing.B) {
	n := benchOps(b)
	for _, ending := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		b.Run(fmt.Sprintf("ops=%d/%s", n, ending[1:]), func(b *testing.B) {
			path := benchFile(b, n, ending)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			for b.Loop() {
				mustConform(b, path)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

// BenchmarkCheckFileBesideSonic judges a file, and has the fastest general JSON
// library we know decode the lines of the same file in its fastest
// configuration, on one core and to no end. It reports the ratio of the times.
func BenchmarkCheckFileBesideSonic(b *testing.B) {
	n := benchOps(b)
	path := benchFile(b, n, ".jsonl")
	var judging, decoding time.Duration
	for b.Loop() {
		start := time.Now()
		mustConform(b, path)
		judged := time.Now()
		decodeLines(b, path)
		judging, decoding = judging+judged.Sub(start), decoding+time.Since(judged)
	}
	b.ReportMetric(judging.Seconds()/float64(b.N), "s-check")
	b.ReportMetric(decoding.Seconds()/float64(b.N), "s-sonic")
	b.ReportMetric(judging.Seconds()/decoding.Seconds(), "check/sonic")
}

// An eventLine is an event as a program would declare it to decode our files.
type eventLine struct {
	Index   int64      `json:"index"`
	Time    int64      `json:"time"`
	Process string     `json:"process"`
	Type    string     `json:"type"`
	F       string     `json:"f"`
	On      string     `json:"on"`
	Values  []int64    `json:"values"`
	Records [][2]int64 `json:"records"`
	Offset  int64      `json:"offset"`
	From    int64      `json:"from"`
	HW      int64      `json:"hw"`
	End     int64      `json:"end"`
	At      string     `json:"at"`
	Code    string     `json:"code"`
}

func decodeLines(b *testing.B, path string) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var e eventLine
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e = eventLine{Values: e.Values[:0], Records: e.Records[:0]}
		if err := sonic.ConfigFastest.Unmarshal(lines.Bytes(), &e); err != nil {
			b.Fatal(err)
		}
	}
	if lines.Err() != nil || e.Type == "" || e.F == histories.Begin.String() {
		b.Fatal(lines.Err(), e)
	}
}
