package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// scanFormer asks for a partition of a topic that another of its name has taken
// the place of, by its id, and records how the brokers refuse: that the log does
// not exist, so that all that it held is lost.
func (c *consumer) scanFormer(ctx context.Context, birth int, id [16]byte) error {
	op := histories.NewOp(c.process, histories.Scan)
	op.On = partitionName(c.run.Topic, c.partition, birth)
	call := c.run.rec.Invoke(op)
	err := c.refusedFormer(ctx, id)
	answer := histories.NewOp(c.process, histories.Scan)
	failed(&answer, err)
	if noSuchTopic(err) {
		err = nil
	} else {
		answer.Outcome = histories.Info
		err = fmt.Errorf("topic %s was made anew, and what became of the one with id %s is not known: %w", c.run.Topic, uuid(id), err)
	}
	c.run.rec.Complete(call, answer)
	return err
}

// noSuchTopic reports whether a broker answered that it knows no such topic.
func noSuchTopic(err error) bool {
	return err == refusal(kerr.UnknownTopicID.Code) || err == refusal(kerr.UnknownTopicOrPartition.Code)
}

// refusedFormer returns how a fetch by a former topic's id is refused. It tries
// again until the context ends: the cluster may not have heard of everything yet.
func (c *consumer) refusedFormer(ctx context.Context, id [16]byte) (err error) {
	for ctx.Err() == nil {
		l := c.routes.of(c.partition)
		if !l.known() {
			l.addr = c.routes.addresses()[0]
		}
		l.id, l.epoch = id, -1
		if err = c.fetchFormer(ctx, l); noSuchTopic(err) || errors.Is(err, errByName) {
			return err
		}
		c.routes.refresh(ctx)
		pause(ctx, backOff)
	}
	return err
}

// byTopicID is the first version of a fetch that names topics by their ids
// (KIP-516); an older one would ask for the new topic.
const byTopicID = 13

var (
	errByName     = errors.New("the brokers answer no fetch by a topic's id")
	errStillThere = errors.New("a broker still answers for it")
)

func (c *consumer) fetchFormer(ctx context.Context, l leader) error {
	resp, err := request[*kmsg.FetchResponse](ctx, c.wire, l.addr, c.fetchRequest(l, c.partition, 0, 0))
	switch {
	case err != nil:
		return err
	case resp.Version < byTopicID:
		return errByName
	}
	if _, err := onlyPartition(resp); err != nil {
		return err
	}
	return errStillThere
}
