package checker

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

const offsets = "offsets"

// MinimizeOptions limits a minimization.
type MinimizeOptions struct {
	Options         // of each check
	Budget  int     // at most so many checks; 0 is no bound
	Known   *Result // of a check of the whole, if there was one

	// Progress is told after each check how many there were and how many
	// operations are left, if it is not nil.
	Progress func(checks, operations int)
}

// Minimize returns a shorter history that shows the same violation, and how
// many checks that took. Its header expects the verdict it gets. A history
// about which the checker contradicts itself becomes a shorter one of that kind,
// and any other that is no violation is returned as it is.
//
// It begins with the operations that the finding names and what they depend
// on, and only if that is not enough with the whole. Of that it deletes
// partitions, processes, stretches of time, then single operations and marks,
// and at last values. A value goes as a whole, from its send and from every
// answer, so that no read is left of what was never sent. What stays says the
// first finding that nothing permits, word for word, and breaks no rule that the
// whole does not break: what is shown by the part is true of the whole, also
// where what was deleted would have excused it. A consequence beside it may be
// said in other words ("the log had reached 1", where it had reached 10) if what
// was deleted is nothing that would be missed.
//
// Offsets keep their numbers. Those of deleted records hold nothing. Where the
// finding does not need every offset to hold a record, a dense log that loses
// some is called sparse in its header, which promises less. Where it does, the
// log stays dense: it loses all records below an offset, which is then told as
// the log start by the process "minimized" at the very end ("list earliest"),
// and all behind one, which no answer tells a higher end than. The header's note
// says if answers lack records, and if offsets were cut off.
//
// Nothing is taken away that would be missed: what is legal stays legal, unless
// all that is found is said word for word.
//
// Equal arguments give equal results, unless ctx ends or the budget of a check
// is one of memory.
func Minimize(ctx context.Context, h *histories.History, opts MinimizeOptions) (*histories.History, int) {
	r, checks := opts.Known, 0
	if r == nil {
		r, checks = Check(ctx, h, opts.Options), 1
	}
	if r.Verdict != Violates && r.Verdict != Contradictory {
		return h, checks
	}
	for {
		m := newShortening(ctx, h, r, opts)
		m.checks = checks
		m.shorten()
		before := h
		h, r, checks = m.result(), m.verdict, m.checks
		if m.spent() || histories.Equal(h, before) {
			return h, checks
		}
		// What is left may show the violation in other words, of which less
		// may do.
	}
}

func (m *shortening) shorten() {
	if m.verdict.Verdict == Violates {
		m.prove()
	}
	for before := -1; before != m.accepted && !m.spent(); {
		before = m.accepted
		m.rebase()
		m.loosen()
		m.narrow()
		m.deleteGroups(func(o *histories.Op) string { return o.On }, func(*histories.Mark) string { return "" })
		m.deleteGroups(func(o *histories.Op) string { return o.Process }, func(m *histories.Mark) string { return m.Process })
		m.deletePieces()
		m.deleteValues()
	}
	m.rebase()
	m.try(kept{m.gone, m.dropped, false})
}

// loosen lets offsets hold nothing, if the finding does not need them to. Then more
// can go.
func (m *shortening) loosen() {
	if m.packed(m.sparse) && m.target.Name != "gap" && m.try(kept{m.gone, m.dropped, true}) {
		m.rebase()
	}
}

func newShortening(ctx context.Context, h *histories.History, r *Result, opts MinimizeOptions) *shortening {
	m := &shortening{ctx: ctx, opts: opts, whole: h, config: h.Config(), findings: r.Findings, target: r.first(), best: h, verdict: r}
	m.keepAll()
	m.sparse = !m.packed(false)
	return m
}

// leftOut is noted where answers are no longer what clients got.
const leftOut = "minimized: records whose sends are left out are left out of the answers too"

// result returns the best part, with the verdict it gets in its header.
func (m *shortening) result() *histories.History {
	m.rebase()
	header := m.best.Header()
	header.Expect = histories.Expect{}
	if m.verdict.Verdict == Violates { // no file expects a bug of the checker
		header.Expect = histories.Expect{Verdict: m.verdict.Verdict.String(), Names: m.verdict.Names()}
	}
	if m.shortened {
		header.Note = withNote(header.Note, leftOut)
	}
	header.Note = m.cutNotes(header.Note)
	with, err := m.best.WithHeader(header)
	if err != nil {
		panic(err) // the format knows every name that a check gives
	}
	return with
}

// rebase takes the best part for the whole, which is smaller.
func (m *shortening) rebase() {
	if m.best == m.whole {
		return
	}
	dropped := m.droppedBy(m.kept)
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		m.thinned = m.thinned || m.sparse && m.gone[o.Index] && mayHaveHappened(o)
		m.shortened = m.shortened || !m.gone[o.Index] &&
			slices.ContainsFunc(o.Records, func(r histories.Record) bool { return dropped[r.Value] })
	}
	m.thinned = m.thinned || m.sparse && len(m.dropped) > 0
	m.cutBehind = m.cutBehind || m.cut.to != math.MaxInt64
	m.whole = m.best
	m.keepAll()
}

