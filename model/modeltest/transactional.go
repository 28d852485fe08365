package modeltest

import (
	"fmt"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"pgregory.net/rapid"
)

// A Fault is a way in which a log may break its transactions.
type Fault uint8

// The faults.
const (
	Sound        Fault = iota
	ShowsOpen          // readers of what is committed pass the last stable offset
	ShowsAborted       // and see what was aborted
	TearsCommits       // one of the markers of a commit says abort
)

// Transactional draws what clients of a log of two partitions see whose producers
// use transactions: a coordinator decides, markers reach the partitions later and
// one by one, and readers of what is committed stop at the last stable offset. It
// returns the operations, the settings that go with them, and whether clients were
// certainly shown the fault.
func Transactional(t *rapid.T, fault Fault, ops int) ([]histories.Op, histories.Config, bool) {
	w := &txWorld{t: t, fault: fault, reuse: draw.OneIn(t, 3, "reuse names")}
	w.config = histories.Config{{Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"}, {Key: "isolation.level", Value: "read_committed"}}
	for i := range 4 {
		c := &txClient{name: fmt.Sprintf("C%d", i), producer: i < 2}
		if i == 3 {
			w.config = w.config.With("isolation.level."+c.name, "read_uncommitted")
			c.all = true
		}
		w.clients = append(w.clients, c)
	}
	for n := ops; n > 0 || w.busy(); {
		if w.now += int64(draw.Int(t, 0, 1, "tick")); draw.OneIn(t, 3, "marker") {
			w.mark()
		}
		switch c := draw.From(t, "client", w.clients...); {
		case c.op == nil && n > 0:
			w.call(c)
			n--
		case c.op != nil && !c.done && !draw.OneIn(t, 4, "late"):
			w.effect(c)
		case c.op != nil:
			w.answer(c)
		}
	}
	w.heal()
	return w.ops, w.config, w.shown()
}

// A txRecord is an offset of a log: a record, or the marker that ends a transaction.
type txRecord struct {
	value  int64
	of     *tx
	marker bool
}

const never = math.MaxInt64

// A fate is how a transaction ends.
type fate uint8

const (
	open fate = iota
	committed
	aborted
)

// A tx is what the coordinator knows of a transaction.
type tx struct {
	name      string
	decided   fate
	asked     int64 // when somebody first asked to commit it
	abortTold bool  // somebody was told that it is aborted
	touched   [2]bool
	ended     [2]fate // what the marker in a partition says
	seen      int64   // when a reader of what is committed was first told a record
	unsure    bool    // somebody asked to end it and was not told how that ended
	mixed     bool    // and sent more after that, with no new begin
}

type txClient struct {
	name     string
	producer bool
	all      bool // reads what is not committed as well
	tx       *tx
	op       *histories.Op
	of       *tx // the operation is of
	slot     int
	done     bool
	position [2]int64
}

type txWorld struct {
	t       *rapid.T
	fault   Fault
	reuse   bool
	config  histories.Config
	now     int64
	logs    [2][]txRecord
	clients []*txClient
	txs     []*tx
	value   int64
	ops     []histories.Op
}

func (w *txWorld) busy() bool {
	for _, c := range w.clients {
		if c.op != nil {
			return true
		}
	}
	return false
}

// call lets a client begin an operation.
func (w *txWorld) call(c *txClient) {
	kind := histories.Poll
	if c.producer {
		kind = histories.Send
		switch {
		case c.tx == nil && draw.Int(w.t, 0, 3, "begin") > 0:
			kind = histories.Begin
		case c.tx != nil:
			kind = draw.From(w.t, "kind", histories.Send, histories.Send, histories.Fetch, histories.Commit, histories.Commit, histories.Abort)
		}
	} else if draw.OneIn(w.t, 4, "fetch") {
		kind = histories.Fetch
	}
	if kind == histories.Begin {
		name := fmt.Sprintf("T%d", len(w.txs))
		if w.reuse {
			name = "T" + c.name
		}
		c.tx = &tx{name: name, asked: never, seen: never}
		w.txs = append(w.txs, c.tx)
	}
	op := histories.NewOp(c.name, kind)
	op.Call, op.Outcome = w.now, histories.Open
	if c.of = c.tx; c.of != nil {
		op.Tx = c.of.name
	}
	if kind == histories.Send || op.IsRead() {
		op.On = fmt.Sprintf("t/%d", draw.Int(w.t, 0, 1, "partition"))
	}
	switch kind {
	case histories.Send:
		if c.of != nil {
			c.of.mixed = c.of.mixed || c.of.unsure
		}
		for range draw.Int(w.t, 1, 2, "batch") {
			w.value++
			op.Values = append(op.Values, histories.Int(w.value))
		}
	case histories.Fetch:
		op.From = int64(draw.Int(w.t, 0, len(*w.log(op.On)), "from"))
	case histories.Commit:
		c.of.asked = min(c.of.asked, w.now)
	}
	c.op, c.done, c.slot = &op, false, len(w.ops)
	w.ops = append(w.ops, op)
}

func (w *txWorld) log(on string) *[]txRecord { return &w.logs[on[len(on)-1]-'0'] }

// effect lets the operation of a client happen.
func (w *txWorld) effect(c *txClient) {
	c.done = true
	switch op := c.op; op.Kind {
	case histories.Send:
		if c.of != nil && c.of.decided != open {
			op.Outcome = histories.Fail
			return
		}
		log := w.log(op.On)
		op.Offset = int64(len(*log))
		for _, v := range op.Values {
			n, _ := v.Integer()
			*log = append(*log, txRecord{value: n, of: c.of})
		}
		if c.of != nil {
			c.of.touched[op.On[2]-'0'] = true
		}
	case histories.Commit, histories.Abort:
		want := committed
		if op.Kind == histories.Abort {
			want = aborted
		}
		if c.of.decided == open {
			c.of.decided = want
		}
		if c.of.decided != want {
			op.Outcome = histories.Fail
		}
	case histories.Fetch, histories.Poll:
		w.read(c)
	}
}

// read answers with a piece of the log.
func (w *txWorld) read(c *txClient) {
	op, p := c.op, c.op.On[2]-'0'
	from := op.From
	if op.Kind == histories.Poll {
		from = c.position[p]
	}
	end := int64(len(w.logs[p]))
	if !c.all && w.fault != ShowsOpen {
		end = w.stable(int(p))
	}
	end = min(end, from+int64(draw.Int(w.t, 0, 5, "length")))
	op.Records = w.visible(c, int(p), from, end)
	if op.Kind == histories.Poll {
		c.position[p] = max(from, end)
	}
	if draw.OneIn(w.t, 2, "marks") {
		op.HW = int64(len(w.logs[p]))
	}
}

// stable is the last stable offset of a partition.
func (w *txWorld) stable(p int) int64 {
	for i, r := range w.logs[p] {
		if r.of != nil && r.of.ended[p] == open {
			return int64(i)
		}
	}
	return int64(len(w.logs[p]))
}

func (w *txWorld) visible(c *txClient, p int, from, end int64) []histories.Record {
	var records []histories.Record
	for i := from; i < end; i++ {
		r := w.logs[p][i]
		if r.marker || !c.all && r.of != nil && r.of.ended[p] == aborted && w.fault != ShowsAborted {
			continue
		}
		records = append(records, histories.Record{Offset: i, Value: histories.Int(r.value)})
	}
	return records
}

// mark writes one marker that is due.
func (w *txWorld) mark() bool {
	for _, x := range w.txs {
		for p := range x.touched {
			if !x.touched[p] || x.ended[p] != open || x.decided == open {
				continue
			}
			x.ended[p] = x.decided
			if w.fault == TearsCommits && p == 1 {
				x.ended[p] = aborted
			}
			w.logs[p] = append(w.logs[p], txRecord{of: x, marker: true})
			return true
		}
	}
	return false
}

// answer tells a client what happened, or leaves it in the dark.
func (w *txWorld) answer(c *txClient) {
	op := c.op
	unknown := !c.done || draw.OneIn(w.t, 8, "lost answer")
	switch {
	case op.Kind == histories.Begin:
		op.Outcome = histories.OK
	case unknown:
		op.Outcome, op.Offset, op.Records, op.HW = histories.Info, histories.None, nil, histories.None
		if op.Kind == histories.Poll {
			c.position = [2]int64{w.end(0), w.end(1)} // it goes on elsewhere, under another name
			c.name += "x"
			if c.all {
				w.config = w.config.With("isolation.level."+c.name, "read_uncommitted")
			}
		}
	case op.Outcome == histories.Open:
		op.Outcome = histories.OK
	}
	op.Return = w.now
	ends := op.Kind == histories.Commit || op.Kind == histories.Abort
	if ends && unknown {
		c.of.unsure = true
	}
	if ends && (!unknown || draw.OneIn(w.t, 2, "give up")) {
		c.tx = nil
		c.of.abortTold = c.of.abortTold || op.Kind == histories.Abort && op.Outcome == histories.OK
	}
	w.told(c.all, op)
	w.ops[c.slot], c.op = *op, nil
}

// told notes of which transactions an answer shows a record.
func (w *txWorld) told(all bool, op *histories.Op) {
	for _, r := range op.Records {
		if x := (*w.log(op.On))[r.Offset].of; x != nil && !all {
			x.seen = min(x.seen, op.Return)
		}
	}
}

func (w *txWorld) end(p int) int64 { return int64(len(w.logs[p])) }

// heal lets the coordinator end what it can, and has all partitions scanned.
func (w *txWorld) heal() {
	hangs, tellStart := draw.OneIn(w.t, 3, "hang"), draw.OneIn(w.t, 2, "tell the start")
	for _, x := range w.txs {
		if x.decided == open && !hangs {
			x.decided = aborted
		}
	}
	for w.mark() {
	}
	scanners := []*txClient{{name: "S1"}, w.clients[3]}
	if draw.OneIn(w.t, 2, "only what is committed") {
		scanners = scanners[:1]
	}
	for _, c := range scanners {
		for p := range w.logs {
			w.now += 2
			op := histories.NewOp(c.name, histories.Scan)
			op.On, op.Call, op.Return, op.Outcome, op.End = fmt.Sprintf("t/%d", p), w.now, w.now+1, histories.OK, w.end(p)
			if !c.all && w.fault != ShowsOpen {
				op.End = w.stable(p)
			}
			op.Records = w.visible(c, p, 0, op.End)
			w.told(c.all, &op)
			w.ops = append(w.ops, op)
			if tellStart {
				op := histories.NewOp(c.name, histories.List)
				op.On, op.At, op.Call, op.Return, op.Outcome, op.Offset = fmt.Sprintf("t/%d", p), "earliest", w.now+1, w.now+1, histories.OK, 0
				w.ops = append(w.ops, op)
			}
		}
	}
}

// shown reports whether what clients were told proves the fault: a record of a
// transaction that was aborted, or was open still.
func (w *txWorld) shown() bool {
	return slices.ContainsFunc(w.txs, func(x *tx) bool {
		return !x.mixed && x.seen < never && (x.seen < x.asked || x.abortTold)
	})
}
