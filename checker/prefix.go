package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A Prefix is how far a history is legal: its first events, in the order in
// which the encoding as events has them, and not one more. Where minimizing cut
// a log off, that is told first.
type Prefix struct {
	Events, Of int
	Line       int   // every line of the file up to it is in the prefix; 0 if there is no file
	Time       int64 // of the last event of the prefix, None if it has none

	Breaks  Evidence // the operation or mark with which it is not legal any more
	Answer  bool     // it is its answer that breaks it
	At      int64    // when that was
	Rule    string   // by which it is broken then
	Skipped string   // why nothing of this is known, "" if it is
}

// Limits of the search for a prefix: of the operations judged in all, of the steps
// back from the instant that breaks it, and of the model steps of all judgements
// together. They are counts, as the budgets of Options are, so that every machine
// finds the same.
const (
	mostJudged   = 40_000_000
	mostSteps    = 64
	mostSearched = 2_000_000 // unless Options allow fewer
)

// LegalPrefix returns the longest legal prefix of a history whose check gave r,
// a violation.
//
// What is a violation at the end of an instant is one in every longer history
// too: answers that come later only add to what an order has to explain, sends
// that begin later can't have taken effect before, and what one client may rely
// on is broken for good. So halving finds the instant that breaks it. The events
// of one instant are concurrent, and there the last one may explain the first:
// they are tried from the last one back.
//
// Where settings let the future excuse the past (an unclean election, a log
// start that is told later), all that holds for the findings of the whole only:
// each needs some events to have happened and none that excuse it, and those
// are not in the whole. There the halving looks for these findings, and the
// steps back pass over what other findings break. A prefix that is longer may be
// legal again, and is not looked for: with a request to delete records in it, say,
// that nobody has refused yet.
func LegalPrefix(ctx context.Context, h *histories.History, r *Result, opts Options) Prefix {
	if why := weigh(h).exceeds(opts.Memory, "the history as a whole"); why != "" {
		return Prefix{Skipped: why}
	}
	s := &prefixSearch{ctx: ctx, h: h, whole: r, opts: opts, moments: inOrder(h), hindsight: hasHindsight(h), broken: map[int]string{}}
	before, at := s.breakingInstant()
	legal := at - 1
	for steps := 0; s.skipped == "" && (legal > before || s.hindsight) && s.violates(legal); legal-- {
		if steps++; steps > mostSteps {
			s.skipped = "too many events at once, or settings that let the future excuse the past"
		}
	}
	if s.skipped != "" {
		return Prefix{Skipped: s.skipped}
	}
	return s.prefix(legal)
}

// breakingInstant returns how many events there were before the instant that
// breaks the history, and at its end.
func (s *prefixSearch) breakingInstant() (before, at int) {
	ends := []int{0} // of instants, in events
	for i := range s.moments {
		if i+1 == len(s.moments) || s.moments[i+1].Time() > s.moments[i].Time() {
			ends = append(ends, i+1)
		}
	}
	legal, broken := 0, sort.SearchInts(ends, s.proven())
	if last := len(ends) - 1; broken < last && !s.shows(ends[broken]) { // a repeated value may explain it
		broken = last
	}
	for step := 1; broken-step > 0 && s.skipped == ""; step *= 2 { // it is near, most likely
		r := s.check(ends[broken-step])
		if !s.lasting(r) {
			legal = broken - step
			break
		}
		broken -= step
		if named := sort.SearchInts(ends, s.told(r)); named < broken && s.shows(ends[named]) { // what it names, it needs no more than
			broken, step = named, 1
		}
	}
	for broken-legal > 1 && s.skipped == "" {
		if middle := (legal + broken) / 2; s.shows(ends[middle]) {
			broken = middle
		} else {
			legal = middle
		}
	}
	return ends[legal], ends[broken]
}

type prefixSearch struct {
	ctx       context.Context
	h         *histories.History
	whole     *Result
	opts      Options
	moments   []histories.Moment
	hindsight bool
	judged    int // operations
	steps     int64
	skipped   string
	broken    map[int]string // the rules by which prefixes of so many events are
}

// inOrder returns the events of a history, but where minimizing has cut its log off
// below an offset, that is told first. It is told at the end since answers before it
// told of ends below; what was cut off is out of scope in every prefix all the same.
func inOrder(h *histories.History) []histories.Moment {
	moments := h.Moments()
	if !strings.Contains(h.Header().Note, cutBelow) {
		return moments
	}
	toldOfCut := func(m histories.Moment) bool { return m.Op != nil && isCutOff(*m.Op) }
	first := slices.DeleteFunc(slices.Clone(moments), func(m histories.Moment) bool { return !toldOfCut(m) })
	return append(first, slices.DeleteFunc(moments, toldOfCut)...)
}

