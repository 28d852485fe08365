package logtest

import (
	"bytes"
	"runtime"
	"strings"
)

// goroutine begins the stack of the goroutine that calls it: "goroutine 7 ".
func goroutine() string {
	var text [64]byte
	first, _, _ := bytes.Cut(text[:runtime.Stack(text[:], false)], []byte("["))
	return string(first)
}

// goroutines is what all of them are doing, in at most 64 KiB, those first that
// begin as told.
func goroutines(first string) string {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	var front, rest []string
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if strings.HasPrefix(stack, first) {
			front = append(front, stack)
		} else {
			rest = append(rest, stack)
		}
	}
	all := strings.Join(append(front, rest...), "\n\n")
	return all[:min(len(all), 64<<10)]
}
