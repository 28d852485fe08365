package logtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A client does one thing after the other and records what it sees.
type client struct {
	*player
	name      string
	steps     chan *schedule.Step // nil where it is told one by one
	positions []int64             // of the consumer, by partition
	assigned  []bool              // whether it was told the first of them
}

func (c *client) work() {
	dismissed := false
	defer func() {
		if p := recover(); p != nil {
			c.tell(breakdownOf(p))
		} else if !dismissed {
			c.tell(&breakdown{name: panicked, says: "The log ended the goroutine of a client that called it", stack: string(debug.Stack())})
		}
	}()
	for s := range c.steps {
		c.do(s)
		c.done <- struct{}{}
	}
	dismissed = true
}

// do performs one step; what it does not know, it leaves out.
func (c *client) do(s *schedule.Step) {
	n, _ := number(s, "partition")
	if n < 0 || int(n) >= len(c.partitions) {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.run.opts.Timeout)
	defer cancel()
	defer c.watch(ctx, fmt.Sprintf("a %s of %s", s.Verb, c.name), c.healed)()
	switch s.Verb {
	case "send":
		c.send(ctx, int(n), values(s))
	case "poll":
		c.poll(ctx, int(n))
	case "fetch":
		from, _ := number(s, "from")
		c.fetch(ctx, int(n), max(from, 0))
	case "list":
		c.list(ctx, int(n))
	}
}

// op returns a new operation of the client.
func (c *client) op(kind histories.Kind, partition int) histories.Op {
	o := histories.NewOp(c.name, kind)
	o.On = fmt.Sprintf("t/%d", partition)
	return o
}

func (c *client) send(ctx context.Context, partition int, batch []string) {
	if len(batch) == 0 {
		return
	}
	o := c.op(histories.Send, partition)
	for _, v := range batch {
		o.Values = append(o.Values, value(v))
	}
	id := c.run.Recorder.Invoke(o)
	offset, err := c.partitions[partition].Append(ctx, c.name, batch)
	switch {
	case err == nil:
		o.Outcome, o.Offset = histories.OK, offset
	case errors.Is(err, ErrRefused):
		o.Outcome = histories.Fail
	default:
		o.Outcome = histories.Info
	}
	c.complete(id, o)
}

func (c *client) poll(ctx context.Context, partition int) {
	if !c.assigned[partition] {
		c.assigned[partition] = true
		o := c.op(histories.Assign, partition)
		o.From = 0
		id := c.run.Recorder.Invoke(o)
		o.Outcome = histories.OK
		c.run.Recorder.Complete(id, o)
	}
	at := &c.positions[partition]
	for _, r := range c.read(ctx, c.op(histories.Poll, partition), partition, *at) {
		*at = max(*at, r.Offset+1)
	}
}

func (c *client) fetch(ctx context.Context, partition int, from int64) {
	o := c.op(histories.Fetch, partition)
	o.From = from
	c.read(ctx, o, partition, from)
}

// read records one answer and returns its records.
func (c *client) read(ctx context.Context, o histories.Op, partition int, from int64) []histories.Record {
	id := c.run.Recorder.Invoke(o)
	answer, err := c.partitions[partition].Read(ctx, c.name, from)
	o.Outcome, o.Records = histories.OK, recorded(answer)
	if err != nil {
		o.Outcome, o.Records = histories.Fail, nil
	} else {
		c.answered.Store(true)
	}
	return c.complete(id, o).Records
}

func (c *client) list(ctx context.Context, partition int) {
	log, ok := c.partitions[partition].(EndTeller)
	if !ok {
		return
	}
	o := c.op(histories.List, partition)
	o.At = "latest"
	id := c.run.Recorder.Invoke(o)
	end, err := log.End(ctx, c.name)
	o.Outcome, o.Offset = histories.OK, end
	if err != nil {
		o.Outcome, o.Offset = histories.Fail, histories.None
	}
	c.complete(id, o)
}

// complete records an answer, and returns what of it is recorded. One that no
// log can give ends the run, and is recorded as none.
func (c *client) complete(id int64, o histories.Op) histories.Op {
	if why := nonsense(&o); why != "" {
		c.tell(&breakdown{name: nowhere, says: fmt.Sprintf("The log answered a %s of %s with %s", o.Kind, c.name, why)})
		o.Outcome, o.Offset, o.Records, o.End = histories.Fail, histories.None, nil, histories.None
		if o.Kind == histories.Send {
			o.Outcome = histories.Info
		}
	}
	c.run.Recorder.Complete(id, o)
	return o
}

// nonsense is the first number in an answer that is no offset.
func nonsense(o *histories.Op) string {
	last := int64(math.MaxInt64 - 1)
	switch most := last - max(int64(len(o.Values))-1, 0); {
	case o.Kind == histories.List && o.Outcome == histories.OK && o.Offset < 0, o.Offset < histories.None, o.Offset > most:
		return fmt.Sprintf("offset %d", o.Offset)
	case o.Kind == histories.Scan && o.Outcome == histories.OK && o.End < 0:
		return fmt.Sprintf("end %d", o.End)
	}
	for _, r := range o.Records {
		if r.Offset < 0 || r.Offset > last {
			return fmt.Sprintf("a record at offset %d", r.Offset)
		}
	}
	return ""
}

func recorded(records []Record) []histories.Record {
	var out []histories.Record
	for _, r := range records {
		out = append(out, histories.Record{Offset: r.Offset, Value: value(r.Value)})
	}
	return out
}

// value reads what a client sent or was given. The suite sends numbers; a log
// that makes up records may answer with anything.
func value(text string) histories.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return histories.Int(n)
	}
	return histories.String(strings.ToValidUTF8(text, "\ufffd"))
}
