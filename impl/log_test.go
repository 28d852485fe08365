package impl

import "testing"

func TestLogKeepsWhatItHandedOut(t *testing.T) {
	var l log
	l.appendBatch(0, []int64{1, 2, 3}, stamp{})
	sent := l.read(1, 3)
	l.truncateTo(1)
	l.appendBatch(1, []int64{7, 8}, stamp{})
	if sent[0].value != 2 || sent[1].value != 3 {
		t.Errorf("records on their way changed to %v", sent)
	}
}

func TestLogDigestsIdentifyPrefixes(t *testing.T) {
	var a, b log
	a.appendBatch(0, []int64{1, 2}, stamp{})
	b.appendBatch(0, []int64{1}, stamp{})
	b.appendBatch(1, []int64{2}, stamp{})
	if a.digest(1) != b.digest(1) {
		t.Error("equal prefixes have different digests")
	}
	if a.digest(2) == b.digest(2) {
		t.Error("records of different epochs have equal digests")
	}
	b.truncateTo(1)
	b.append(a.records[1])
	if !b.contains(2, a.digest(2)) || b.contains(3, a.digest(2)) {
		t.Error("a copied record does not count as the same")
	}
}

func TestPowerLoss(t *testing.T) {
	for _, tt := range []struct {
		name          string
		flushed, lose int64
		want          int64
	}{
		{"nothing is unflushed", 5, 0, 5},
		{"all that is unflushed", 1, 0, 1},
		{"the last record", 1, 1, 4},
		{"not more than is unflushed", 4, 3, 4},
		{"half a batch is no batch", 1, 2, 2},
	} {
		var l log
		l.appendBatch(0, []int64{1}, stamp{})
		l.appendBatch(0, []int64{2}, stamp{})
		l.appendBatch(0, []int64{3, 4}, stamp{})
		l.appendBatch(0, []int64{5}, stamp{})
		l.flushed = tt.flushed
		if lost := l.losePower(tt.lose); l.end() != tt.want || lost != (tt.want < 5) {
			t.Errorf("%s: end %d, want %d; lost %v", tt.name, l.end(), tt.want, lost)
		}
	}
}
