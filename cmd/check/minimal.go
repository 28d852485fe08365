package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// What begins the note in a history that was made as small as it can be, and in one
// that was on the way there.
const (
	operationsLeft = "minimized: operations left: "
	notFinished    = "minimized: not finished, operations left: "
)

// noteLeft notes how many of so many operations are in a history, and whether they
// could not be made fewer.
func noteLeft(h *histories.History, of int, finished bool) (*histories.History, error) {
	hd := h.Header()
	var lines []string
	for line := range strings.SplitSeq(hd.Note, "\n") {
		if line != "" && !strings.HasPrefix(line, operationsLeft) && !strings.HasPrefix(line, notFinished) {
			lines = append(lines, line)
		}
	}
	kind := operationsLeft
	if !finished {
		kind = notFinished
	}
	hd.Note = strings.Join(append(lines, fmt.Sprintf("%s%d of %d", kind, len(h.Ops()), of)), "\n")
	return h.WithHeader(hd)
}

// isMinimal reports whether there is nothing to make smaller: all operations prove
// the finding, or the history notes that it was tried and has grown no more since.
// One that notes that this was stopped is not minimal.
func (j judgement) isMinimal() bool {
	all := j.result.Exercised.Operations
	for line := range strings.SplitSeq(j.header.Note, "\n") {
		switch {
		case strings.HasPrefix(line, fmt.Sprintf("%s%d of ", operationsLeft, all)):
			return true
		case strings.HasPrefix(line, notFinished):
			return false
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
