package checker

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories"
)

// A stake is whether anything came of the sends of a history. Where none was
// acknowledged and nothing was read, all that the log showed is that it was empty: no
// answer could have been wrong but by making up a record. Of a few sends that is a
// case which somebody wrote down, of many a workload that did not work.
type stake struct {
	acknowledged bool // a send was, or a record was read
	codes        map[string]int
}

// manySends is how many sends are many.
const manySends = 10

// stakeOf is what is at stake in operations.
func stakeOf(ops []histories.Op) (s stake) {
	for i := range ops {
		s.op(&ops[i])
	}
	return s
}

// op takes note of an operation.
func (s *stake) op(o *histories.Op) {
	if !s.acknowledged { // which is soon, as a rule
		s.note(o)
	}
}

func (s *stake) note(o *histories.Op) {
	if o.Outcome == histories.OK && (o.Kind == histories.Send || len(o.Records) > 0) {
		*s = stake{acknowledged: true}
		return
	}
	if o.Kind == histories.Send && o.Code != "" {
		if s.codes == nil {
			s.codes = map[string]int{}
		}
		s.codes[o.Code]++
	}
}

// lacks says why nothing was at stake, "" if something was.
func (s *stake) lacks(e Exercised) string {
	if s.acknowledged || e.Sends < manySends {
		return ""
	}
	why := fmt.Sprintf("none of %s was acknowledged, and no record was read", Counted(e.Sends, "send"))
	if most := ByCount(s.codes); len(most) > 0 {
		why += fmt.Sprintf("; %s ended with %s", Number(s.codes[most[0]]), most[0])
	}
	return why
}
