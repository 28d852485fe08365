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
	Start        int64 // the log start: older records are out of scope
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
	return c
}

// Legal draws the operations of a history that a committed log produced.
func Legal(t *rapid.T, opt Options) []histories.Op {
	d := &drawing{t: t, opt: opt, end: opt.Start, busy: make([]*call, opt.Clients), told: make([]int64, opt.Clients), at: make([]int64, opt.Clients)}
	for i := range d.at {
		d.at[i] = histories.None
		d.names = append(d.names, fmt.Sprintf("P%d", i+1))
	}
	for n := d.draw(opt.Ops/2, opt.Ops, "ops"); n > 0 || d.pending(); {
		d.now += int64(d.draw(0, 1, "tick"))
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
	kinds := []histories.Kind{histories.Send, histories.Send, histories.Send, histories.Fetch, histories.Fetch, histories.Poll, histories.List, histories.Scan}
	kind := kinds[d.draw(0, len(kinds)-1, "kind")]
	op := histories.NewOp(d.names[client], kind)
	op.Call = d.now
	switch kind {
	case histories.Send:
		for range max(1, d.draw(0, 3, "batch")-1) {
			d.next++
			op.Values = append(op.Values, histories.Int(d.next))
			if d.opt.Resend && d.draw(0, 7, "resend") == 0 {
				op.Values[len(op.Values)-1] = histories.Int(int64(d.draw(1, int(d.next), "again")))
			}
		}
		op.Acks = []string{"", "", "", "1"}[d.draw(0, 3, "acks")]
	case histories.Fetch:
		op.From = int64(d.draw(int(d.opt.Start), int(d.end), "from"))
	case histories.List:
		op.At = "latest"
	}
	d.busy[client] = &call{client: client, op: op, slot: len(d.ops)}
	d.ops = append(d.ops, op)
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
		c.op.Offset = d.end
		if !d.opt.Linearizable {
			c.op.Offset = int64(d.draw(int(max(d.told[c.client], d.opt.Start)), int(d.end), "latest"))
		}
		d.told[c.client] = c.op.Offset
	case histories.Scan:
		c.op.Records = slices.Clone(d.log)
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

// read answers with a piece of the log from the position on. A committed read
// may know only a prefix of the log; a linearizable one knows all of it.
func (d *drawing) read(c *call) {
	from, end := c.op.From, d.end
	if c.op.Kind == histories.Poll {
		from = max(d.at[c.client], d.opt.Start)
	}
	if !d.opt.Linearizable {
		end = int64(d.draw(int(d.opt.Start), int(d.end), "known end"))
	}
	limit := d.draw(1, 4, "max")
	for _, r := range d.log {
		if r.Offset >= from && r.Offset < end && len(c.op.Records) < limit {
			c.op.Records = append(c.op.Records, r)
		}
	}
	if d.draw(0, 1, "mark") == 0 {
		c.op.HW = end
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
	if op.Kind != histories.Send {
		if !c.done {
			op.Outcome = histories.Fail
		}
		d.ops[c.slot] = *op
		return
	}
	switch {
	case c.done && d.draw(0, 3, "answer lost") == 0:
		op.Outcome = histories.Info
		op.Offset = histories.None
	case c.done && d.draw(0, 5, "offset untold") == 0:
		op.Offset = histories.None
	case !c.done && op.Acks == "1" && d.draw(0, 1, "acked and lost") == 0:
		op.Offset = d.end
	case !c.done && d.draw(0, 2, "refused") == 0:
		op.Outcome = histories.Fail
	case !c.done:
		op.Outcome = histories.Info
		if d.draw(0, 1, "takes effect later") == 0 {
			late := *c
			d.late = append(d.late, &late)
		}
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

func (d *drawing) scan() {
	d.now++
	op := histories.NewOp("S1", histories.Scan)
	op.Call, op.Return, op.Outcome, op.Records, op.End = d.now, d.now+1, histories.OK, slices.Clone(d.log), d.end
	d.ops = append(d.ops, op)
}
