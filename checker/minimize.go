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
// first finding that nothing permits, word for word, and finds nothing that
// was not found in the whole: what is shown by the part is true of the whole,
// also where what was deleted would have excused it.
//
// Offsets keep their numbers. Those of deleted records hold nothing. Where the
// finding does not need every offset to hold a record, a dense log that loses
// some is called sparse in its header, which promises less. Where it does, the
// log stays dense: it loses all records below an offset, which is then told as
// the log start by the process "minimized" at the very end ("list earliest"),
// and all behind one, which no answer tells a higher end than. The header's note
// says if answers lack records, and if offsets were cut off.
//
// Nothing is taken away that would be missed: what is legal stays legal.
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
		m.narrow()
		m.deleteGroups(func(o *histories.Op) string { return o.On }, func(*histories.Mark) string { return "" })
		m.deleteGroups(func(o *histories.Op) string { return o.Process }, func(m *histories.Mark) string { return m.Process })
		m.deletePieces()
		m.deleteValues()
	}
	m.rebase()
	m.try(kept{m.gone, m.dropped, false})
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
	cut cut
	kept
	accepted int // changes
	best     *histories.History
	verdict  *Result // of best
}

func (m *shortening) spent() bool {
	return m.ctx.Err() != nil || m.opts.Budget > 0 && m.checks >= m.opts.Budget
}

// try makes the part the best one if it shows the same, and reports that.
func (m *shortening) try(k kept) bool {
	if m.spent() {
		return false
	}
	k, ok := m.sound(k)
	if !ok || m.isBest(k) || m.unframes(k) {
		return false
	}
	h := m.part(k)
	if h == nil {
		return false
	}
	m.checks++
	r := Check(m.ctx, h, m.opts.Options)
	same := m.ctx.Err() == nil && m.same(r)
	if same {
		m.kept, m.best, m.verdict = k, h, r
		m.accepted++
	}
	if m.opts.Progress != nil {
		m.opts.Progress(m.checks, len(m.best.Ops()))
	}
	return same
}

// isBest reports whether a part is the best one itself.
func (m *shortening) isBest(k kept) bool {
	return m.cut == uncut && k.sparse == m.sparse && slices.Equal(k.gone, m.gone) && maps.Equal(k.dropped, m.dropped)
}

// same reports whether a part shows what the whole shows, and nothing else.
func (m *shortening) same(r *Result) bool {
	if m.verdict.Verdict == Contradictory {
		return r.Verdict == Contradictory
	}
	found := false
	for _, f := range r.Findings {
		if f.Allowed != "" {
			continue
		}
		if !m.known(f) {
			return false
		}
		found = found || says(f, m.target)
	}
	return found
}

// known reports whether the whole says so too. Where it lists a part of its
// findings only, the name has to do.
func (m *shortening) known(f Finding) bool {
	return slices.ContainsFunc(m.findings, func(w Finding) bool {
		return w.Allowed == "" && (says(f, w) || w.More > 0 && w.Name == f.Name && w.Partition == f.Partition)
	})
}

// says reports whether two findings say the same. A witness of the search
// counts answers, which become fewer.
func says(f, g Finding) bool {
	return f.Name == g.Name && f.Partition == g.Partition && (f.Says == g.Says || f.Name == notLinearizable)
}

// unframes reports whether a transaction would lose its begin or an end of it.
func (m *shortening) unframes(k kept) bool {
	if m.transactions == nil {
		return false
	}
	items := make([]bool, len(k.gone))
	for i, gone := range k.gone {
		items[i] = !gone
	}
	m.transactions.frame(items)
	for i, gone := range k.gone {
		if gone && items[i] {
			return true
		}
	}
	return false
}

// part builds the history of what is left; nil if there is none.
func (m *shortening) part(k kept) *histories.History {
	dropped := m.droppedBy(k)
	var ops []histories.Op
	var polls []int
	for _, o := range m.whole.Ops() {
		if k.gone[o.Index] {
			continue
		}
		if o.Kind == histories.Send && !trim(&o, dropped) {
			return nil
		}
		if !m.shortenAnswer(&o, dropped) {
			if o.Index == m.startBy {
				return nil
			}
			continue
		}
		if o.Kind == histories.Poll {
			polls = append(polls, o.Index)
		}
		o.Line, o.ReturnLine = 0, 0
		ops = append(ops, o)
	}
	ops = m.withStartTold(ops)
	var marks []histories.Mark
	for _, mark := range m.whole.Marks() {
		if !k.gone[mark.Index] {
			mark.Line = 0
			marks = append(marks, mark)
		}
	}
	header := m.whole.Header()
	header.Schedule = "" // it is the cause of the whole
	header.Config = m.config
	if k.sparse && header.Config.Get(offsets) == "dense" {
		header.Config = header.Config.With(offsets, "sparse")
	}
	h, err := histories.New(m.whole.Name(), header, ops, marks)
	if err != nil || m.moved(h, polls) {
		return nil
	}
	return h
}

// shortenAnswer takes out of an answer what is left out. It reports false if the
// rest would say more than the answer did.
func (m *shortening) shortenAnswer(o *histories.Op, dropped map[histories.Value]bool) bool {
	before := *o
	if o.IsRead() {
		o.Records = slices.DeleteFunc(slices.Clone(o.Records), func(r histories.Record) bool { return dropped[r.Value] })
	}
	m.cut.clip(o)
	return !saysMore(&before, o, m.config)
}

// droppedBy returns the values that are to be seen nowhere: those dropped, and
// those of sends that are gone if no send of them stays.
func (m *shortening) droppedBy(k kept) map[histories.Value]bool {
	dropped := maps.Clone(k.dropped)
	for _, o := range m.whole.Ops() {
		if o.Kind == histories.Send && k.gone[o.Index] {
			for _, v := range o.Values {
				dropped[v] = true
			}
		}
	}
	for _, o := range m.whole.Ops() {
		if o.Kind == histories.Send && !k.gone[o.Index] {
			for _, v := range o.Values {
				if !k.dropped[v] {
					delete(dropped, v)
				}
			}
		}
	}
	return dropped
}

// trim takes values out of a batch at its ends. It reports whether a batch is
// left whose offsets are known: not one that lost a value from its middle.
func trim(o *histories.Op, dropped map[histories.Value]bool) bool {
	first, end := 0, len(o.Values)
	for first < end && dropped[o.Values[first]] {
		first++
	}
	for end > first && dropped[o.Values[end-1]] {
		end--
	}
	o.Values = o.Values[first:end]
	if o.Offset != histories.None {
		o.Offset += int64(first)
	}
	return len(o.Values) > 0 && !slices.ContainsFunc(o.Values, func(v histories.Value) bool { return dropped[v] })
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
