package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/isrcheck/isrcheck/histories"
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
	for _, p := range j.partitions {
		if j.violated[p] && j.opts.Engine == Auto {
			continue
		}
		s := j.newSearch(ctx, p)
		verdict := j.decide(s)
		j.result.Exercised.Steps += s.steps
		switch {
		case verdict == porcupine.Unknown:
			j.doubt(s.stopped, "%s: %s", p.name, s.stopped)
			j.result.gaveUp = s.stopped
		case verdict == porcupine.Illegal && !j.violated[p]:
			f := s.witness()
			f.Allowed = cmp.Or(j.permitted(p), j.survived(ctx, p))
			if !j.named(p, s.crossed) {
				j.result.Findings = append(j.result.Findings, f)
			}
		case verdict == porcupine.Ok && j.violated[p] && j.excused[p] == "": // else the model judged less than the rule
			j.contradict(p, "a rule found a violation and the model accepts the history")
		}
	}
}

// named reports whether a violation names all answers that fit no order: it says
// why already. Where none are known it does not.
func (j *judge) named(p *partition, crossed []*histories.Op) bool {
	return slices.ContainsFunc(j.result.Findings, func(f Finding) bool {
		other := func(o *histories.Op) bool { return !slices.Contains(f.ops, o) }
		return f.Partition == p.name && f.Allowed == "" && len(crossed) > 0 && !slices.ContainsFunc(crossed, other)
	})
}

// contradict notes that the checker disagrees with itself.
func (j *judge) contradict(p *partition, what string) {
	j.result.Verdict, j.result.Reason = Contradictory, p.name+": "+what
}

// decide runs the engines that were asked for.
func (j *judge) decide(s *search) porcupine.CheckResult {
	if j.opts.Engine == Porcupine {
		j.used(Porcupine)
		return s.whole()
	}
	verdict := s.linear()
	if verdict != porcupine.Unknown {
		j.used(Linear)
	} else if j.opts.Engine != Linear {
		j.used(Porcupine)
		verdict = s.windows(s.log())
	}
	if j.opts.Engine == Both {
		j.used(Porcupine)
		found := s.whole()
		if verdict != porcupine.Unknown && found != porcupine.Unknown && found != verdict {
			j.contradict(s.p, fmt.Sprintf("porcupine says %s, and %s where the linear engine and windows leave less to it", found, verdict))
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

// survived returns the setting under which committed records may vanish, if an
// order fits the answers once they need not agree on what vanished. A loss that
// no rule has a name for may show in nothing else.
func (j *judge) survived(ctx context.Context, p *partition) string {
	setting := cmp.Or(truncation(p.config), allowedByName(p.config, lostWrite))
	if setting == "" {
		return ""
	}
	j.excused[p] = setting
	s := j.newSearch(ctx, p)
	if verdict := j.decide(s); verdict != porcupine.Ok {
		delete(j.excused, p)
		return ""
	}
	return setting
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
	handed  int64  // operations that porcupine got
	room    int64  // bytes that porcupine's cache may still take
	entry   int64  // bytes of one entry of it
	stopped string // why the search was given up; "" if it was not

	compiled *model.Log      // of ops, nil before an engine asked for it
	conflict *conflict       // what the linear engine found
	crossed  []*histories.Op // the answers that the witness found to fit no order
}

func (j *judge) newSearch(ctx context.Context, p *partition) *search {
	excused := j.excused[p] != ""
	s := &search{ctx: ctx, p: p, ops: p.residue(excused), budget: j.opts, options: p.options()}
	s.options.Dense = s.options.Dense && !excused
	return s
}

// closes reports whether the search is about a section of a log that has room
// for nothing else.
func (s *search) closes() bool { return s.p.section != nil && s.options.Dense && !s.options.Again }

func (s *search) compile(ops []model.Op) *model.Log {
	if s.closes() {
		return model.Compile(s.p.section.close(ops), s.options)
	}
	return model.Compile(slices.Clone(ops), s.options)
}

// log is what all operations say together. No engine changes it.
func (s *search) log() *model.Log {
	if s.compiled == nil {
		s.compiled = s.compile(s.ops)
	}
	return s.compiled
}

// linear asks the linear engine, which knows when it cannot tell.
func (s *search) linear() porcupine.CheckResult {
	c, decided := runLinear(s.log())
	switch {
	case !decided:
		s.stopped = "the order needs a search, which the linear engine does not do"
		return porcupine.Unknown
	case c != nil:
		return s.refused(c)
	}
	return porcupine.Ok
}

// refused keeps why there is no order.
func (s *search) refused(c *conflict) porcupine.CheckResult {
	if s.conflict = c; s.closes() {
		s.p.section.open(c, s.ops)
	}
	return porcupine.Illegal
}

// windows searches the windows that the linear engine left open.
func (s *search) windows(log *model.Log) porcupine.CheckResult {
	s.conflict = nil
	parts, c := divide(log)
	if c != nil {
		return s.refused(c)
	}
	verdict, stopped := porcupine.Ok, ""
	for _, part := range parts {
		switch s.ask(part) {
		case porcupine.Illegal:
			return porcupine.Illegal
		case porcupine.Unknown:
			verdict, stopped = porcupine.Unknown, s.stopped
		}
	}
	s.stopped = stopped
	return verdict
}

// whole searches all operations together.
func (s *search) whole() porcupine.CheckResult { return s.ask(s.log()) }

// ask searches until an order is found, none is left, or a budget ends.
func (s *search) ask(log *model.Log) porcupine.CheckResult {
	calls := log.Operations()
	if !s.open(calls) {
		return porcupine.Unknown
	}
	legal := porcupine.CheckOperations(log.CommittedLog(s), calls)
	switch {
	case s.stopped != "":
		return porcupine.Unknown
	case legal:
		return porcupine.Ok
	}
	return porcupine.Illegal
}

// open sets a budget's bytes aside for the operations and for the one pass in
// which a search ends that is given up.
func (s *search) open(calls []porcupine.Operation) bool {
	n := int64(len(calls))
	s.handed += n
	s.stopped, s.entry = "", n/8+cacheEntryBytes
	if s.room = s.memory() - n*(s.entry+operationBytes); s.room < 0 {
		s.stopped = s.outOfMemory()
	}
	return s.stopped == ""
}

// What porcupine holds: for each operation, and for each entry of its cache
// beside one bit an operation.
const (
	operationBytes  = 600
	cacheEntryBytes = 320
)

// Step counts a model step. See [model.Meter].
func (s *search) Step() bool {
	if s.stopped != "" {
		return false
	}
	s.steps++
	switch {
	case s.steps > s.budget.Steps:
		s.stopped = fmt.Sprintf("the search was given up after %d model steps", s.budget.Steps)
	case s.room < 0:
		s.stopped = s.outOfMemory()
	case s.steps%1024 == 0 && s.ctx.Err() != nil:
		s.stopped = "the search was ended: " + context.Cause(s.ctx).Error()
	}
	return s.stopped == ""
}

// Hold counts an entry of the search's cache. See [model.Meter].
func (s *search) Hold(state model.State) { s.room -= s.entry + state.Bytes() }

// Drop counts one entry less. See [model.Meter].
func (s *search) Drop(state model.State) { s.room += s.entry + state.Bytes() }

// memory is how many bytes a search may hold. Where the verdict is known, and how far
// the history was legal is the question, it is fewer.
func (s *search) memory() int64 {
	if s.budget.verdicts {
		return s.budget.Memory / 4
	}
	return s.budget.Memory
}

func (s *search) outOfMemory() string {
	return fmt.Sprintf("the search was given up at its memory budget of %d bytes", s.memory())
}
