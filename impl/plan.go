package impl

import (
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// Check reports whether a schedule can be run: whether it names settings,
// bugs, verbs and arguments that exist.
func Check(s schedule.Schedule) error {
	return new(plan).read(s)
}

// A plan is a schedule, read.
type plan struct {
	cfg     config
	bugs    bugSet
	actions []action
}

// read makes it the plan of a schedule. It uses the memory of the one before.
func (p *plan) read(s schedule.Schedule) (err error) {
	if p.cfg, err = configure(s.Settings); err != nil {
		return err
	}
	if p.bugs, err = parseBugs(s.Bugs); err != nil {
		return err
	}
	p.bugs.imply(&p.cfg)
	p.actions = zeroed(p.actions, len(s.Steps))
	if err = readSteps(s.Steps, p.actions); err != nil {
		return err
	}
	for i := range p.actions {
		if r := &p.actions[i].request; p.cfg.idempotent || r.kind == histories.Send && !r.statedAck {
			r.acks, r.statedAck = p.cfg.acks, false
		}
	}
	return nil
}
