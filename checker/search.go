package checker

import (
	"context"
	"fmt"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/model"
)

// An Engine decides whether some order of the operations is legal.
type Engine string

// The engines.
const (
	Auto      Engine = ""          // linear where it can decide, porcupine elsewhere, neither where a rule has decided
	Porcupine Engine = "porcupine" // search, always
	Linear    Engine = "linear"    // never search: unknown where that would be needed
	Both      Engine = "both"      // both; a difference is a contradiction
)

// Engines are the names of the engines, for command lines.
var Engines = []string{"auto", string(Porcupine), string(Linear), string(Both)}

// search asks the engines about every partition that no rule has decided.
func (j *judge) search(ctx context.Context) {
	if j.transactional() {
		return
	}
	for _, p := range j.partitions {
		if j.violated[p] && j.opts.Engine == Auto {
			continue
		}
		s := j.newSearch(ctx, p)
		verdict := j.decide(s)
		j.result.Exercised.Steps += s.steps
		switch {
		case verdict == porcupine.Unknown:
			j.unknown = append(j.unknown, p.name+": "+s.stopped)
		case verdict == porcupine.Illegal && !j.violated[p]:
			f := s.witness()
			f.Allowed = j.permitted(p)
			j.result.Findings = append(j.result.Findings, f)
		case verdict == porcupine.Ok && j.violated[p] && j.excused[p] == "": // else the model judged less than the rule
			j.contradict(p, "a rule found a violation and the model accepts the history")
		}
	}
}

// contradict notes that the checker disagrees with itself.
func (j *judge) contradict(p *partition, what string) {
	j.result.Verdict, j.result.Reason = Contradictory, p.name+": "+what
}

// decide runs the engines that were asked for.
func (j *judge) decide(s *search) porcupine.CheckResult {
	if j.opts.Engine == Porcupine {
		j.used(Porcupine)
		return s.run(s.ops)
	}
	verdict := s.linear()
	if verdict != porcupine.Unknown {
		j.used(Linear)
	}
	if verdict == porcupine.Unknown && j.opts.Engine != Linear || j.opts.Engine == Both {
		j.used(Porcupine)
		found := s.run(s.ops)
		if verdict != porcupine.Unknown && found != porcupine.Unknown && found != verdict {
			j.contradict(s.p, fmt.Sprintf("the linear engine says %s, porcupine says %s", verdict, found))
		}
		return found
	}
	return verdict
}

// used notes which engines decided.
func (j *judge) used(e Engine) {
	switch j.result.Engine {
	case "", string(e):
		j.result.Engine = string(e)
	default:
		j.result.Engine = string(Both)
	}
}

// permitted returns the setting under which a partition may fit no order: what
// it lost was allowed to be lost, and with it the order of the rest.
func (j *judge) permitted(p *partition) string {
	if reason := allowedByName(p.config, notLinearizable); reason != "" {
		return reason
	}
	return j.excused[p]
}

const notLinearizable = "not-linearizable"

// A search is porcupine's work on one partition, within a budget.
type search struct {
	ctx     context.Context
	p       *partition
	ops     []model.Op
	options model.Options
	budget  Options
	steps   int64
	bytes   int64
	entry   int64  // bytes of one entry of porcupine's cache
	stopped string // why the search was given up; "" if it was not

	conflict *conflict // what the linear engine found
}

func (j *judge) newSearch(ctx context.Context, p *partition) *search {
	excused := j.excused[p] != ""
	return &search{ctx: ctx, p: p, ops: p.residue(excused), budget: j.opts,
		options: model.Options{Dense: p.config.Get("offsets") == "dense" && !excused, Again: p.again(), Start: p.start}}
}

// linear asks the linear engine, which knows when it cannot tell.
func (s *search) linear() porcupine.CheckResult {
	c, decided := runLinear(model.Compile(s.ops, s.options))
	switch {
	case !decided:
		s.stopped = "the order needs a search, which the linear engine does not do"
		return porcupine.Unknown
	case c != nil:
		s.conflict = c
		return porcupine.Illegal
	}
	return porcupine.Ok
}

// run searches until an order is found, none is left, or a budget ends.
func (s *search) run(ops []model.Op) porcupine.CheckResult {
	log := model.Compile(ops, s.options)
	calls := log.Operations()
	s.stopped, s.bytes, s.entry = "", 0, int64(len(calls))/8+cacheEntryBytes
	switch {
	case porcupine.CheckOperations(log.CommittedLog(s), calls):
		return porcupine.Ok
	case s.stopped != "":
		return porcupine.Unknown
	}
	return porcupine.Illegal
}

// cacheEntryBytes is what one entry of porcupine's cache holds beside one bit
// an operation: the entry, its state and its share of the map.
const cacheEntryBytes = 160

// Step counts a model step. See [model.Meter].
func (s *search) Step() bool {
	if s.stopped != "" {
		return false
	}
	s.steps++
	switch {
	case s.steps > s.budget.Steps:
		s.stopped = fmt.Sprintf("the search was given up after %d model steps", s.budget.Steps)
	case s.bytes > s.budget.Memory:
		s.stopped = fmt.Sprintf("the search was given up at its memory budget of %d bytes", s.budget.Memory)
	case s.steps%1024 == 0 && s.ctx.Err() != nil:
		s.stopped = "the search was ended: " + s.ctx.Err().Error()
	}
	return s.stopped == ""
}

// Accept counts an entry of the search's cache. See [model.Meter].
func (s *search) Accept() { s.bytes += s.entry }
