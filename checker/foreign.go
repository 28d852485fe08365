package checker

import (
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// LogtestNote begins the line of a note by which package logtest says where it
// found a case that it saved.
const LogtestNote = "logtest: found in "

// OfLogtest reports whether a case has a schedule that package logtest saved. It is
// for the log that was tested: the reference cluster makes another run of it.
func OfLogtest(hd histories.Header) bool {
	if hd.Schedule == "" {
		return false
	}
	for line := range strings.Lines(hd.Note) {
		if strings.HasPrefix(line, LogtestNote) {
			return true
		}
	}
	return false
}
