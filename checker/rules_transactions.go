package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A transactionRule is a mistake with transactions. Like a rule it is a row with a
// name and what clients may rely on; it looks at all partitions at once.
type transactionRule struct {
	name   string
	says   string
	excuse func(histories.Config) string
	check  func(*transactions, *Result) []Finding
}

// transactionRules are about readers with isolation.level=read_committed: others
// are promised nothing, and see what is open or aborted as well.
var transactionRules = []transactionRule{
	{name: "aborted-read", check: (*transactions).abortedReads, excuse: truncation,
		says: "a transaction that was aborted never being seen (isolation.level=read_committed)"},
	{name: "early-read", check: (*transactions).openReads, excuse: truncation,
		says: "a transaction being visible only once somebody asked to commit it (isolation.level=read_committed)"},
	{name: "torn-transaction", check: (*transactions).torn, excuse: truncation,
		says: "a transaction taking effect as a whole or not at all"},
	{name: "precommitted-read", check: (*transactions).ownReads, excuse: truncation,
		says: "nobody, not even the transaction itself, seeing what it wrote before it is committed (isolation.level=read_committed)"},
	{name: "write-read-cycle", check: (*transactions).cycles, excuse: truncation,
		says: "transactions reading one another's writes in one direction only (isolation.level=read_committed)"},
}

// apply runs a rule. What the history without its transactions showed is known.
func (r *transactionRule) apply(ts *transactions, known *Result) []Finding {
	return listed(r.check(ts, known), r.name, r.says, r.excuse, ts.whole.Config())
}

// reads makes a finding of the first record of each answer, to readers of what is
// committed, that a judgement finds wrong.
func (ts *transactions) reads(wrong func(o *histories.Op, r histories.Record, t *transaction) (Finding, bool)) []Finding {
	var found []Finding
	for o := range ts.answers() {
		for _, r := range o.Records {
			t := ts.only(o.On, r)
			if t == nil {
				continue
			}
			if f, is := wrong(o, r, t); is {
				f.Partition = o.On
				found = append(found, f.should(o, "held no record %s", r.Value).naming(r.Value))
				break
			}
		}
	}
	return found
}

func (ts *transactions) abortedReads(*Result) []Finding {
	return ts.reads(func(o *histories.Op, r histories.Record, t *transaction) (Finding, bool) {
		by, never := t.never()
		if !never {
			return Finding{}, false
		}
		how := "was aborted"
		if by.Kind == histories.Commit {
			how = "was refused its commit" + withCode(by)
		}
		return proof([]*histories.Op{ts.source(o.On, r), by, o}, "Record %s of transaction %s, which %s, was read by %s at offset %d",
			r.Value, t.name, how, o.Process, r.Offset), true
	})
}

func (ts *transactions) openReads(*Result) []Finding {
	return ts.reads(func(o *histories.Op, r histories.Record, t *transaction) (Finding, bool) {
		return proof(ts.whileOpen(o, r, t), "Record %s was handed to %s at offset %d by time %d, while its transaction %s was open",
			r.Value, o.Process, r.Offset, o.Return, t.name), t.openAt(o)
	})
}

// ownReads finds what was read before its commit. A read that is part of the
// transaction itself came before it in the order of its program, even if both share
// an instant.
func (ts *transactions) ownReads(*Result) []Finding {
	return ts.reads(func(o *histories.Op, r histories.Record, t *transaction) (Finding, bool) {
		if ts.of[o.Index] == t && o.Return <= t.asked {
			return proof(ts.whileOpen(o, r, t), "Transaction %s saw its own record %s at offset %d", t.name, r.Value, r.Offset), true
		}
		return proof(ts.whileOpen(o, r, t), "Record %s of transaction %s was seen by %s by time %d, before anybody asked to commit it",
			r.Value, t.name, o.Process, o.Return), t.openAt(o)
	})
}

// whileOpen is what proves that a record of a transaction was read before its end.
func (ts *transactions) whileOpen(o *histories.Op, r histories.Record, t *transaction) []*histories.Op {
	ops := []*histories.Op{ts.source(o.On, r), o}
	if len(t.ends) > 0 {
		ops = append(ops, t.ends[0])
	}
	return ops
}

// torn finds transactions of which a part was seen and another is lost, or was
// passed over by the reader who saw the first.
func (ts *transactions) torn(known *Result) []Finding {
	var found []Finding
	seen := map[*transaction]bool{}
	for _, f := range known.Findings {
		by, does := ts.misses(f)
		if does == "" || len(f.about) == 0 {
			continue
		}
		gone := written{f.Partition, f.about[0]}
		for _, s := range ts.sendsOf(gone) {
			t := ts.of[s.Index]
			if t == nil || seen[t] || !t.certain() {
				continue
			}
			reader, part := t.part(gone, by)
			if reader == nil {
				continue
			}
			seen[t] = true
			torn := proof([]*histories.Op{s, reader}, "Of transaction %s, %s was handed record %s, and record %s %s",
				t.name, reader.Process, part.Value, gone.value, does).naming(part.Value, gone.value)
			torn = torn.with(ts.shownBy(f, mostNamed-2)...)
			torn.Partition = f.Partition
			found = append(found, torn)
		}
	}
	return found
}

