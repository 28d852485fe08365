package schedule

import (
	"fmt"
	"slices"
	"strconv"
)

// AppendText appends the schedule's text, which [Parse] reads back to an equal
// schedule. It is an error if no text does: a word holds a blank or a key is
// repeated or steps are out of order.
func (s Schedule) AppendText(b []byte) ([]byte, error) {
	start := len(b)
	b = s.append(b)
	back, err := Parse("schedule", b[start:])
	if err != nil {
		return b[:start], fmt.Errorf("the schedule has no text: %w", err)
	}
	if !back.Equal(s) {
		return b[:start], fmt.Errorf("the schedule has no text: it would read as another one\n%s", quote(back.String()))
	}
	return b, nil
}

// String returns the schedule's text, for people and for logs; [Schedule.AppendText]
// checks that it reads back.
func (s Schedule) String() string { return string(s.append(nil)) }

// String returns the step's line without a line break.
func (s Step) String() string { return string(s.append(nil)) }

// Equal reports whether two schedules ask for the same. It ignores the lines
// that steps came from.
func (s Schedule) Equal(t Schedule) bool {
	return slices.Equal(s.Settings, t.Settings) &&
		slices.Equal(s.Bugs, t.Bugs) &&
		slices.EqualFunc(s.Steps, t.Steps, Step.equal) &&
		s.Fingerprint == t.Fingerprint
}

func (s Step) equal(t Step) bool {
	return s.At == t.At && s.Actor == t.Actor && s.Verb == t.Verb &&
		slices.Equal(s.Words, t.Words) && slices.Equal(s.Args, t.Args)
}

func (s Schedule) append(b []byte) []byte {
	for _, setting := range s.Settings {
		b = fmt.Appendf(b, "set %s=%s\n", setting.Key, setting.Value)
	}
	for _, bug := range s.Bugs {
		b = fmt.Appendf(b, "bug %s\n", bug)
	}
	for _, step := range s.Steps {
		b = append(step.append(b), '\n')
	}
	if s.Fingerprint != "" {
		b = fmt.Appendf(b, "fingerprint %s\n", s.Fingerprint)
	}
	return b
}

func (s Step) append(b []byte) []byte {
	b = strconv.AppendInt(b, s.At, 10)
	b = fmt.Appendf(b, " %s %s", s.Actor, s.Verb)
	for _, word := range s.Words {
		b = fmt.Appendf(b, " %s", word)
	}
	for _, arg := range s.Args {
		b = fmt.Appendf(b, " %s=%s", arg.Key, arg.Value)
	}
	return b
}
