package logtest_test

import (
	"context"
	"slices"
	"sync"

	"github.com/isrcheck/isrcheck/checker/logtest"
)

// A memoryLog is as simple as a log can be. The broken one tells where a batch
// ends instead of where it begins.
type memoryLog struct {
	mu      sync.Mutex
	records []logtest.Record
	broken  bool
}

func (l *memoryLog) Append(_ context.Context, _ string, values []string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	base := int64(len(l.records))
	for i, v := range values {
		l.records = append(l.records, logtest.Record{Offset: base + int64(i), Value: v})
	}
	if l.broken {
		base = int64(len(l.records))
	}
	return base, nil
}

func (l *memoryLog) Read(_ context.Context, _ string, from int64) ([]logtest.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records[min(from, int64(len(l.records))):]), nil
}

func (l *memoryLog) End(context.Context, string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.records)), nil
}

// A log in memory, and its broken twin.
func Example_memory() {
	show(func(broken bool) logtest.Log { return &memoryLog{broken: broken} })
	// Output:
	// <nil>
	// offset-mismatch: Record 1 was acknowledged to P1 at offset 1, and readers find it at offset 0
}
