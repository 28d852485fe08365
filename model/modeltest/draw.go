// Package modeltest draws small histories of one partition for tests: legal
// ones, that a committed log really produced, and corrupted ones. It also has
// an enumerator of all their linearizations, written from the words of the
// history format and independent of package model.
package modeltest

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"pgregory.net/rapid"
)

// Options says what kind of histories to draw.
type Options struct {
	Linearizable bool  // reads=linearizable
	Dense        bool  // offsets=dense
	Start        int64 // the log start at first: older records are out of scope
	Deletes      bool  // the log start moves
	Isolated     bool  // isolation.level=read_committed
	Clients      int
	Ops          int  // at most so many operations
	Resend       bool // a value may be sent again
	Retries      bool // a send may land again: the retries of a client without idempotence
	Scan         bool // end with a scan of the whole log
}

// A drawing is a log in the middle of its life and the clients around it. At
// each instant one thing happens: an operation is called, takes effect, or
// returns.
type drawing struct {
	t     *rapid.T
	opt   Options
	now   int64
	log   []histories.Record
	start int64
	end   int64
	next  int64 // value of the next send
	names []string
	busy  []*call
	late  []*call // sends whose clients gave up and that may still take effect
	again int     // sends that landed again
	told  []int64 // per client: the end it was told last
	at    []int64 // per client: its position, None before the first poll
	ops   []histories.Op
}

// A call is an operation under way.
type call struct {
	client int
	op     histories.Op
	done   bool // took effect
	slot   int  // index in ops
}

// Config returns the header settings that go with the options.
func (o Options) Config() histories.Config {
	c := histories.Config{{Key: "acks", Value: "all"}}
	if o.Linearizable {
		c = c.With("reads", "linearizable")
	}
	if o.Dense {
		c = c.With("offsets", "dense")
	}
	if !o.Retries {
		c = c.With("enable.idempotence", "true")
	}
	if o.Isolated {
		c = c.With("isolation.level", "read_committed")
	}
	return c
}

// Legal draws the operations of a history that a committed log produced.
func Legal(t *rapid.T, opt Options) []histories.Op {
	d := &drawing{t: t, opt: opt, start: opt.Start, end: opt.Start, busy: make([]*call, opt.Clients), told: make([]int64, opt.Clients), at: make([]int64, opt.Clients)}
	for i := range d.at {
		d.at[i] = histories.None
		d.names = append(d.names, fmt.Sprintf("P%d", i+1))
	}
	for n := d.draw(opt.Ops/2, opt.Ops, "ops"); n > 0 || d.pending(); {
		if draw.OneIn(d.t, 4, "tick") { // much happens at one instant: that is where a tick decides
			d.now++
		}
		c := d.draw(0, opt.Clients-1, "client")
		switch {
		case d.busy[c] == nil && n > 0:
			d.call(c)
			n--
		case d.busy[c] != nil && !d.busy[c].done && d.draw(0, 3, "effect") > 0:
			d.effect(d.busy[c])
		case d.busy[c] != nil:
			d.answer(d.busy[c])
		}
		if len(d.late) > 0 && d.draw(0, 3, "late") == 0 {
			d.append(d.late[0])
			d.late = d.late[1:]
		}
	}
	if opt.Scan {
		d.scan()
	}
	return d.ops
}

func (d *drawing) draw(lo, hi int, label string) int { return draw.Int(d.t, lo, hi, label) }

func (d *drawing) pending() bool {
	return slices.ContainsFunc(d.busy, func(c *call) bool { return c != nil })
}

