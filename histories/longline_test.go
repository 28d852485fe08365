package histories

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// longLine is a file of events in which one scan holds so many records.
func longLine(records int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"history":1,"config":{"acks":"all"}}` + "\n")
	b.WriteString(`{"index":0,"time":1,"process":"S1","type":"invoke","f":"scan","on":"t/0"}` + "\n")
	b.WriteString(`{"index":1,"time":2,"process":"S1","type":"ok","f":"scan","on":"t/0","records":[`)
	for i := range records {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[%d,%d]", i, 1_000_000+i)
	}
	fmt.Fprintf(&b, `],"end":%d}`+"\n", records)
	return b.Bytes()
}

// TestAllocationsOfALongLine reads a file that is one line, nearly. The readers take
// it in a block at a time: what they allocate for each byte of a line does not grow
// with its length. Were the line copied anew with each block, one of sixteen times
// the length would cost that many times more for each byte.
func TestAllocationsOfALongLine(t *testing.T) {
	const short, long = 1 << 15, 1 << 19 // records: half a megabyte, and ten
	for name, read := range map[string]func([]byte) error{
		"stream": func(text []byte) error { return Stream("long", bytes.NewReader(text), ignore{}) },
		"whole": func(text []byte) error {
			_, err := Read("long", bytes.NewReader(text))
			return err
		},
	} {
		perByte := func(records int) float64 {
			text := longLine(records)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := read(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text))
		}
		perByte(short) // tables that are made once
		few, many := perByte(short), perByte(long)
		t.Logf("%s: %.1f bytes allocated for each of a short line, %.1f of a long one", name, few, many)
		if many > 1.5*few {
			t.Errorf("%s: %.1f bytes are allocated for each byte of a long line, %.1f of a short one", name, many, few)
		}
	}
}