// shownBy are the operations beside sends that prove a finding, no more than so many:
// answers with records first, then what put a consumer where it was or told the log
// start.
func (ts *transactions) shownBy(f Finding, most int) []*histories.Op {
	var reads, others []*histories.Op
	for _, e := range f.Evidence {
		switch o := opAt(ts.whole.Ops(), e.Index); {
		case o == nil || o.Kind == histories.Send:
		case o.IsRead():
			reads = append(reads, o)
		default:
			others = append(others, o)
		}
	}
	all := append(reads, others...)
	return all[:min(len(all), most)]
}

// misses says what a finding says of a record that clients may rely on, "" if it
// speaks of something else, and of whom: "" for everybody.
func (ts *transactions) misses(f Finding) (by, does string) {
	switch f.Name {
	case lostWrite, "read-then-lost":
		return "", "is gone"
	case "poll-skip", "int-poll-skip":
		for _, e := range f.Evidence {
			if o := opAt(ts.whole.Ops(), e.Index); e.Should != "" && o != nil && ts.readers[o.Process] {
				return o.Process, "was passed over"
			}
		}
	}
	return "", ""
}

// part returns an answer, to one process or to any, with a record of the
// transaction other than that one.
func (t *transaction) part(but written, by string) (*histories.Op, histories.Record) {
	for _, s := range t.sights {
		if (by == "" || by == s.read.Process) && (written{s.read.On, s.record.Value}) != but {
			return s.read, s.record
		}
	}
	return nil, histories.Record{}
}

// A wr is that one transaction read what another wrote.
type wr struct {
	from, to *transaction // writer and reader
	read     *histories.Op
	record   histories.Record
}

// cycles finds transactions that read what one another wrote, in a circle (G1c
// without edges between writes, which Kafka's transactions do not isolate).
func (ts *transactions) cycles(*Result) []Finding {
	edges := map[*transaction][]wr{}
	for o := range ts.answers() {
		reader := ts.of[o.Index]
		if reader == nil {
			continue
		}
		for _, r := range o.Records {
			if writer := ts.only(o.On, r); writer != nil && writer != reader {
				edges[writer] = append(edges[writer], wr{writer, reader, o, r})
			}
		}
	}
	var found []Finding
	for _, among := range circles(ts.all, edges) {
		found = append(found, ts.cycle(shortestCycle(among, edges)))
	}
	return found
}

// circles returns the strongly connected components of more than one transaction
// (Tarjan 1972), each with its members.
func circles(all []*transaction, edges map[*transaction][]wr) []map[*transaction]bool {
	type visit struct{ number, low int }
	visits := map[*transaction]*visit{}
	var stack []*transaction
	var found []map[*transaction]bool
	var walk func(*transaction) *visit
	walk = func(t *transaction) *visit {
		v := &visit{len(visits), len(visits)}
		visits[t] = v
		stack = append(stack, t)
		for _, e := range edges[t] {
			if w := visits[e.to]; w == nil {
				v.low = min(v.low, walk(e.to).low)
			} else {
				v.low = min(v.low, w.number) // forever, once its component is complete
			}
		}
		if v.low < v.number {
			return v
		}
		members := map[*transaction]bool{}
		for at := len(stack) - 1; ; at-- {
			m := stack[at]
			members[m] = true
			visits[m].number = forever
			if m == t {
				stack = stack[:at]
				break
			}
		}
		if len(members) > 1 {
			found = append(found, members)
		}
		return v
	}
	for _, t := range all {
		if visits[t] == nil {
			walk(t)
		}
	}
	return found
}

// shortestCycle goes from the first of the transactions to those that read from
// it, and back, among transactions that all reach one another.
func shortestCycle(among map[*transaction]bool, edges map[*transaction][]wr) []wr {
	var start *transaction
	for t := range among {
		if start == nil || t.first < start.first {
			start = t
		}
	}
	came := map[*transaction]wr{}
	for queue := []*transaction{start}; ; queue = queue[1:] {
		for _, e := range edges[queue[0]] {
			if _, visited := came[e.to]; visited || !among[e.to] {
				continue
			}
			came[e.to] = e
			queue = append(queue, e.to)
			if e.to != start {
				continue
			}
			cycle := []wr{came[start]}
			for t := e.from; t != start; t = came[t].from {
				cycle = append(cycle, came[t])
			}
			slices.Reverse(cycle)
			return cycle
		}
	}
}

// mostLinks is how much of a long circle a finding tells.
const mostLinks = 4

func (ts *transactions) cycle(cycle []wr) Finding {
	var says []string
	var ops []*histories.Op
	var values []histories.Value
	for _, e := range cycle[:min(len(cycle), mostLinks)] {
		says = append(says, fmt.Sprintf("transaction %s read record %s of %s", e.to.name, e.record.Value, e.from.name))
		ops = append(ops, e.read)
		values = append(values, e.record.Value)
	}
	if more := len(cycle) - mostLinks; more > 0 {
		says = append(says, fmt.Sprintf("so on around %d more", more))
	}
	f := proof(ops, "In a circle, %s", strings.Join(says, ", and ")).naming(values...)
	f.Partition = cycle[0].read.On
	return f.should(cycle[0].read, "held no record %s, or its writer none of this transaction's", cycle[0].record.Value)
}
