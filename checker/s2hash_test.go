package checker

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// An s2Text is a recording of s2-verification that is written by hand.
type s2Text struct {
	strings.Builder
	ops int
}

// add writes an operation with its end.
func (s *s2Text) add(start, finish string) {
	s.ops++
	for _, event := range []string{`"Start":` + start, `"Finish":` + finish} {
		fmt.Fprintf(s, `{"event":{%s},"client_id":%d,"op_id":%d}`+"\n", event, s.ops, s.ops)
	}
}

func (s *s2Text) append(finish string, record uint64) {
	s.add(fmt.Sprintf(`{"Append":{"num_records":1,"record_hashes":[%d]}}`, record), finish)
}

// read writes a read of what the stream held if these records were in it.
func (s *s2Text) read(records ...uint64) {
	hash := uint64(0)
	for _, r := range records {
		hash = xxh3.HashSeed(binary.LittleEndian.AppendUint64(nil, r), hash)
	}
	s.add(`"Read"`, fmt.Sprintf(`{"ReadSuccess":{"tail":%d,"stream_hash":%d}}`, len(records), hash))
}

const nowhere = 1 << 40 // a record that nobody sent

// TestHashes judges reads beside many appends of which nobody was told a place. A
// hash that none of them makes is a violation, and one of which that cannot be
// known leaves the verdict unknown.
func TestHashes(t *testing.T) {
	const refused, unsure = `"AppendDefiniteFailure"`, `"AppendIndefiniteFailure"`
	acked := func(tail int) string { return fmt.Sprintf(`{"AppendSuccess":{"tail":%d}}`, tail) }
	for _, c := range []struct {
		name, finish string
		beside       int // appends that finished so, with the records 100, 101, ...
		then         func(s *s2Text)
		want         Verdict
	}{
		{"beside refused ones", refused, 200, func(s *s2Text) { s.append(acked(1), 1); s.append(acked(2), 2); s.read(1, 2) }, Conforms},
		{"wrong beside refused ones", refused, 200, func(s *s2Text) { s.append(acked(1), 1); s.append(acked(2), 2); s.read(2, 1) }, Violates},
		{"a refused one", refused, 8, func(s *s2Text) { s.append(acked(2), 1); s.read(100, 1) }, Violates},
		{"a gap of one", unsure, 200, func(s *s2Text) { s.append(acked(2), 1); s.read(150, 1) }, Conforms},
		{"a wrong gap of one", unsure, 200, func(s *s2Text) { s.append(acked(2), 1); s.read(nowhere, 1) }, Violates},
		{"a short tail", unsure, 200, func(s *s2Text) { s.read(nowhere) }, Violates},
		{"two reads, each of which leaves a few open", unsure, 40, func(s *s2Text) { s.read(120, 139, 100); s.read(120, 139, 100, 110, 111, 112) }, Conforms},
		{"the second one is wrong", unsure, 40, func(s *s2Text) { s.read(120, 139, 100); s.read(120, 139, 100, 110, 111, nowhere) }, Violates},
		{"the second one begins otherwise", unsure, 40, func(s *s2Text) { s.read(120, 139, 100); s.read(139, 120, 100, 110) }, Violates},
		{"twins", unsure, 0, func(s *s2Text) {
			for range 30 {
				s.append(unsure, 7)
			}
			s.read(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7)
		}, Conforms},
		{"too many", unsure, 40, func(s *s2Text) { s.read(101, 102, 103, 104, 105, 106, 107, 108, 109, nowhere) }, Undecided},
		{"too many, and a violation", unsure, 40, func(s *s2Text) {
			s.read(101, 102, 103, 104, 105, 106, 107, 108, 109, nowhere)
			s.read()
		}, Violates},
	} {
		var s s2Text
		for i := range c.beside {
			s.append(c.finish, uint64(100+i))
		}
		c.then(&s)
		r, err := importers.Read("s2", strings.NewReader(s.String()), importers.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := Check(context.Background(), r.History, Options{})
		if got.Verdict != c.want || c.want == Undecided && !strings.HasPrefix(got.Reason, histories.Unjudged) {
			t.Errorf("%s: %v (%s), want %v: %v", c.name, got.Verdict, got.Reason, c.want, got.Err())
		}
	}
}
