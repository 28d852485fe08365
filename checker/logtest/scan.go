package logtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/isrcheck/isrcheck/histories"
)

// scan reads a partition to its end. Where the log tells its end, that is asked
// for first, so that a batch which arrives in the meantime is not missed by an
// end that covers it; otherwise the log ends where nothing more is found.
func (c *client) scan(partition int) {
	o := c.op(histories.Scan, partition)
	id := c.run.Recorder.Invoke(o)
	records, end, err := c.readToEnd(c.partitions[partition])
	o.Outcome, o.Records, o.End = histories.OK, recorded(records), end
	if err != nil {
		o.Outcome, o.Records, o.End = histories.Fail, nil, histories.None
		if c.run.unread = err; errors.Is(err, context.DeadlineExceeded) {
			c.run.unread = fmt.Errorf("%w (a Read returns what is there, and nothing where there is nothing: it waits for no record)", err)
		}
	}
	c.complete(id, o)
}

// readToEnd bears with errors for a while: a log without a Settle may still be
// about to recover. One that is deterministic has no clock but what it is asked.
func (c *client) readToEnd(log Log) (records []Record, end int64, err error) {
	most, pause := time.Now().Add(c.run.patience), time.Millisecond
	for tries := 1; ; tries++ {
		records, end, err = c.readAll(log)
		if err == nil || errors.Is(err, errEndless) || errors.Is(err, context.DeadlineExceeded) || c.ctx.Err() != nil {
			return records, end, err
		}
		if c.run.opts.Deterministic {
			if tries == 3 {
				return nil, 0, err
			}
			continue
		}
		if time.Now().Add(pause).After(most) {
			return nil, 0, err
		}
		time.Sleep(pause)
		pause *= 2
	}
}

// errEndless is of a log that has far more records than were sent.
var errEndless = errors.New("it has no end")

// mostRead is more records than such a log has that has an end, though it may
// have repeated what it was sent.
func (c *client) mostRead() (n int) {
	for i := range c.run.Schedule.Steps {
		if s := &c.run.Schedule.Steps[i]; s.Verb == "send" {
			n += len(values(s))
		}
	}
	return 1000 + 64*n
}

func (c *client) readAll(log Log) (records []Record, end int64, err error) {
	teller, tells := log.(EndTeller)
	if tells {
		err = c.patiently(func(ctx context.Context) (err error) {
			end, err = teller.End(ctx, c.name)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	most := c.mostRead()
	for next := int64(0); !tells || next < end; {
		var more []Record
		err := c.patiently(func(ctx context.Context) (err error) {
			more, err = log.Read(ctx, c.name, next)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		from := next
		for _, r := range more {
			if !tells || r.Offset < end {
				records = append(records, r)
			}
			next = max(next, r.Offset+1)
		}
		if next == from {
			break // an answer that leads nowhere is the last
		}
		if len(records) > most {
			return nil, 0, fmt.Errorf("%w: it goes on behind %d records", errEndless, most)
		}
	}
	if !tells {
		for _, r := range records {
			end = max(end, r.Offset+1)
		}
	}
	return records, end, nil
}

// patiently asks a log for something that it may have to recover for. Each answer
// has its own time: a long log that answers with one record at a time is slow,
// and no more.
func (c *client) patiently(ask func(context.Context) error) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.run.last)
	defer cancel()
	defer c.watch(ctx, "the reading to its end", nil)()
	return ask(ctx)
}
