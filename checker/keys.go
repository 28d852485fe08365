package checker

import "github.com/isrcheck/isrcheck/histories"

// keys is what is known of the keys of a compacted log. A record may be removed
// once another of its key may be newer.
type keys struct {
	ids  map[string]int32
	ends []keyEnd        // by key
	at   map[int64]int32 // keys by the offset of their records, where those are looked up so

	refused []histories.Value // values that sends failed with
}

// A keyEnd is the newest record a key is known to have.
type keyEnd struct {
	offset   int64
	unplaced bool // a send of the key may be anywhere
}

// keyless is the number of no key.
const keyless = -1

func newKeys() *keys { return &keys{ids: map[string]int32{}, at: map[int64]int32{}} }

// id returns the number of a key.
func (k *keys) id(key string) int32 {
	if k == nil || key == "" {
		return keyless
	}
	id, ok := k.ids[key]
	if !ok {
		id = int32(len(k.ends))
		k.ids[key] = id
		k.ends = append(k.ends, keyEnd{offset: histories.None})
	}
	return id
}

// place takes note that a batch's last record is there, or may be anywhere.
func (k *keys) place(id int32, last int64) {
	if id == keyless {
		return
	}
	end := &k.ends[id]
	end.unplaced = end.unplaced || last == histories.None
	end.offset = max(end.offset, last)
}

// replaced reports whether another record of the key may be newer than the one
// at an offset, or the key is not known.
func (k *keys) replaced(id int32, offset int64) bool {
	return id == keyless || k.ends[id].unplaced || k.ends[id].offset > offset
}

// setKeys takes note of the key of a batch's records.
func (l *quickLog) setKeys(id int32, base, n int64) {
	if id == keyless {
		return
	}
	l.keys.place(id, base+n-1)
	for o := base; o < base+n; o++ {
		l.keys.at[o] = id
	}
}

// mayVanish reports whether compaction may have removed the record at an offset,
// and whether its key is known.
func (l *quickLog) mayVanish(offset int64) (may, keyed bool) {
	if l.keys == nil {
		return false, true
	}
	id, keyed := l.keys.at[offset]
	return !keyed || l.keys.replaced(id, offset), keyed
}

// settleKeys takes note of the sends that nobody can place. It reports false if
// there are some that the rules may place elsewhere, or nowhere: of repeated
// values, or where a producer was told an offset below acks=all.
func (l *quickLog) settleKeys() bool {
	if l.keys == nil {
		return true
	}
	sends := map[histories.Value]int32{}
	for i := range l.floats {
		f := &l.floats[i]
		if !f.placed {
			l.keys.place(f.key, histories.None)
		}
		for _, v := range f.values {
			if _, again := sends[v]; again || f.offset != histories.None {
				return false
			}
			sends[v] = f.index
		}
	}
	for _, v := range l.keys.refused {
		if _, again := sends[v]; again {
			return false
		}
	}
	sure := len(l.doubts) == 0
	l.slots.where(0, l.slots.len(), held, func(_ int64, p *piece, i int) bool {
		if index, ok := sends[p.value(i)]; ok {
			sure = sure && p.index[i] == index
		}
		return sure
	})
	return sure
}
