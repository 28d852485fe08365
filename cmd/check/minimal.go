package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// operationsLeft begins the note in a history that was made as small as it can be.
const operationsLeft = "minimized: operations left: "

// noteMinimal notes that of so many operations those of a history could not be
// made fewer.
func noteMinimal(h *histories.History, of int) (*histories.History, error) {
	hd := h.Header()
	var lines []string
	for line := range strings.SplitSeq(hd.Note, "\n") {
		if line != "" && !strings.HasPrefix(line, operationsLeft) {
			lines = append(lines, line)
		}
	}
	hd.Note = strings.Join(append(lines, fmt.Sprintf("%s%d of %d", operationsLeft, len(h.Ops()), of)), "\n")
	return h.WithHeader(hd)
}

// isMinimal reports whether there is nothing to make smaller: all operations prove
// the finding, or the history notes that it was tried and has grown no more since.
func (j judgement) isMinimal() bool {
	all := j.result.Exercised.Operations
	for line := range strings.SplitSeq(j.header.Note, "\n") {
		if strings.HasPrefix(line, fmt.Sprintf("%s%d of ", operationsLeft, all)) {
			return true
		}
	}
	for _, f := range j.result.Findings {
		if f.Allowed == "" {
			return len(f.Evidence) >= all
		}
	}
	return j.result.Verdict != checker.Violates
}

// newName is a name with that ending which no file has yet.
func newName(name, ending string) string {
	free := name + ending
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s-%d%s", name, n, ending)
	}
}
