package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/isrcheck/isrcheck/histories"
)

// A consumer reads one partition from explicit positions, and asks for the
// ends of the log now and then.
type consumer struct {
	*reader
	process   string
	partition int32
	position  int64
	lists     time.Time // when the ends are to be asked for
}

const (
	fetchWait = 500 * time.Millisecond // for the first record
	listEvery = time.Second
)

// work reads until the context ends.
func (c *consumer) work(ctx context.Context) {
	for ctx.Err() == nil {
		l := c.routes.of(c.partition)
		ok := l.known()
		if ok && !time.Now().Before(c.lists) {
			c.lists = time.Now().Add(listEvery)
			_, ok = c.listed(ctx, l, "latest")
			if ok {
				_, ok = c.listed(ctx, l, "earliest")
			}
		}
		if ok {
			ok = c.step(ctx, l)
		}
		if !ok {
			c.routes.refresh(ctx)
			pause(ctx, backOff)
		}
	}
}

// step fetches once from the position, and moves it. A position that the log
// does not have is given up for one that it has.
func (c *consumer) step(ctx context.Context, l leader) bool {
	op := histories.NewOp(c.process, histories.Fetch)
	op.On, op.From = partitionName(c.run.Topic, c.partition, l.birth), c.position
	id := c.run.rec.Invoke(op)
	got, err := c.fetch(ctx, l, c.partition, c.position, int32(fetchWait.Milliseconds()))
	answer := histories.NewOp(c.process, histories.Fetch)
	if err != nil {
		failed(&answer, err)
	} else {
		answer.Outcome, answer.Records = histories.OK, got.records
		answer.HW, answer.LSO = c.marks(ctx, l, got)
		answer.Start = stated(got.start)
		c.position = got.next
	}
	c.run.rec.Complete(id, answer)
	if outOfRange(err) {
		c.reset(ctx, l)
	}
	return err == nil
}

// marks are the marks of an answer that are its bounds. A leader notes the marks
// before it reads, and reads up to where they are then, so that an answer may
// hold records above its own marks. If the log's end, asked for at once, is not
// behind those records, the broker handed out what was not committed, and they are
// evidence. If it is, that is what happened, and if the leader does not tell,
// nobody knows: such marks are left out.
func (c *consumer) marks(ctx context.Context, l leader, got fetched) (hw, lso int64) {
	hw, lso = stated(got.hw), stated(got.lso)
	bound := hw
	if c.isolation() == 1 {
		bound = lso
	}
	if len(got.records) == 0 || bound == histories.None || got.records[len(got.records)-1].Offset < bound {
		return hw, lso
	}
	last := got.records[len(got.records)-1].Offset
	if end, err := c.list(ctx, l, c.partition, latest); err == nil && end <= last {
		return hw, lso
	}
	c.run.note(fmt.Sprintf("%s was handed offset %d with marks hw=%d lso=%d that the leader had noted before; they are left out", c.process, last, hw, lso))
	return histories.None, histories.None
}

// stated is a mark of an answer, None if it was not told.
func stated(mark int64) int64 { return max(mark, histories.None) }

// reset moves a position that is out of range: to the log start if it is
// below, and else to the end.
func (c *consumer) reset(ctx context.Context, l leader) {
	start, ok := c.listed(ctx, l, "earliest")
	if ok && c.position < start {
		c.position = start
		return
	}
	if end, ok := c.listed(ctx, l, "latest"); ok && c.position > end {
		c.position = end
	}
}

// listed asks for an end of the log, and records it.
func (c *consumer) listed(ctx context.Context, l leader, at string) (int64, bool) {
	op := histories.NewOp(c.process, histories.List)
	op.On, op.At = partitionName(c.run.Topic, c.partition, l.birth), at
	id := c.run.rec.Invoke(op)
	offset, err := c.list(ctx, l, c.partition, map[string]int64{"latest": latest, "earliest": earliest}[at])
	answer := histories.NewOp(c.process, histories.List)
	if err != nil {
		failed(&answer, err)
	} else {
		answer.Outcome, answer.Offset = histories.OK, offset
	}
	c.run.rec.Complete(id, answer)
	return offset, err == nil
}
