package impl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEpochCacheAssign(t *testing.T) {
	for _, tt := range []struct {
		name         string
		cache        epochCache
		epoch, start int64
		want         epochCache
	}{
		{"first", nil, 0, 0, epochCache{{0, 0}}},
		{"next", epochCache{{0, 0}}, 2, 3, epochCache{{0, 0}, {2, 3}}},
		{"same epoch later", epochCache{{0, 0}, {2, 3}}, 2, 5, epochCache{{0, 0}, {2, 3}}},
		{"same epoch earlier", epochCache{{0, 0}, {2, 3}}, 2, 2, epochCache{{0, 0}, {2, 2}}},
		{"an epoch without records is replaced", epochCache{{0, 0}, {2, 3}}, 4, 3, epochCache{{0, 0}, {4, 3}}},
		{"contradicting tail is dropped", epochCache{{0, 0}, {2, 3}, {5, 9}}, 3, 2, epochCache{{0, 0}, {3, 2}}},
		{"everything is dropped", epochCache{{2, 3}, {5, 9}}, 1, 0, epochCache{{1, 0}}},
	} {
		if got := slices.Clone(tt.cache).assign(tt.epoch, tt.start); !slices.Equal(got, tt.want) {
			t.Errorf("%s: assign(%d, %d) on %v = %v, want %v", tt.name, tt.epoch, tt.start, tt.cache, got, tt.want)
		}
	}
}

func TestEpochCacheTruncateFromEnd(t *testing.T) {
	cache := epochCache{{0, 0}, {2, 3}, {5, 9}}
	for offset, want := range map[int64]int{10: 3, 9: 2, 4: 2, 3: 1, 1: 1, 0: 0} {
		if got := slices.Clone(cache).truncateFromEnd(offset); !slices.Equal(got, cache[:want]) {
			t.Errorf("truncateFromEnd(%d) = %v, want %v", offset, got, cache[:want])
		}
	}
}

func TestEndOffsetFor(t *testing.T) {
	cache := epochCache{{1, 0}, {3, 4}, {6, 9}}
	for _, tt := range []struct {
		name             string
		cache            epochCache
		epoch            int64
		wantEpoch, wantO int64
	}{
		{"no epoch asked", cache, none, none, none},
		{"last epoch ends at the log's end", cache, 6, 6, 12},
		{"an epoch above all known", cache, 7, none, none},
		{"a known epoch ends where the next begins", cache, 3, 3, 9},
		{"first epoch", cache, 1, 1, 4},
		{"an unknown epoch: the one below", cache, 4, 3, 9},
		{"an epoch below all known", cache, 0, 0, 0},
		{"empty cache", nil, 0, none, none},
	} {
		if e, o := tt.cache.endOffsetFor(tt.epoch, 12); e != tt.wantEpoch || o != tt.wantO {
			t.Errorf("%s: endOffsetFor(%d) = %d, %d, want %d, %d", tt.name, tt.epoch, e, o, tt.wantEpoch, tt.wantO)
		}
	}
}

// TestEpochCacheFollowsItsLog appends and truncates at will: the cache always
// answers what the records themselves say.
func TestEpochCacheFollowsItsLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l log
		epoch := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				l.truncateTo(rapid.Int64Range(0, l.end()).Draw(t, "offset"))
			case 1:
				epoch += rapid.Int64Range(1, 3).Draw(t, "skip")
				l.epochs = l.epochs.assign(epoch, l.end())
			default:
				l.appendBatch(epoch, []int64{1}, stamp{})
			}
			for e := int64(0); e <= epoch; e++ {
				last, next := none, none // records of the largest epoch not above e, and of the first above
				for o, r := range l.records {
					if r.epoch <= e {
						last = r.epoch
					} else if next == none {
						next = int64(o)
					}
				}
				gotEpoch, gotEnd := l.epochs.endOffsetFor(e, l.end())
				if next != none && (gotEnd != next || last != none && gotEpoch < last) {
					t.Fatalf("end of epoch %d in %v, cache %v: %d, %d", e, l.records, l.epochs, gotEpoch, gotEnd)
				}
				if next == none && gotEnd != none && gotEnd != l.end() {
					t.Fatalf("end of epoch %d in %v, cache %v: %d, %d", e, l.records, l.epochs, gotEpoch, gotEnd)
				}
			}
		}
	})
}

func TestTruncateFromStart(t *testing.T) {
	cache := epochCache{{1, 0}, {3, 4}, {5, 9}}
	for _, tt := range []struct {
		start int64
		want  epochCache
	}{
		{0, epochCache{{1, 0}, {3, 4}, {5, 9}}},
		{3, epochCache{{1, 3}, {3, 4}, {5, 9}}},
		{4, epochCache{{3, 4}, {5, 9}}},
		{20, epochCache{{5, 20}}},
	} {
		if got := cache.truncateFromStart(tt.start); !slices.Equal(got, tt.want) {
			t.Errorf("from %d: %v, want %v", tt.start, got, tt.want)
		}
	}
	if got := (epochCache{{2, 5}}).truncateFromStart(4); !slices.Equal(got, epochCache{{2, 5}}) {
		t.Errorf("below the first entry: %v", got)
	}
}
