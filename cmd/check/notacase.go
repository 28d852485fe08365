package main

import (
	"fmt"
	"io"
	"os"
)

// notCase says how a schedule or a scenario in a file becomes a case, if that is why
// it could not be read as one; otherwise it returns the error as it is.
func notCase(name string, unread error) error {
	const opening = 1 << 16 // its first line that counts is in there
	f, err := os.Open(name)
	if err != nil {
		return unread
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, opening))
	switch {
	case err != nil || !isSchedule(name, text):
		return unread
	case isScenario(text):
		return fmt.Errorf("%s: expected a case, found a scenario; leave its schedule (the lines with set, bug or a time in front) in a file of its own: check replay FILE > case.hist makes a case of it", label(name))
	}
	return fmt.Errorf("%s: expected a case, found a schedule: check replay %s > case.hist makes one of it", label(name), shellWord(name))
}
