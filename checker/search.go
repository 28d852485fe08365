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
	Auto      Engine = ""          // porcupine, where no rule has decided already
	Porcupine Engine = "porcupine" // porcupine, always
)

// search asks porcupine about every partition that no rule has decided.
func (j *judge) search(ctx context.Context) {
	if j.transactional() {
		return
	}
	for _, p := range j.partitions {
		if j.violated[p] && j.opts.Engine == Auto {
			continue
		}
		j.result.Engine = string(Porcupine)
		s := j.newSearch(ctx, p)
		verdict := s.run(s.ops)
		j.result.Exercised.Steps += s.steps
		switch {
		case verdict == porcupine.Unknown:
			j.unknown = append(j.unknown, p.name+": "+s.stopped)
		case verdict == porcupine.Illegal && !j.violated[p]:
			f := s.witness()
			f.Allowed = j.permitted(p)
			j.result.Findings = append(j.result.Findings, f)
		case verdict == porcupine.Ok && j.violated[p]:
			j.result.Verdict = Contradictory
			j.result.Reason = fmt.Sprintf("%s: a rule found a violation and the model accepts the history", p.name)
		}
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
	stopped string // which budget ended the search; "" if none did
}

func (j *judge) newSearch(ctx context.Context, p *partition) *search {
	excused := j.excused[p] != ""
	return &search{ctx: ctx, p: p, ops: p.residue(excused), budget: j.opts,
		options: model.Options{Dense: p.config.Get("offsets") == "dense" && !excused, Start: p.start}}
}

// run searches until an order is found, none is left, or a budget ends.
func (s *search) run(ops []model.Op) porcupine.CheckResult {
	log := model.Compile(ops, s.options)
	calls := log.Operations()
	s.bytes, s.entry = 0, int64(len(calls))/8+cacheEntryBytes
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