func (m *shortening) keepAll() {
	m.gone, m.dropped = make([]bool, len(m.whole.Ops())+len(m.whole.Marks())), map[histories.Value]bool{}
	m.transactions = findTransactions(m.whole)
	m.cut = uncut
	m.survey()
}

// kept is the part of a history that is left.
type kept struct {
	gone    []bool                   // operations and marks, by index
	dropped map[histories.Value]bool // values of sends that stay
	sparse  bool                     // an offset may hold nothing
}

type shortening struct {
	ctx          context.Context
	opts         MinimizeOptions
	whole        *histories.History
	config       histories.Config // at the beginning
	findings     []Finding        // at the beginning
	transactions *transactions    // of the whole
	target       Finding          // the first that nothing permits
	checks       int

	shortened bool // answers lack records they had
	thinned   bool // offsets between others hold nothing since their sends are gone
	cutBehind bool // answers tell lower ends than they did

	surroundings
	strict bool // nothing that would be missed may go
	cut    cut
	kept
	accepted int // changes
	best     *histories.History
	verdict  *Result // of best
}

func (m *shortening) spent() bool {
	return m.ctx.Err() != nil || m.opts.Budget > 0 && m.checks >= m.opts.Budget
}

// try makes the part the best one if it shows the same, and reports that. What
// else is found may be said in other words than in the whole if nothing was taken
// away that could be missed.
func (m *shortening) try(k kept) bool {
	k, h := m.candidate(k)
	if h == nil {
		return false
	}
	r := m.judge(h)
	shown := m.shows(r)
	if shown && !m.inTheSameWords(r) {
		asked := k
		m.strict = true
		k, h = m.candidate(k)
		m.strict = false
		switch {
		case h == nil:
			shown = false
		case !slices.Equal(k.gone, asked.gone):
			r = m.judge(h)
			shown = m.shows(r)
		}
	}
	if shown = shown && m.ctx.Err() == nil; shown {
		m.kept, m.best, m.verdict = k, h, r
		m.accepted++
	}
	if m.opts.Progress != nil {
		m.opts.Progress(m.checks, len(m.best.Ops()))
	}
	return shown
}

// candidate is a part with what has to stay, and its history; nil if it is not to
// be tried.
func (m *shortening) candidate(k kept) (kept, *histories.History) {
	if m.spent() {
		return k, nil
	}
	k, ok := m.sound(k)
	if !ok || m.isBest(k) || m.unframes(k) {
		return k, nil
	}
	h := m.part(k)
	if h == nil || m.cut == uncut && k.sparse == m.sparse && size(h) >= size(m.best) {
		return k, nil // what has to stay may be all of it
	}
	return k, h
}

func (m *shortening) judge(h *histories.History) *Result {
	m.checks++
	return Check(m.ctx, h, m.opts.Options)
}

// isBest reports whether a part is the best one itself.
func (m *shortening) isBest(k kept) bool {
	return m.cut == uncut && k.sparse == m.sparse && slices.Equal(k.gone, m.gone) && maps.Equal(k.dropped, m.dropped)
}

// shows reports whether what a part shows first is what the whole shows first, and
// it breaks no other rule.
func (m *shortening) shows(r *Result) bool {
	if m.verdict.Verdict == Contradictory {
		return r.Verdict == Contradictory
	}
	for _, f := range r.Findings {
		if f.Allowed == "" && !m.found(func(w Finding) bool { return w.Name == f.Name && w.Partition == f.Partition }) {
			return false
		}
	}
	return says(r.first(), m.target)
}

// inTheSameWords reports whether the whole says so too, all of it. Where it lists
// a part of its findings only, the name has to do.
func (m *shortening) inTheSameWords(r *Result) bool {
	return r.Verdict == Contradictory || !slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Allowed == "" && !m.found(func(w Finding) bool {
			return says(f, w) || w.More > 0 && w.Name == f.Name && w.Partition == f.Partition
		})
	})
}

// found reports whether there is such a finding of the whole that nothing permits.
func (m *shortening) found(such func(w Finding) bool) bool {
	return slices.ContainsFunc(m.findings, func(w Finding) bool { return w.Allowed == "" && such(w) })
}

// says reports whether two findings say the same. A witness of the search
// counts answers, which become fewer.
func says(f, g Finding) bool {
	return f.Name == g.Name && f.Partition == g.Partition && (f.Says == g.Says || f.Name == notLinearizable)
}

// holey reports whether an offset of what is left may hold nothing.
func (m *shortening) holey() bool { return m.sparse || m.config.Get(offsets) != "dense" }

func mayHaveHappened(o *histories.Op) bool {
	return o.Kind == histories.Send && o.Outcome != histories.Fail
}

// promises reports whether a send certainly took effect.
func promises(o *histories.Op, c histories.Config) bool {
	return o.Kind == histories.Send && o.Outcome == histories.OK && model.AcksOf(o, c) == "all"
}
