package impl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An action is a step that has been read: a fault's, or a client's request.
type action struct {
	at      int64
	fault   int // a place in Faults, or -1
	args    args
	silent  bool // a fault that did nothing: there is no end of it to tell
	client  string
	request request
}

// readSteps reads all steps of a schedule, each into its place.
func readSteps(steps []schedule.Step, actions []action) error {
	for i := range steps {
		s := &steps[i]
		err := readStep(s, &actions[i])
		if err == nil && i > 0 && s.At < steps[i-1].At {
			err = fmt.Errorf("time %d is before that of the step above; expected steps in order of time", s.At)
		}
		if err != nil {
			return itemOf(s, err)
		}
		actions[i].args.step = i
	}
	return nil
}

// readStep reads a step into its place.
func readStep(s *schedule.Step, out *action) error {
	if s.At < 0 || s.At > dayOfMs {
		return at(strconv.FormatInt(s.At, 10), "time %d: expected milliseconds from 0 to %d", s.At, int64(dayOfMs))
	}
	if s.Actor == schedule.Nemesis {
		return readFault(s, out)
	}
	return readRequest(s, out)
}

// stepText is a step as its schedule writes it, without the time.
func stepText(s *schedule.Step) string { return s.Actor + " " + deedText(s) }

// deedText is a step without the time and without who does it.
func deedText(s *schedule.Step) string {
	text := make([]byte, 0, 64)
	text = append(text, s.Verb...)
	for _, w := range s.Words {
		text = append(append(text, ' '), w...)
	}
	for _, a := range s.Args {
		text = append(append(text, ' '), a.Key...)
		text = append(append(text, '='), a.Value...)
	}
	return string(text)
}

func readFault(s *schedule.Step, out *action) error {
	i := faultOf(s.Verb)
	if i < 0 {
		var verbs []string
		for _, f := range Faults {
			verbs = append(verbs, f.Verb)
		}
		return at(s.Verb, "unknown fault %q; expected one of %s", s.Verb, strings.Join(verbs, ", "))
	}
	if len(s.Words) > 0 {
		return at(s.Words[0], "unexpected word %q; arguments of a fault are key=value", s.Words[0])
	}
	out.at, out.fault = s.At, i
	out.args.from, out.args.to = anyNode, anyNode
	out.args.text = deedText(s)
	if err := checkKeys(s, faultArgs[i]); err != nil {
		return err
	}
	for k := range faultArgs[i] {
		spec := &faultArgs[i][k]
		j := argOf(s.Args, spec.Key)
		if j < 0 {
			if !spec.Optional {
				return at(s.Verb, "%s needs %s=", s.Verb, spec.Key)
			}
			continue
		}
		if err := out.args.read(spec, s.Args[j].Value); err != nil {
			return err
		}
	}
	return out.args.checkAmbush(s)
}
