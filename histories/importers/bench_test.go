package importers

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkJepsen reads a history.edn of 100,000 operations by ten processes on
// eight keys, with polls of up to 20 records.
func BenchmarkJepsen(b *testing.B) {
	var text strings.Builder
	logs, position := make([]int, 8), make([]int, 80)
	event := func(i int, typ string, process int, f, value string) {
		fmt.Fprintf(&text, "{:index %d, :time %d, :type :%s, :process %d, :f :%s, :value %s}\n", i, i*2500, typ, process, f, value)
	}
	for i := range 100_000 {
		process, key := i%10, i*7/10%8
		if i%2 == 0 {
			event(2*i, "invoke", process, "send", fmt.Sprintf("[[:send %d %d]]", key, i))
			event(2*i+1, "ok", process, "send", fmt.Sprintf("[[:send %d [%d %d]]]", key, logs[key], i))
			logs[key]++
			continue
		}
		var records strings.Builder
		at := &position[process*8+key]
		for to := min(*at+20, logs[key]); *at < to; *at++ {
			fmt.Fprintf(&records, "[%d %d] ", *at, *at)
		}
		event(2*i, "invoke", process, "poll", "[[:poll]]")
		event(2*i+1, "ok", process, "poll", fmt.Sprintf("[[:poll {%d [%s]}]]", key, records.String()))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read("drawn", strings.NewReader(text.String()), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
