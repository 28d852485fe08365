package kafka

import (
	"context"
	"io"
)

// A watched writer ends the recording when the history cannot be written any more.
type watched struct {
	to   io.Writer
	stop context.CancelCauseFunc
}

func (w *watched) Write(lines []byte) (int, error) {
	n, err := w.to.Write(lines)
	if err != nil {
		w.stop(&unwrittenError{err})
	}
	return n, err
}

// An unwrittenError is why the history cannot be written.
type unwrittenError struct{ error }

func (e *unwrittenError) Unwrap() error { return e.error }
