package checker

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
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
// Offsets keep their numbers. Those of deleted records hold nothing: a dense
// log that loses records on the way is called sparse in its header, which
// promises less, and so its start moves up with its first record. The header's
// note says if answers lack records.
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
		m.deleteGroups(func(o *histories.Op) string { return o.On }, func(*histories.Mark) string { return "" })
		m.deleteGroups(func(o *histories.Op) string { return o.Process }, func(m *histories.Mark) string { return m.Process })
		m.deletePieces()
		m.deleteValues()
	}
	m.rebase()
	if !m.mayHoldMore {
		m.try(kept{m.gone, m.dropped, false})
	}
}

func newShortening(ctx context.Context, h *histories.History, r *Result, opts MinimizeOptions) *shortening {
	m := &shortening{ctx: ctx, opts: opts, whole: h, config: h.Config(), findings: r.Findings, target: r.first(), best: h, verdict: r}
	m.keepAll()
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
	if m.shortened && !strings.Contains(header.Note, leftOut) {
		header.Note = strings.TrimPrefix(header.Note+"\n"+leftOut, "\n")
	}
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
		m.mayHoldMore = m.mayHoldMore || m.target.Name == notLinearizable && m.gone[o.Index] && mayHaveHappened(o)
		m.shortened = m.shortened || !m.gone[o.Index] &&
			slices.ContainsFunc(o.Records, func(r histories.Record) bool { return dropped[r.Value] })
	}
	m.whole = m.best
	m.keepAll()
}

func (m *shortening) keepAll() {
	m.gone, m.dropped = make([]bool, len(m.whole.Ops())+len(m.whole.Marks())), map[histories.Value]bool{}
	m.transactions = findTransactions(m.whole)
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

	shortened   bool // answers lack records they had
	mayHoldMore bool // sends are gone that may explain what only a search shows

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
	h := m.part(k)
	if h == nil || m.unframes(k) {
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
	for _, o := range m.whole.Ops() {
		if k.gone[o.Index] {
			continue
		}
		if o.Kind == histories.Send && !trim(&o, dropped) {
			return nil
		}
		if o.IsRead() {
			o.Records = slices.DeleteFunc(slices.Clone(o.Records), func(r histories.Record) bool { return dropped[r.Value] })
		}
		o.Line, o.ReturnLine = 0, 0
		ops = append(ops, o)
	}
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
	if err != nil {
		return nil
	}
	return h
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

// without is what is left, less those items.
func (m *shortening) without(items []int) kept {
	k := kept{slices.Clone(m.gone), m.dropped, m.sparse}
	for _, i := range items {
		k.gone[i] = true
	}
	return k
}

// left returns the items that may be deleted and are not, in order. Where only
// a search shows the violation of a dense log, a send that may have happened
// stays: without it the order that explains the rest may be impossible for lack
// of it. A sparse log promises nothing of the offset it would have had.
func (m *shortening) left() []int {
	var items []int
	pinned := map[int]bool{}
	if m.target.Name == notLinearizable && !m.holey() {
		for i := range m.whole.Ops() {
			o := &m.whole.Ops()[i]
			pinned[o.Index] = mayHaveHappened(o)
		}
	}
	for i, gone := range m.gone {
		if !gone && !pinned[i] {
			items = append(items, i)
		}
	}
	return items
}

// holey reports whether an offset of what is left may hold nothing.
func (m *shortening) holey() bool { return m.sparse || m.config.Get(offsets) != "dense" }

func mayHaveHappened(o *histories.Op) bool {
	return o.Kind == histories.Send && o.Outcome != histories.Fail
}

// deleteGroups deletes the items of one name at once, for each name but "".
func (m *shortening) deleteGroups(ofOp func(*histories.Op) string, ofMark func(*histories.Mark) string) {
	group := make([]string, len(m.gone))
	var names []string
	for i := range m.whole.Ops() {
		o := &m.whole.Ops()[i]
		group[o.Index] = ofOp(o)
		names = append(names, group[o.Index])
	}
	for i := range m.whole.Marks() {
		mark := &m.whole.Marks()[i]
		group[mark.Index] = ofMark(mark)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		items := slices.DeleteFunc(m.left(), func(i int) bool { return group[i] != name })
		if len(items) > 0 {
			m.try(m.without(items))
		}
	}
}

// deletePieces is ddmin's deletion of pieces, from the end backwards: stretches
// of time, then single operations and marks.
func (m *shortening) deletePieces() {
	items := m.left()
	for size := (len(items) + 1) / 2; size > 0; size /= 2 {
		for end := len(items); end > 0 && !m.spent(); end -= size {
			m.try(m.without(items[max(0, end-size):end]))
		}
		items = m.left()
	}
}

// deleteValues drops values of batches, large pieces first.
func (m *shortening) deleteValues() {
	if m.target.Name == notLinearizable && !m.holey() {
		return
	}
	values := m.values()
	for size := (len(values) + 1) / 2; size > 0; size /= 2 {
		for end := len(values); end > 0 && !m.spent(); end -= size {
			k := kept{m.gone, maps.Clone(m.dropped), m.sparse}
			for _, v := range values[max(0, end-size):end] {
				k.dropped[v] = true
			}
			m.try(k)
		}
		values = m.values()
	}
}

// values returns the values of batches that are left, in order of sending.
func (m *shortening) values() []histories.Value {
	var values []histories.Value
	for _, o := range m.best.Ops() {
		if o.Kind == histories.Send && len(o.Values) > 1 {
			values = append(values, o.Values...)
		}
	}
	return values
}
