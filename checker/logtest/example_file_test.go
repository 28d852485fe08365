package logtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/isrcheck/isrcheck/checker/logtest"
)

// A fileLog keeps its records in an append-only file, a line each. The file is
// simulated: what was written is in the page cache until it is synced.
type fileLog struct {
	file   string // what was written
	synced int    // bytes of it that are on the disk
	down   bool
	broken bool // acknowledges before it has synced
}

func (l *fileLog) Append(_ context.Context, _ string, values []string) (int64, error) {
	if l.down {
		return 0, fmt.Errorf("%w: nobody is there", logtest.ErrRefused)
	}
	base := int64(strings.Count(l.file, "\n"))
	for i, v := range values { // the length of the batch tells a torn one from a whole one
		l.file += fmt.Sprintf("%d %s\n", len(values)-i, v)
	}
	if !l.broken {
		l.synced = len(l.file)
	}
	return base, nil
}

func (l *fileLog) Read(_ context.Context, _ string, from int64) (records []logtest.Record, err error) {
	if l.down {
		return nil, errors.New("nobody is there")
	}
	for i, line := range strings.Split(strings.TrimSuffix(l.file, "\n"), "\n") {
		if _, value, ok := strings.Cut(line, " "); ok && int64(i) >= from {
			records = append(records, logtest.Record{Offset: int64(i), Value: value})
		}
	}
	return records, nil
}

func (l *fileLog) Crash(int) error { l.down = true; return nil }

// LosePower keeps what was synced and half of what was not.
func (l *fileLog) LosePower(int) error {
	l.file, l.down = l.file[:l.synced+(len(l.file)-l.synced)/2], true
	return nil
}

// Restart cuts off a batch that was not written to its end.
func (l *fileLog) Restart(int) error {
	l.file = l.file[:strings.LastIndexByte(l.file, '\n')+1]
	for l.file != "" {
		last := strings.LastIndexByte(l.file[:len(l.file)-1], '\n') + 1
		if strings.HasPrefix(l.file[last:], "1 ") {
			break
		}
		l.file = l.file[:last]
	}
	l.synced, l.down = len(l.file), false
	return nil
}

// A log in a file that crashes and loses power, and its broken twin.
func Example_file() {
	show(func(broken bool) logtest.Log { return &fileLog{broken: broken} })
	// Output:
	// <nil>
	// lost-write: Record 1 was acknowledged at offset 0 and is gone: the healed log ends at 0
}