func (d *drawing) call(client int) {
	op := histories.NewOp(d.names[client], d.kind())
	if at := d.at[client]; at != histories.None && at < d.start && d.draw(0, 1, "start over") == 0 {
		op.Kind = histories.Seek
	}
	op.Call = d.now
	switch op.Kind {
	case histories.Send:
		for range max(1, d.draw(0, 4, "batch")-1) {
			d.next++
			op.Values = append(op.Values, histories.Int(d.next))
			if d.opt.Resend && d.draw(0, 7, "resend") == 0 {
				op.Values[len(op.Values)-1] = histories.Int(int64(d.draw(1, int(d.next), "again")))
			}
		}
		op.Acks = draw.From(d.t, "acks", "", "", "", "1", "all", "0")
	case histories.Fetch:
		op.From = int64(d.draw(int(d.opt.Start), int(d.end), "from"))
		if d.draw(0, 1, "limited") == 0 {
			op.Max = int64(d.draw(1, 4, "max"))
		}
	case histories.List:
		if op.At = draw.From(d.t, "at", "latest", "latest", "latest", "earliest", "ts"); op.At == "ts" {
			op.TS = d.now
		}
	case histories.Assign:
		op.From = int64(d.draw(int(d.start), int(d.end), "position"))
	case histories.Seek, histories.CommitOffset, histories.DeleteRecords:
		op.To = int64(d.draw(int(d.start), int(d.end), "to"))
	}
	d.busy[client] = &call{client: client, op: op, slot: len(d.ops)}
	d.ops = append(d.ops, op)
}

// kind draws what a client asks for: often what says much about the log.
func (d *drawing) kind() histories.Kind {
	switch n := d.draw(0, 31, "kind"); {
	case n < 12:
		return histories.Send
	case n < 18:
		return histories.Fetch
	case n < 22:
		return histories.Poll
	case n < 26:
		return histories.List
	case n < 28:
		return histories.Scan
	case n == 31 && d.opt.Deletes:
		return histories.DeleteRecords
	}
	return draw.From(d.t, "kind of move", histories.Seek, histories.Assign, histories.Subscribe, histories.CommitOffset)
}

// effect lets an operation happen at this instant.
func (d *drawing) effect(c *call) {
	c.done = true
	if !d.opt.Dense && d.draw(0, 5, "hole") == 0 {
		d.end++
	}
	switch c.op.Kind {
	case histories.Send:
		if d.opt.Retries && d.again < maxAgain && d.draw(0, 3, "lands again") == 0 {
			d.again++
			if d.draw(0, 1, "at once") == 0 {
				d.append(c)
			} else {
				again := *c
				d.late = append(d.late, &again)
			}
		}
		d.append(c)
	case histories.Fetch, histories.Poll:
		d.read(c)
	case histories.List:
		d.list(c)
	case histories.Assign:
		d.at[c.client] = c.op.From
	case histories.Seek:
		d.at[c.client] = c.op.To
	case histories.Subscribe:
		d.at[c.client] = histories.None
	case histories.DeleteRecords:
		d.start = max(d.start, c.op.To)
		c.op.Start = d.start
	case histories.Scan:
		c.op.Records = d.kept()
		if d.draw(0, 3, "told end") > 0 {
			c.op.End = d.end
		}
	}
}

func (d *drawing) append(c *call) {
	c.op.Offset = d.end
	for _, v := range c.op.Values {
		d.log = append(d.log, histories.Record{Offset: d.end, Value: v})
		d.end++
	}
}

func (d *drawing) list(c *call) {
	switch c.op.At {
	case "earliest":
		c.op.Offset = d.knownStart()
	case "ts":
		c.op.Offset = int64(d.draw(0, int(d.end), "at that time"))
	default:
		c.op.Offset = d.end
		if !d.opt.Linearizable {
			c.op.Offset = int64(d.draw(int(max(d.told[c.client], d.opt.Start)), int(d.end), "latest"))
		}
		d.told[c.client] = c.op.Offset
	}
}

// knownStart is the log start as the broker that answers knows it. A follower
// hears of a move later than its leader.
func (d *drawing) knownStart() int64 {
	if d.opt.Linearizable {
		return d.start
	}
	return int64(d.draw(int(d.opt.Start), int(d.start), "known start"))
}

