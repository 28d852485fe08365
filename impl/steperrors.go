package impl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An ItemError says which item of a schedule cannot be used, and why.
type ItemError struct {
	Line int    // of a step in its text; 0 if there is none, and for settings and bugs
	Step string // as the schedule writes it, without the time; "" for settings and bugs
	Word string // at fault: key=value of a setting, the name of a bug, a word of a step
	Says string
}

func (e *ItemError) Error() string {
	text := e.Says
	if e.Step != "" {
		text = fmt.Sprintf("step %q: %s", e.Step, text)
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// A wordError says what is wrong with one word of a step.
type wordError struct{ word, says string }

func (e *wordError) Error() string { return e.says }

// at is an error about a word of a step.
func at(word, format string, args ...any) error {
	return &wordError{word, fmt.Sprintf(format, args...)}
}

// itemOf turns an error about a word of a step into one about the step.
func itemOf(s *schedule.Step, err error) error {
	e := &ItemError{Line: s.Line, Step: brief(stepText(s)), Says: brief(err.Error())}
	var w *wordError
	if errors.As(err, &w) {
		e.Word = w.word
	}
	return e
}

// brief cuts the words of a text that are so long that nobody reads them.
func brief(text string) string {
	const longest = 80
	words := strings.Split(text, " ")
	for i, w := range words {
		if len(w) > longest {
			words[i] = strings.ToValidUTF8(w[:longest-3], "") + "..."
		}
	}
	return strings.Join(words, " ")
}
