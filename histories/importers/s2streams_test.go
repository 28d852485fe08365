package importers

import (
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestTriesOfARecording has many reads of hashes that no appends make, each with
// more orders to try than a read may: what is tried for all of them is bounded. What
// was told before them is judged, what comes behind them is not.
func TestTriesOfARecording(t *testing.T) {
	var all []*s2Op
	for i := range 40 {
		o := &s2Op{kind: histories.Send, outcome: histories.Info}
		o.asked.RecordHashes = []uint64{uint64(100 + i)}
		all = append(all, o)
	}
	read := func(tail int64, hash uint64) *s2Op {
		return &s2Op{kind: histories.Fetch, outcome: histories.OK, tail: tail, hash: hash, call: 1, returned: 2}
	}
	one := chain(0, 100)
	s := newStreams(all)
	had := s.tries
	if held, _ := s.explain(read(1, one)); held == nil {
		t.Error("a read before many that nothing explains is not explained")
	}
	for i := range 40 {
		if held, none := s.explain(read(20, uint64(i))); held != nil || none {
			t.Fatalf("read %d of a hash that few orders were tried for: %v, %v", i, held, none)
		}
	}
	if held, none := s.explain(read(2, chain(one, 101))); held != nil || none {
		t.Errorf("a read behind many that nothing explains: %v, %v; expected that it is not judged", held, none)
	}
	if tried := had - s.tries; tried < 1<<22 || tried > 1<<22+len(all) {
		t.Errorf("%d tries, expected 2^22 and at most what one stream can go on with", tried)
	}
}
