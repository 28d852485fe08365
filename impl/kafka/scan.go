package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/isrcheck/isrcheck/histories"
)

// scan reads one partition from the log start to its end, after the faults. The
// log start is asked for before and after, and the end once the scan has begun:
// the scan ends where it reaches that position, however many records there are.
func (c *consumer) scan(ctx context.Context) error {
	l := c.routes.of(c.partition)
	var start int64
	if !c.run.gone {
		start, _ = c.listed(ctx, l, "earliest")
	}
	op := histories.NewOp(c.process, histories.Scan)
	op.On = partitionName(c.run.Topic, c.partition, l.birth)
	id := c.run.rec.Invoke(op)
	answer := histories.NewOp(c.process, histories.Scan)
	if c.run.gone {
		answer.Outcome, answer.Code = histories.Fail, nameOf(kerr.UnknownTopicOrPartition.Code)
		c.run.rec.Complete(id, answer)
		return nil
	}
	records, end, err := c.all(ctx, start)
	if err == nil {
		answer.Outcome, answer.Records, answer.End = histories.OK, records, end
	} else {
		failed(&answer, err)
		answer.Outcome = histories.Info // somebody else may still be able to read it
	}
	c.run.rec.Complete(id, answer)
	l = c.routes.of(c.partition)
	c.listed(ctx, l, "earliest")
	c.listed(ctx, l, "latest")
	return err
}

// all reads everything from a position to the end that is told afterwards. It
// tries again until the context ends: the cluster may elect once more.
func (c *consumer) all(ctx context.Context, from int64) (records []histories.Record, end int64, err error) {
	for {
		l := c.routes.of(c.partition)
		if records, end, err = c.tryAll(ctx, l, from); err == nil {
			return records, end, nil
		}
		if outOfRange(err) { // the log start has moved
			if start, err := c.list(ctx, l, c.partition, earliest); err == nil {
				from = start
			}
		}
		if ctx.Err() != nil {
			return nil, 0, err
		}
		c.routes.refresh(ctx)
		pause(ctx, backOff)
	}
}

// tryAll reads to the end with no error between.
func (c *consumer) tryAll(ctx context.Context, l leader, from int64) ([]histories.Record, int64, error) {
	if !l.known() {
		return nil, 0, errNoLeader
	}
	end, err := c.list(ctx, l, c.partition, latest)
	if err != nil {
		return nil, 0, err
	}
	var records []histories.Record
	for from < end {
		got, err := c.fetch(ctx, l, c.partition, from, int32(fetchWait.Milliseconds()))
		if err != nil {
			return nil, 0, err
		}
		records = append(records, got.records...)
		from = got.next
	}
	behind := func(r histories.Record) bool { return r.Offset >= end }
	return slices.DeleteFunc(records, behind), end, nil
}