// kept returns the records from the log start on.
func (d *drawing) kept() []histories.Record {
	first := slices.IndexFunc(d.log, func(r histories.Record) bool { return r.Offset >= d.start })
	if first < 0 {
		return nil
	}
	return slices.Clone(d.log[first:])
}

// read answers with a piece of the log from the position on. A committed read
// may know only a prefix of the log; a linearizable one knows all of it.
func (d *drawing) read(c *call) {
	from, end, start := c.op.From, d.end, d.knownStart()
	if c.op.Kind == histories.Poll {
		if from = d.at[c.client]; from == histories.None {
			from = start
		}
	}
	if from < start {
		c.op.Code = "OFFSET_OUT_OF_RANGE"
		if d.at[c.client] == histories.None {
			d.at[c.client] = from
		}
		return
	}
	if !d.opt.Linearizable {
		end = int64(d.draw(int(start), int(d.end), "known end"))
	}
	limit := d.draw(1, 4, "handed out")
	if c.op.Max != histories.None {
		limit = min(limit, int(c.op.Max))
	}
	for _, r := range d.log {
		if r.Offset >= from && r.Offset < end && len(c.op.Records) < limit {
			c.op.Records = append(c.op.Records, r)
		}
	}
	if d.draw(0, 1, "mark") == 0 {
		c.op.HW = end
	}
	if d.draw(0, 3, "stable mark") == 0 {
		c.op.LSO = end
	}
	if c.op.Kind == histories.Fetch && d.draw(0, 3, "told start") == 0 {
		c.op.Start = start
	}
	if n := len(c.op.Records); n > 0 && c.op.Kind == histories.Poll {
		d.at[c.client] = c.op.Records[n-1].Offset + 1
	}
}

// answer completes an operation: as it happened, or with an error where the
// client was not told.
func (d *drawing) answer(c *call) {
	d.busy[c.client] = nil
	op := &c.op
	op.Outcome, op.Return = histories.OK, d.now
	switch {
	case op.Kind == histories.Send:
		d.acknowledge(c)
	case op.Code != "": // refused, for that reason
		op.Outcome = histories.Fail
	case d.draw(0, 7, "answer lost") == 0:
		c.lose()
	case !c.done:
		op.Outcome = histories.Fail
	}
	if op.Outcome == histories.Info && d.draw(0, 3, "never answered") == 0 {
		op.Outcome, op.Return = histories.Open, histories.None
	}
	d.ops[c.slot] = *op
	if op.Outcome == histories.Open { // its process waits for ever; another takes over
		d.names[c.client] += "'"
		d.at[c.client], d.told[c.client] = histories.None, 0
	}
}

// lose leaves the client without the answer.
func (c *call) lose() {
	o := &c.op
	o.Outcome, o.Offset, o.Records = histories.Info, histories.None, nil
	o.HW, o.LSO, o.Start, o.End = histories.None, histories.None, histories.None, histories.None
}

// acknowledge says how a send ended.
func (d *drawing) acknowledge(c *call) {
	op := &c.op
	switch {
	case c.done && d.draw(0, 3, "answer lost") == 0:
		op.Outcome = histories.Info
		op.Offset = histories.None
	case c.done && (op.Acks == "0" || d.draw(0, 5, "offset untold") == 0):
		op.Offset = histories.None
	case !c.done && op.Acks == "1" && d.draw(0, 1, "acked and lost") == 0:
		op.Offset = d.end
	case !c.done && op.Acks == "0": // nobody asked whether it was written
	case !c.done && d.draw(0, 2, "refused") == 0:
		op.Outcome = histories.Fail
	case !c.done:
		op.Outcome = histories.Info
		if d.draw(0, 1, "takes effect later") == 0 {
			late := *c
			d.late = append(d.late, &late)
		}
	}
}

func (d *drawing) scan() {
	d.now++
	op := histories.NewOp("S1", histories.Scan)
	op.Call, op.Return, op.Outcome, op.Records, op.End = d.now, d.now+1, histories.OK, d.kept(), d.end
	d.ops = append(d.ops, op)
}
