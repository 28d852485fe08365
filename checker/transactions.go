package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A transaction is what operations with one tx=T belong to. A name that begins
// again, or is used once it has ended, is another transaction.
type transaction struct {
	name  string
	first int             // index of its first operation
	sends []*histories.Op // that may have happened
	begin *histories.Op   // nil if it is not in the history
	ends  []*histories.Op // commits and aborts

	committed, aborted *histories.Op    // what settled it, nil if nothing did
	refused            *histories.Op    // a commit that certainly failed
	doubt              bool             // of a commit nobody knows the outcome
	mixed              bool             // some of it may be of the next transaction of its name
	asked              int64            // when a commit was first asked for, forever if never
	sights             []sight          // its records in answers to readers of what is committed
	visible            map[string]int64 // when such answers were first over, by partition
}

// A sight is a record in an answer.
type sight struct {
	read   *histories.Op
	record histories.Record
}

const forever = math.MaxInt64

// certain reports whether the transaction took effect: it was committed, or a
// commit of unknown outcome was, because a reader was shown what it wrote.
func (t *transaction) certain() bool {
	return !t.mixed && (t.committed != nil || t.doubt && t.aborted == nil && len(t.sights) > 0)
}

// never reports whether the transaction certainly took no effect, and what says so.
func (t *transaction) never() (*histories.Op, bool) {
	switch {
	case t.mixed, t.committed != nil:
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
	whole     *histories.History
	all       []*transaction
	of        map[int]*transaction // by the index of the operation
	writers   map[written]*writers
	copies    bool                  // retries may leave some
	keeps     bool                  // what was acknowledged by all stays where it is
	readers   map[string]bool       // whether a process reads only what is committed
	starts    map[string]int64      // the highest log start that was told, by partition
	stability map[string]*stability // by partition, of those that were asked for
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
	ts := &transactions{whole: h, of: map[int]*transaction{}, writers: map[written]*writers{}, readers: map[string]bool{}, starts: map[string]int64{}, stability: map[string]*stability{},
		copies: retries(h.Config()) != "", keeps: truncation(h.Config()) == ""}
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
			t.mixed = t.mixed || t.mayEndBefore(o)
			t.add(o)
			ts.of[o.Index] = t
		}
		if start := startTold(o); start != histories.None {
			ts.starts[o.On] = max(ts.starts[o.On], start)
		}
		if o.Kind == histories.Send && o.Outcome != histories.Fail {
			ts.addSend(o)
		}
	}
	ts.findShown()
	return ts
}

// endedBefore reports whether an operation with the name of a transaction is of
// the next one: it begins that, or comes after the end of this one.
func (t *transaction) endedBefore(o *histories.Op) bool {
	if o.Kind == histories.Begin {
		return true
	}
	return o.Kind != histories.Commit && o.Kind != histories.Abort && slices.ContainsFunc(t.ends, func(end *histories.Op) bool {
		return end.Outcome == histories.OK && (end.Return < o.Call || end.Return == o.Call && end.Process == o.Process)
	})
}

// mayEndBefore reports whether an operation may be of the next transaction, which
// nothing began: an end that may have happened may have come before it. Which one a
// read is of after an end of unknown outcome does not matter.
func (t *transaction) mayEndBefore(o *histories.Op) bool {
	return (o.Kind == histories.Send || o.IsRead()) && slices.ContainsFunc(t.ends, func(end *histories.Op) bool {
		if end.Outcome == histories.OK {
			return end.Return == o.Call
		}
		return end.Outcome != histories.Fail && o.Kind == histories.Send
	})
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
		if o.Outcome != histories.Fail { // certainly nothing came of a refused one
			t.asked = min(t.asked, o.Call)
		}
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
			t.sights = append(t.sights, sight{o, r})
			if t.visible == nil {
				t.visible = map[string]int64{}
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
