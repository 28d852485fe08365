package checker

import (
	"context"
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// judge judges a history with transactions in two steps. Rules of their own look
// at who saw what of them. The rest is judged as a history without transactions,
// the projection: what took effect is in it as if it had been sent alone, and of
// what did not, or may not have, it promises nothing.
//
// The projection is legal if the history is. A record of a transaction has its
// place in the log from its send on, as any other: a reader of what is committed
// is held up at the first open transaction (the last stable offset), so it never
// passes a record that is committed later. Commit and abort markers, and records
// of aborted transactions, fill offsets that hold nothing a client can see, which
// a log of sparse offsets may have anywhere.
func (ts *transactions) judge(ctx context.Context, opts Options) *Result {
	p := ts.project()
	opts.atStake, opts.Terse = stakeOf(ts.whole.Ops()).acknowledged, false
	r := Check(ctx, p.history, opts)
	p.restore(r)
	ts.showCertain(r)
	if r.Verdict == Contradictory || r.Verdict == NotRun {
		return r
	}
	for i := range transactionRules {
		r.Findings = append(r.Findings, transactionRules[i].apply(ts, r)...)
	}
	r.show()
	order := Rules()
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(order, a.Name) - rank(order, b.Name) })
	if len(r.Names()) > 0 {
		r.Verdict, r.Reason, r.ReasonKind = Violates, "", ""
	} else if why := ts.undecided(p); why.says != "" && r.Verdict == Conforms {
		r.Verdict, r.Reason, r.ReasonKind = Undecided, why.says, why.kind
	}
	return r
}

// rank is the place of a name among the rules; what is no rule comes last.
func rank(rules []string, name string) int {
	if i := slices.Index(rules, name); i >= 0 {
		return i
	}
	return len(rules)
}

// undecided says why the verdict may not be ok.
func (ts *transactions) undecided(p projection) (why doubt) {
	if ts.whole.Config().Get("reads") == "linearizable" {
		const says = "what reads=linearizable promises of open transactions is not judged"
		return doubt{says, says}
	}
	for _, t := range ts.all {
		if t.committed != nil && t.aborted != nil {
			return doubt{"a transaction is said to be committed and aborted", fmt.Sprintf("transaction %s is said to be committed and aborted", t.name)}
		}
	}
	if scan := ts.retained(p); scan != nil {
		return doubt{"a scan begins behind a record, and nobody was told the log start after it",
			fmt.Sprintf("%s: a scan begins at offset %d, behind a record, and nobody was told the log start after it (list earliest)", scan.On, scan.From)}
	}
	return doubt{}
}

// A projection is a history without its transactions.
type projection struct {
	whole   *histories.History
	history *histories.History
	ops     []int // the index in the whole of each operation
	marks   []int // and of each mark
	notes   []string
}

func (ts *transactions) project() projection {
	p := projection{whole: ts.whole}
	var ops []histories.Op
	var reaches []reach
	for i := range ts.whole.Ops() {
		o := ts.whole.Ops()[i]
		if o.Kind == histories.Begin || o.Kind == histories.Commit || o.Kind == histories.Abort {
			continue
		}
		alone, speaks := ts.alone(o)
		p.ops = append(p.ops, o.Index)
		ops, reaches = append(ops, alone), append(reaches, speaks)
	}
	for i := range ts.whole.Marks() {
		p.marks = append(p.marks, ts.whole.Marks()[i].Index)
	}
	if n := ts.passed(); n > 0 {
		p.notes = append(p.notes, fmt.Sprintf("isolation.level=read_uncommitted: that %d records of open or aborted transactions were read is not judged", n))
	}
	header := ts.whole.Header()
	header.Schedule = ""
	header.Config = header.Config.With("reads", "committed")
	if ts.whole.Config().Get("reads") == "linearizable" {
		p.notes = append(p.notes, "reads=linearizable was judged as committed, on every partition: what it promises of open transactions is not judged")
	}
	if header.Config.Get(offsets) == "dense" {
		header.Config = header.Config.With(offsets, "sparse")
		p.notes = append(p.notes, "offsets=dense was judged as sparse, on every partition: the markers of transactions fill offsets")
	}
	h, err := histories.New(ts.whole.Name(), header, ops, ts.whole.Marks())
	if err != nil {
		panic(err) // less of what is well formed is well formed
	}
	for i := range ops {
		reaches[i].tell(&h.Ops()[i])
	}
	p.history = h
	return p
}

