package histories

import "fmt"

// An Error says where an input is wrong and what was expected there. Every
// error about the content of an input is or wraps one.
type Error struct {
	File   string
	Line   int // counted from 1; 0 where there is no line to point at
	Column int // in bytes, counted from 1; 0 where the line as a whole is meant
	Msg    string

	cause error
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.File + ": " + e.Msg
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Unwrap returns what made the input unreadable, if it was more than its
// content: a broken compression, a failed read.
func (e *Error) Unwrap() error { return e.cause }

// excerpt quotes hostile input so that a message stays on one short line.
func excerpt(s string) string {
	const limit = 60
	if len(s) > limit {
		return fmt.Sprintf("%q...", s[:limit])
	}
	return fmt.Sprintf("%q", s)
}
