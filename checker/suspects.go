package checker

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// sectioned is the number of operations from which on it pays to look at sections
// of a history that the quick judge does not accept.
const sectioned = 10_000

// never is more operations than any history has.
const never = math.MaxInt

// judgeSuspects judges a history by the quick judge and, where that suspects
// something, by the rules and the engines. It reports false if the whole
// history has to be judged: for sections do not pay in one of fewer operations
// than that, or cannot do.
func judgeSuspects(ctx context.Context, again replay, opts Options, least int) (*Result, histories.Header, bool) {
	s := &quickSink{strict: least == never, inOrder: again.inOrder}
	defer func() {
		if s.quick != nil {
			s.pieces.free()
		}
	}()
	whole := again.to(s)
	if !whole && s.quick != nil && s.rebalanced {
		s.rebalances = true
		whole = again.to(s)
	}
	if !whole {
		return nil, s.header, false
	}
	q := s.quick
	q.begin()
	if q.gaveUp || !q.clean() && q.exercised.Operations < least {
		return nil, s.header, false
	}
	j := emptyJudge(q.config, opts)
	if !q.clean() {
		k := &keeper{quick: q, rebalances: s.rebalances, budget: opts.Memory}
		switch whole := again.to(k); {
		case k.heavy != "":
			return tooHeavy(q.config, q.exercised, k.heavy), s.header, true
		case !whole:
			return nil, s.header, false
		}
		j.partitions = k.partitions()
	}
	return q.conclude(ctx, j), s.header, true
}

// begin settles every partition, in the order in which they are first used.
func (q *quick) begin() {
	slices.SortFunc(q.order, func(a, b *quickLog) int { return cmp.Compare(a.first, b.first) })
	for _, l := range q.order {
		if !q.gaveUp {
			q.settle(l)
		}
	}
}

// clean reports whether nothing is suspect.
func (q *quick) clean() bool {
	return !slices.ContainsFunc(q.order, func(l *quickLog) bool { return l.suspect })
}

// conclude puts together what the quick judge knows and what the rules find in
// the partitions that it suspects.
func (q *quick) conclude(ctx context.Context, j *judge) *Result {
	j.marks, j.ending, j.stake = q.confessed, q.ending, q.stake
	j.result.Exercised = q.exercised
	j.result.Exercised.Partitions, j.result.Exercised.Rules = len(q.order), len(rules)
	j.assume(q.config)
	j.notePositions(q.config, q.tracker.judged, q.polls)
	j.applyRules()
	if j.search(ctx); len(j.partitions) < len(q.order) {
		j.used(Linear)
	}
	if j.atStake(q.exercised.Reads > 0) {
		parts := map[string]*partition{}
		for _, p := range j.partitions {
			parts[p.name] = p
		}
		for _, l := range q.order {
			u := l.unseen()
			if p := parts[l.name]; p != nil {
				j.noteRetained(p)
				j.noteUnkeyed(p)
				u.add(p.unseen())
			}
			j.noteUnseen(l.name, u)
		}
	}
	j.conclude()
	return &j.result
}

// A quickSink lets the quick judge see a history.
type quickSink struct {
	*quick
	header     histories.Header
	rebalances bool
	strict     bool
	inOrder    bool
}

func (s *quickSink) Header(h histories.Header) bool {
	s.quick, s.header = newQuick(h.Config, s.rebalances), h
	if s.quick.strict = s.strict; s.inOrder {
		s.pipeline = 1
	}
	return !s.gaveUp
}

func (s *quickSink) Op(o *histories.Op, process int) bool {
	s.op(o, process)
	return !s.gaveUp
}

func (s *quickSink) Ops(ops []histories.Op) bool {
	s.all(ops)
	return !s.gaveUp
}

func (s *quickSink) Mark(m *histories.Mark) bool {
	s.mark(m)
	return !s.gaveUp
}