// retained returns a scan that was held up, as the projection has it, if it begins
// behind a record and only retention that nobody told of could explain that. Of other
// scans the judge of the projection says so itself.
func (ts *transactions) retained(p projection) *histories.Op {
	if ts.whole.Config().Get("cleanup.policy") == "compact" {
		return nil
	}
	first := map[string]int64{} // offset of a record, by partition
	for i := range p.history.Ops() {
		o := &p.history.Ops()[i]
		at := histories.None
		if o.Kind == histories.Send && ts.binds(o) {
			at = o.Offset
		} else if len(o.Records) > 0 {
			at = lowest(o.Records)
		}
		if before, ok := first[o.On]; at != histories.None && (!ok || at < before) {
			first[o.On] = at
		}
	}
	for i, index := range p.ops {
		o := &p.history.Ops()[i]
		_, told := ts.starts[o.On]
		at, there := first[o.On]
		if there && at < o.From && !told && opAt(ts.whole.Ops(), index).Kind == histories.Scan {
			return o
		}
	}
	return nil
}

// passed counts the records of transactions that took no effect, as far as is
// known, in answers to readers that are promised nothing of that.
func (ts *transactions) passed() (n int) {
	for i := range ts.whole.Ops() {
		o := &ts.whole.Ops()[i]
		for _, r := range o.Records {
			if !ts.readers[o.Process] && ts.hidden(o.On, r) {
				n++
			}
		}
	}
	return n
}

// restore makes a result of the projection one of the whole.
func (p projection) restore(r *Result) {
	p.recount(&r.Exercised)
	r.Notes = append(r.Notes, p.notes...)
	r.Assumptions = slices.DeleteFunc(r.Assumptions, func(a string) bool { return a == "reads=committed" || a == "offsets=sparse" })
	r.Assumptions = append(r.Assumptions, assumed(p.whole.Config(), "offsets", "reads", "isolation.level")...)
	at := make([]int, len(p.ops)+len(p.marks)) // index in the whole, by that in the projection
	for i := range p.history.Ops() {
		at[p.history.Ops()[i].Index] = p.ops[i]
	}
	for i := range p.history.Marks() {
		at[p.history.Marks()[i].Index] = p.marks[i]
	}
	for _, f := range r.Findings {
		for i := range f.Evidence {
			e := &f.Evidence[i]
			e.Index = at[e.Index]
			if o := opAt(p.whole.Ops(), e.Index); o != nil {
				e.Text = brief(o, f.about, nil)
			}
		}
	}
}

// recount says how much the whole has at stake. What is acknowledged is what
// clients may rely on, so that is the projection's.
func (p projection) recount(e *Exercised) {
	e.Operations, e.Records, e.Rules = len(p.whole.Ops()), 0, e.Rules+len(transactionRules)
	for i := range p.whole.Ops() {
		if o := &p.whole.Ops()[i]; o.Outcome == histories.OK {
			e.Records += len(o.Records)
		}
	}
}

// showCertain adds what says that a transaction took effect to the evidence of
// findings about its records: its commit, or an answer that shows one of them.
func (ts *transactions) showCertain(r *Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, v := range f.about {
			for _, s := range ts.sendsOf(written{f.Partition, v}) {
				if t := ts.of[s.Index]; t != nil && t.certain() {
					ts.show(f, t)
				}
			}
		}
	}
}

// show adds what says that a transaction took effect, if it is not among the
// evidence.
func (ts *transactions) show(f *Finding, t *transaction) {
	by := t.committed
	if by == nil {
		by = t.sights[0].read
	}
	at, there := slices.BinarySearchFunc(f.Evidence, by.Index, func(e Evidence, index int) int { return e.Index - index })
	if there {
		return
	}
	if t.committed == nil {
		f.about = append(slices.Clone(f.about), t.sights[0].record.Value)
	}
	f.Evidence = slices.Insert(slices.Clone(f.Evidence), at, Evidence{Index: by.Index, Line: by.Line, Text: brief(by, f.about, nil)})
}
