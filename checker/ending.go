package checker

import (
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// An ending is what a history says of its own end, and of what else it lacks.
type ending struct {
	unjudged []string // answers that it does not tell, in its words
	expected bool     // it has to say that it is complete
	complete bool     // it does
	cut      bool     // it says that it is cut off
	why      string   // it says that it is not complete, and why
}

func endingOf(c histories.Config) ending {
	v, _ := c.Stated(histories.EndMarked.Key)
	return ending{expected: v == histories.EndMarked.Value}
}

// mark takes note of something beside the operations.
func (e *ending) mark(m *histories.Mark) {
	if m.Kind == histories.Note {
		e.complete = e.complete || m.Text == histories.Complete
		e.cut = e.cut || m.Text == histories.CutOff
		if strings.HasPrefix(m.Text, histories.Incomplete) {
			e.why = m.Text
		}
		if strings.HasPrefix(m.Text, histories.Unjudged) && len(e.unjudged) < mostUnjudged {
			e.unjudged = append(e.unjudged, m.Text)
		}
	}
}

// mostUnjudged bounds what is said of answers that are not judged.
const mostUnjudged = 20

// doubts say why nobody knows what else happened, none if the history has its end and
// every answer. One that is missing may be the one that shows a loss.
func (e ending) doubts() []doubt {
	var out []doubt
	switch {
	case e.cut:
		out = append(out, doubt{histories.CutOff, histories.CutOff})
	case e.why != "":
		out = append(out, doubt{"the recording is not complete", e.why})
	case e.expected && !e.complete:
		const why = "the recording does not say that it is complete, as it would at its end: what came after is not known"
		out = append(out, doubt{why, why})
	}
	for _, says := range e.unjudged {
		out = append(out, doubt{"an answer is not judged", says})
	}
	return out
}
