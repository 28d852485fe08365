package hunt

import (
	"errors"
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// ReadSchedule reads a schedule that the reference cluster can run. Every error
// is a place in the file and what was expected there.
func ReadSchedule(file string, text []byte) (schedule.Schedule, error) {
	s, err := schedule.Parse(file, text)
	if err != nil {
		return s, err
	}
	err = impl.Check(s)
	var item *impl.ItemError
	if errors.As(err, &item) {
		line, column := schedule.Find(text, item.Line, item.Word)
		return s, &schedule.Error{File: file, Line: line, Column: column, Msg: item.Says}
	}
	return s, err
}

// ReadCause reads the schedule that a case holds. Errors point into the file of
// the case; where the schedule is but a string in its first line, they say which
// of its lines is meant.
func ReadCause(h *histories.History) (schedule.Schedule, error) {
	hd := h.Header()
	if hd.Schedule == "" {
		return schedule.Schedule{}, fmt.Errorf("%s: the case has no schedule; expected a block from \"schedule\" to \"end\" in its header", h.Name())
	}
	first := hd.ScheduleLine()
	if first == 0 {
		return ReadSchedule(h.Name()+":1:1: schedule", []byte(hd.Schedule))
	}
	s, err := ReadSchedule(h.Name(), []byte(hd.Schedule))
	var at *schedule.Error
	if errors.As(err, &at) {
		at.Line += first - 1
	}
	return s, err
}
