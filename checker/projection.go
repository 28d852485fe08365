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
	r := Check(ctx, p.history, opts)
	p.restore(r)
	ts.showCertain(r)
	if r.Verdict == Contradictory || r.Verdict == NotRun {
		return r
	}
	for i := range transactionRules {
		r.Findings = append(r.Findings, transactionRules[i].apply(ts, r)...)
	}
	order := Rules()
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(order, a.Name) - rank(order, b.Name) })
	if len(r.Names()) > 0 {
		r.Verdict, r.Reason = Violates, ""
	} else if why := ts.undecided(); why != "" && r.Verdict == Conforms {
		r.Verdict, r.Reason = Undecided, why
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
func (ts *transactions) undecided() string {
	if ts.whole.Config().Get("reads") == "linearizable" {
		return "what reads=linearizable promises of open transactions is not judged"
	}
	for _, t := range ts.all {
		if t.committed != nil && t.aborted != nil {
			return fmt.Sprintf("transaction %s is said to be committed and aborted", t.name)
		}
	}
	return ""
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
	for i := range ts.whole.Ops() {
		o := ts.whole.Ops()[i]
		if o.Kind == histories.Begin || o.Kind == histories.Commit || o.Kind == histories.Abort {
			continue
		}
		p.ops = append(p.ops, o.Index)
		ops = append(ops, ts.alone(o))
	}
	for i := range ts.whole.Marks() {
		p.marks = append(p.marks, ts.whole.Marks()[i].Index)
	}
	header := ts.whole.Header()
	header.Schedule = ""
	header.Config = header.Config.With("reads", "committed")
	if header.Config.Get(offsets) == "dense" {
		header.Config = header.Config.With(offsets, "sparse")
		p.notes = append(p.notes, "offsets=dense was judged as sparse: the markers of transactions fill offsets")
	}
	h, err := histories.New(ts.whole.Name(), header, ops, ts.whole.Marks())
	if err != nil {
		panic(err) // less of what is well formed is well formed
	}
	p.history = h
	return p
}

// alone is an operation as it is in the projection.
func (ts *transactions) alone(o histories.Op) histories.Op {
	t := ts.of[o.Index]
	o.Tx = ""
	if o.Kind == histories.Send && o.Outcome == histories.OK && t != nil && !t.certain() {
		o.Outcome, o.Offset = histories.Info, histories.None
	}
	if o.Outcome != histories.OK {
		return o
	}
	hidden := func(r histories.Record) bool { return ts.hidden(o.On, r) }
	if slices.ContainsFunc(o.Records, hidden) {
		o.Records = slices.DeleteFunc(slices.Clone(o.Records), hidden)
	}
	switch {
	case !ts.readers[o.Process]:
	case o.Kind == histories.Scan && ts.heldUp(&o):
		return inexact(o)
	case o.Kind == histories.List && ts.whole.Config().Get("system") == "other":
		// It is the last stable offset, which others, who are told the end, may see behind it.
		o.Outcome, o.Offset = histories.Info, histories.None
	}
	return o
}

// heldUp reports whether a transaction may have been open that keeps a scan from
// the end of the log. One that has a record below the end that was told did not,
// nor one of which a reader, by this scan or before, was shown a record of the
// partition: the last stable offset is never above an open transaction's first one.
func (ts *transactions) heldUp(scan *histories.Op) bool {
	return slices.ContainsFunc(ts.all, func(t *transaction) bool {
		if at, ok := t.visible[scan.On]; ok && at < scan.Call || !t.openDuring(scan) {
			return false
		}
		if ts.index(scan, t) >= 0 {
			return false
		}
		here, below := false, false
		for _, s := range t.sends {
			if s.On == scan.On && s.Call <= scan.Return {
				here = true
				below = below || s.Outcome == histories.OK && s.Offset != histories.None && s.Offset < scan.End
			}
		}
		return here && !below
	})
}

// inexact is a scan that does not tell where the log ends.
func inexact(scan histories.Op) histories.Op {
	if len(scan.Records) == 0 {
		scan.Outcome, scan.End = histories.Info, histories.None
		return scan
	}
	scan.Kind, scan.From, scan.HW, scan.End = histories.Fetch, scan.Records[0].Offset, scan.End, histories.None
	return scan
}

// restore makes a result of the projection one of the whole.
func (p projection) restore(r *Result) {
	r.Exercised.Operations = len(p.whole.Ops())
	r.Notes = append(r.Notes, p.notes...)
	c := p.whole.Config()
	r.Assumptions = slices.DeleteFunc(r.Assumptions, func(a string) bool { return a == "reads=committed" || a == "offsets=sparse" })
	for _, key := range []string{"offsets", "reads", "isolation.level"} {
		if _, ok := c.Stated(key); !ok {
			r.Assumptions = append(r.Assumptions, key+"="+c.Get(key))
		}
	}
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

// showCertain adds what shows that a transaction took effect to the evidence of
// findings about its records, where nobody was told so.
func (ts *transactions) showCertain(r *Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, v := range f.about {
			for _, s := range ts.writers[written{f.Partition, v}] {
				if t := ts.of[s.Index]; t != nil && t.committed == nil && t.certain() {
					ts.show(f, t)
				}
			}
		}
	}
}

// show adds the answer that shows that a transaction was committed, if it is not
// among the evidence.
func (ts *transactions) show(f *Finding, t *transaction) {
	at, there := slices.BinarySearchFunc(f.Evidence, t.shown.Index, func(e Evidence, index int) int { return e.Index - index })
	if there {
		return
	}
	f.about = append(slices.Clone(f.about), t.shown.Records[ts.index(t.shown, t)].Value)
	f.Evidence = slices.Insert(slices.Clone(f.Evidence), at, Evidence{Index: t.shown.Index, Line: t.shown.Line, Text: brief(t.shown, f.about, nil)})
}

// index is the place of the first record of a transaction in an answer, -1 if it
// holds none.
func (ts *transactions) index(o *histories.Op, t *transaction) int {
	return slices.IndexFunc(o.Records, func(r histories.Record) bool { return ts.only(o.On, r) == t })
}
