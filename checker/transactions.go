package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A transaction is what operations with one tx=T belong to. A name that begins
// again once it has ended is another transaction.
type transaction struct {
	name  string
	first int             // index of its first operation
	sends []*histories.Op // that may have happened
	begin *histories.Op   // nil if it is not in the history
	ends  []*histories.Op // commits and aborts

	committed, aborted *histories.Op    // what settled it, nil if nothing did
	refused            *histories.Op    // a commit that certainly failed
	doubt              bool             // of a commit nobody knows the outcome
	asked              int64            // when a commit was first asked for, forever if never
	shown              *histories.Op    // an answer that holds a record of it and only what is committed
	visible            map[string]int64 // when such answers were first over, by partition
}

const forever = math.MaxInt64

// certain reports whether the transaction took effect: it was committed, or a
// commit of unknown outcome was, because a reader was shown what it wrote.
func (t *transaction) certain() bool {
	return t.committed != nil || t.doubt && t.aborted == nil && t.shown != nil
}

// never reports whether the transaction certainly took no effect, and what says so.
func (t *transaction) never() (*histories.Op, bool) {
	switch {
	case t.committed != nil:
		return nil, false
	case t.aborted != nil:
		return t.aborted, true
	case t.refused != nil && !t.doubt:
		return t.refused, true
	}
	return nil, false
}

// openDuring reports whether the transaction may have been open at some instant of
// an operation: nothing had certainly ended it before.
func (t *transaction) openDuring(o *histories.Op) bool {
	return !slices.ContainsFunc(t.ends, func(end *histories.Op) bool {
		return end.Outcome == histories.OK && end.Return < o.Call
	})
}

// openAt reports whether an operation was over before anybody asked to commit the
// transaction, and not because it was aborted by then.
func (t *transaction) openAt(o *histories.Op) bool { return t.asked > o.Return && t.openDuring(o) }

// transactions are those of one history.
type transactions struct {
	whole   *histories.History
	all     []*transaction
	of      map[int]*transaction        // by the index of the operation
	writers map[written][]*histories.Op // sends that may have happened
	readers map[string]bool             // whether a process reads only what is committed
}

// written is a value of a partition.
type written struct {
	on    string
	value histories.Value
}

// findTransactions returns the transactions of a history, nil if it has none.
func findTransactions(h *histories.History) *transactions {
	first := 0
	for first < len(h.Ops()) && h.Ops()[first].Tx == "" {
		first++
	}
	if first == len(h.Ops()) {
		return nil
	}
	ts := &transactions{whole: h, of: map[int]*transaction{}, writers: map[written][]*histories.Op{}, readers: map[string]bool{}}
	last := map[string]*transaction{}
	for i := range h.Ops() {
		o := &h.Ops()[i]
		if _, known := ts.readers[o.Process]; !known {
			ts.readers[o.Process] = h.Config().Get("isolation.level."+o.Process) == "read_committed"
		}
		if o.Tx != "" {
			t := last[o.Tx]
			if t == nil || t.endedBefore(o) {
				t = &transaction{name: o.Tx, first: o.Index, asked: forever}
				last[o.Tx] = t
				ts.all = append(ts.all, t)
			}
			t.add(o)
			ts.of[o.Index] = t
		}
		if o.Kind == histories.Send && o.Outcome != histories.Fail {
			for _, v := range o.Values {
				ts.writers[written{o.On, v}] = append(ts.writers[written{o.On, v}], o)
			}
		}
	}
	ts.findShown()
	return ts
}

// endedBefore reports whether an operation with the name of a transaction is of
// another one: it begins after this one has certainly ended, or begins anew.
func (t *transaction) endedBefore(o *histories.Op) bool {
	return o.Kind == histories.Begin && len(t.ends) > 0 || o.Kind != histories.Commit && o.Kind != histories.Abort && !t.openDuring(o)
}

func (t *transaction) add(o *histories.Op) {
	switch o.Kind {
	case histories.Begin:
		t.begin = o
	case histories.Send:
		if o.Outcome != histories.Fail {
			t.sends = append(t.sends, o)
		}
	case histories.Commit:
		t.ends = append(t.ends, o)
		t.asked = min(t.asked, o.Call)
		switch o.Outcome {
		case histories.OK:
			t.committed = o
		case histories.Fail:
			t.refused = o
		default:
			t.doubt = true
		}
	case histories.Abort:
		t.ends = append(t.ends, o)
		if o.Outcome == histories.OK {
			t.aborted = o
		}
	}
}

// findShown notes of which transactions readers of what is committed were shown a
// record.
func (ts *transactions) findShown() {
	for o := range ts.answers() {
		for _, r := range o.Records {
			t := ts.only(o.On, r)
			if t == nil {
				continue
			}
			if t.shown == nil {
				t.shown, t.visible = o, map[string]int64{}
			}
			if at, ok := t.visible[o.On]; !ok || o.Return < at {
				t.visible[o.On] = o.Return
			}
		}
	}
}

// answers are those to readers that are promised to see only what is committed.
func (ts *transactions) answers() func(func(*histories.Op) bool) {
	return func(yield func(*histories.Op) bool) {
		for i := range ts.whole.Ops() {
			if o := &ts.whole.Ops()[i]; ts.readers[o.Process] && len(o.Records) > 0 && !yield(o) {
				return
			}
		}
	}
}

// sources are the sends that may have put a record where it is: those that were
// told its offset, or else those that were told none, or else any of its value.
func (ts *transactions) sources(on string, r histories.Record) []*histories.Op {
	all := ts.writers[written{on, r.Value}]
	if len(all) == 1 {
		return all
	}
	var told, untold []*histories.Op
	for _, s := range all {
		switch {
		case s.Outcome != histories.OK || s.Offset == histories.None:
			untold = append(untold, s)
		case r.Offset >= s.Offset && r.Offset-s.Offset < int64(len(s.Values)) && s.Values[r.Offset-s.Offset] == r.Value:
			told = append(told, s)
		}
	}
	switch {
	case told != nil:
		return told
	case untold != nil:
		return untold
	}
	return all
}

// only returns the transaction that a record is of, nil if it may be of another,
// or of none.
func (ts *transactions) only(on string, r histories.Record) *transaction {
	var t *transaction
	for i, s := range ts.sources(on, r) {
		if of := ts.of[s.Index]; of == nil || i > 0 && of != t {
			return nil
		} else {
			t = of
		}
	}
	return t
}

// hidden reports whether a record is of no transaction that took effect, so that
// nobody is promised to see it.
func (ts *transactions) hidden(on string, r histories.Record) bool {
	sources := ts.sources(on, r)
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(s *histories.Op) bool {
		t := ts.of[s.Index]
		return t == nil || t.certain()
	})
}

// frame adds what begins and ends the transactions of operations among the items:
// without it they mean something else.
func (ts *transactions) frame(items []bool) {
	if ts == nil {
		return
	}
	for i := range ts.whole.Ops() {
		t := ts.of[ts.whole.Ops()[i].Index]
		if t == nil || !items[ts.whole.Ops()[i].Index] {
			continue
		}
		if t.begin != nil {
			items[t.begin.Index] = true
		}
		for _, end := range t.ends {
			items[end.Index] = true
		}
	}
}
