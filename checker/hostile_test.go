package checker

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// A shape is a kind of history that is legal to write and made to hurt.
type shape struct {
	name string
	n    int                // the size that the test takes
	text func(n int) string // what stands behind the first line
	want Verdict
	// each is how many bytes may be allocated for one of n, and base for the
	// whole, from the text to the verdict.
	each, base uint64
}

// lines writes a line for each number below n.
func lines(n int, format string, args func(i int) []any) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", args(i)...)
	}
	return b.String()
}

// list joins what is written for each number below n.
func list(n int, sep, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		fmt.Fprint(&b, strings.ReplaceAll(format, "I", fmt.Sprint(i)))
	}
	return b.String()
}

var shapes = []shape{
	{"far offsets", 1000, func(n int) string {
		return lines(n, "%d-%d P1 send %d => ok @%d", func(i int) []any { return []any{i, i, i, 1<<62 + i<<32} }) +
			fmt.Sprintf("%d-%d S1 scan => ok [] end=9223372036854775807\n", n, n)
	}, Undecided, 20_000, 8 << 20}, // retention may have taken them
	{"far offsets that are read", 1000, func(n int) string {
		return "config reads=linearizable\n" + lines(n, "%d-%d P1 send %d => ok @%d", func(i int) []any { return []any{i, i, i, i << 50} }) +
			fmt.Sprintf("%d-%d S1 scan => ok [%s] end=9223372036854775807\n", n, n, strings.TrimSpace(strings.ReplaceAll(
				lines(n, "%d:%d", func(i int) []any { return []any{i << 50, i} }), "\n", " ")))
	}, Conforms, 20_000, 8 << 20},
	{"far log starts", 1000, func(n int) string {
		return "0-0 P1 send 1 => ok @0\n" + lines(n, "%d-%d C1 list earliest on=t/%d => ok @%d", func(i int) []any { return []any{i + 1, i + 1, i, 1<<62 + i<<32} })
	}, Conforms, 20_000, 8 << 20},
	{"log starts that are far in the sum", 1000, func(n int) string {
		return "config offsets=dense\n0-0 P1 send 1 => ok @0\n" + lines(n, "%d-%d C1 fetch from=0 on=t/%d => ok [] start=%d", func(i int) []any { return []any{i + 1, i + 1, i, 1 << 20} })
	}, Conforms, 20_000, 96 << 20},
	{"deletions up to far offsets", 1000, func(n int) string {
		return "config reads=linearizable offsets=dense\n0-0 P1 send 1 => ok @0\n" + lines(n, "%d-%d C1 delete-records %d => ok start=%d", func(i int) []any { return []any{i + 1, i + 1, 1<<62 + i<<32, 1<<62 + i<<32} })
	}, Undecided, 20_000, 8 << 20},
	{"a large batch", 100_000, func(n int) string {
		return "0-1 P1 send " + list(n, ",", "I") + " => ok @0\n" + "2-3 S1 scan => ok [" + list(n, " ", "I:I") + fmt.Sprintf("] end=%d\n", n)
	}, Conforms, 1500, 16 << 20},
	{"a large batch of unknown outcome", 20_000, func(n int) string {
		return "0-1 P1 send " + list(n, ",", "I") + " => info @-\n" + "2-3 S1 scan => ok [7:7] end=8\n"
	}, Violates, 2500, 16 << 20},
	{"many processes", 20_000, func(n int) string {
		return lines(n, "%d-%d P%d send %d => ok @%d", func(i int) []any { return []any{i, i, i, i, i} }) +
			fmt.Sprintf("%d-%d S1 scan => ok [", n, n) + list(n, " ", "I:I") + fmt.Sprintf("] end=%d\n", n)
	}, Conforms, 6000, 16 << 20},
	{"many partitions", 20_000, func(n int) string {
		return lines(n, "%d-%d P1 send 1 on=t/%d => ok @0", func(i int) []any { return []any{i, i, i} }) +
			lines(n, "%d-%d S1 scan on=t/%d => ok [0:1] end=1", func(i int) []any { return []any{n + i, n + i, i} })
	}, Conforms, 20_000, 16 << 20},
	{"many processes, each in a partition of its own", 5000, func(n int) string {
		return lines(n, "%d-%d P%d send 1 on=t/%d => ok @0", func(i int) []any { return []any{i, i, i, i} }) +
			lines(n, "%d-%d C%d poll on=t/%d => ok [0:1]", func(i int) []any { return []any{n + i, n + i, i, i} }) +
			lines(n, "%d-%d S1 scan on=t/%d => ok [0:1] end=1", func(i int) []any { return []any{2*n + i, 2*n + i, i} })
	}, Conforms, 40_000, 16 << 20},
	{"one send open all the time", 20_000, func(n int) string {
		return "0- P0 send -1\n" + lines(n, "%d-%d P1 send %d => ok @%d", func(i int) []any { return []any{i, i, i, i} }) +
			fmt.Sprintf("%d-%d S1 scan => ok [", n, n) + list(n, " ", "I:I") + fmt.Sprintf("] end=%d\n", n)
	}, Conforms, 6000, 16 << 20},
	{"all at one time", 20_000, func(n int) string {
		return lines(n, "0-0 P%d send %d => ok @%d", func(i int) []any { return []any{i, i, i} }) +
			"0-0 S1 scan => ok [" + list(n, " ", "I:I") + fmt.Sprintf("] end=%d\n", n)
	}, Conforms, 6000, 16 << 20},
	{"all open", 20_000, func(n int) string {
		return lines(n, "0- P%d send %d", func(i int) []any { return []any{i, i} }) + "1-2 S1 scan => ok [] end=0\n"
	}, Undecided, 8000, 16 << 20},
	{"one value again and again", 1000, func(n int) string {
		return lines(n, "%d-%d P1 send 1 => info @-", func(i int) []any { return []any{i, i} }) +
			fmt.Sprintf("%d-%d S1 scan => ok [", n, n) + list(n, " ", "I:1") + fmt.Sprintf("] end=%d\n", n)
	}, Conforms, 100_000, 16 << 20},
	{"a violation in every operation", 20_000, func(n int) string {
		return lines(n, "%d-%d P1 send %d => ok @0", func(i int) []any { return []any{i, i, i} }) + fmt.Sprintf("%d-%d S1 scan => ok [] end=0\n", n, n)
	}, Violates, 20_000, 32 << 20},
	{"a read that holds one offset again and again", 20_000, func(n int) string {
		return "0-1 P1 send 1 => ok @0\n2-3 C1 fetch from=0 => ok [" + strings.TrimSpace(strings.Repeat("0:1 ", n)) + "]\n4-5 S1 scan => ok [0:1] end=1\n"
	}, Violates, 20_000, 32 << 20},
	{"many markers", 20_000, func(n int) string {
		return lines(n, "%d client C1 reset %d", func(i int) []any { return []any{i, i} }) + fmt.Sprintf("%d-%d C1 poll => ok []\n", n, n)
	}, Undecided, 6000, 16 << 20},
}

// TestHostileShapes judges histories that are made to hurt, with an allocation
// for each part of them and none for what they only mention.
func TestHostileShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("many judgements, each of one goroutine")
	}
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			text := []byte("history 1\n" + s.text(s.n))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h, err := histories.Read("x", bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			r := Check(context.Background(), h, Options{Steps: 1_000_000})
			runtime.ReadMemStats(&after)
			if r.Verdict != s.want {
				t.Errorf("verdict %s, want %s: %.300v", r.Verdict, s.want, r.Err())
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes for each of %d", allocated/uint64(s.n), s.n)
			if allocated > s.base+s.each*uint64(s.n) {
				t.Errorf("%d bytes were allocated for %d, %d for each", allocated, s.n, allocated/uint64(s.n))
			}
			if len(r.Findings) > 100 {
				t.Errorf("%d findings", len(r.Findings))
			}
		})
	}
}