// hasHindsight reports whether what happens later may excuse what was seen.
func hasHindsight(h *histories.History) bool {
	c := h.Config()
	return truncation(c) != "" || endMayGoBack(c) != "" || c.Get("allow") != "" || c.Get("cleanup.policy") == "compact" ||
		slices.ContainsFunc(h.Ops(), func(o histories.Op) bool {
			// A deletion that fails in the end may have been done, as far as a prefix tells.
			return o.Start > 0 || o.Kind == histories.List && o.At == "earliest" && o.Offset > 0 || o.Kind == histories.DeleteRecords
		})
}

// proven returns a number of events after which the history is certainly not
// legal: when all that proves a finding has happened, if that alone shows it.
// It does not where only a search shows that no send explains an offset: a send
// that was refused at last could have.
func (s *prefixSearch) proven() int {
	m := newShortening(s.ctx, s.h, s.whole, MinimizeOptions{Options: s.opts})
	if !m.prove() || m.target.Name == notLinearizable && !m.holey() {
		return len(s.moments)
	}
	return s.happened(func(index int) bool { return !m.gone[index] })
}

// told returns the number of events by which all has happened that the first finding
// of a prefix names.
func (s *prefixSearch) told(r *Result) int {
	named := map[int]bool{}
	for _, e := range r.first().Evidence {
		named[e.Index] = true
	}
	return s.happened(func(index int) bool { return named[index] })
}

// happened returns the number of events by which some operations and marks have
// happened, which are chosen by their indexes.
func (s *prefixSearch) happened(chosen func(index int) bool) (events int) {
	for i, at := range s.moments {
		if at.Op != nil && chosen(at.Op.Index) || at.Mark != nil && chosen(at.Mark.Index) {
			events = i + 1
		}
	}
	return events
}

// shows reports whether a prefix has a finding that the longer ones have too.
func (s *prefixSearch) shows(events int) bool { return s.lasting(s.check(events)) }

// lasting reports whether a prefix of which r is the result has such a finding.
func (s *prefixSearch) lasting(r *Result) bool {
	if !s.hindsight {
		return r.Verdict == Violates
	}
	return slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Allowed == "" && slices.ContainsFunc(s.whole.Findings, func(w Finding) bool {
			return w.Allowed == "" && w.Name == f.Name && w.Partition == f.Partition
		})
	})
}

func (s *prefixSearch) violates(events int) bool { return s.check(events).Verdict == Violates }

// check judges a prefix, unless that would be too much.
func (s *prefixSearch) check(events int) *Result {
	h, err := s.h.Prefix(s.moments[:events])
	if err != nil {
		panic(err) // a prefix of what is well formed is well formed
	}
	if s.judged += len(h.Ops()); s.judged > mostJudged {
		s.skipped = fmt.Sprintf("the search for it was given up after judging %d operations", mostJudged)
		return &Result{}
	}
	budget := min(cmp.Or(s.opts.Steps, DefaultSteps), mostSearched)
	opts := s.opts
	opts.verdicts, opts.Steps = true, max(1, budget-s.steps)
	r := Check(s.ctx, h, opts)
	switch s.steps += r.Exercised.Steps; {
	case s.steps > budget:
		s.skipped = fmt.Sprintf("the search for it was given up after %d model steps", budget)
	case r.gaveUp != "" && s.skipped == "":
		s.skipped = "of a part of it " + r.gaveUp
	}
	if s.ctx.Err() != nil {
		s.skipped = "the search for it was ended: " + context.Cause(s.ctx).Error()
	}
	if r.Verdict == Violates {
		s.broken[events] = r.first().Name
	}
	return r
}

// prefix describes the first events.
func (s *prefixSearch) prefix(events int) Prefix {
	p := Prefix{Events: events, Of: len(s.moments), Time: histories.None, Rule: cmp.Or(s.broken[events+1], s.whole.first().Name)}
	if events > 0 {
		p.Time = s.moments[events-1].Time()
	}
	rest := s.moments[events:]
	breaks := rest[0]
	p.At, p.Answer = breaks.Time(), breaks.Completes
	if m := breaks.Mark; m != nil {
		p.Breaks = Evidence{Index: m.Index, Line: m.Line, Text: m.String()}
	} else {
		p.Breaks = Evidence{Index: breaks.Op.Index, Line: breaks.Line(), Text: brief(breaks.Op, nil, nil)}
	}
	line := func(a, b histories.Moment) int { return cmp.Compare(a.Line(), b.Line()) }
	p.Line = slices.MinFunc(rest, line).Line() - 1
	if p.Line < slices.MinFunc(s.moments, line).Line() { // lines of the header are not events
		p.Line = 0
	}
	return p
}

// Explain adds to the result of a violation what only further checks can tell.
func Explain(ctx context.Context, h *histories.History, r *Result, opts Options) {
	if r.Verdict == Violates {
		legal := LegalPrefix(ctx, h, r, opts)
		r.Legal = &legal
	}
}
