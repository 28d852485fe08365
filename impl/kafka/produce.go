package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// A producer sends batches of values that nobody sent before, to one partition
// after the other. A send is one produce request: it is never sent again.
type producer struct {
	run     *run
	process string
	routes  *routes
	wire    *wire
	pace    time.Duration // from one send to the next of each of its senders; 0 is none
}

// work sends until the context ends, with as many sends under way as the
// configuration says.
func (p *producer) work(ctx context.Context, first int) {
	var wg sync.WaitGroup
	for i := range p.run.InFlight {
		wg.Go(func() {
			tick := newPace(p.pace)
			defer tick.stop()
			for n := first + i; tick.wait(ctx); n++ {
				if !p.send(ctx, int32(n%int(p.run.Partitions))) {
					p.routes.refresh(ctx)
					pause(ctx, backOff)
				}
			}
		})
	}
	wg.Wait()
}

// backOff is how long a client waits after an answer that was no success.
const backOff = 50 * time.Millisecond

// send is one attempt. It returns false if the leader should be asked for anew.
func (p *producer) send(ctx context.Context, partition int32) bool {
	l := p.routes.of(partition)
	if !l.known() {
		return false
	}
	op := histories.NewOp(p.process, histories.Send)
	op.On, op.Values = partitionName(p.run.Topic, partition, l.birth), p.run.values()
	key, stated := p.run.key(op.Values)
	op.Key = stated
	req := kmsg.NewPtrProduceRequest()
	req.TimeoutMillis = int32(p.run.Timeout.Milliseconds() * 4 / 5) // a broker gives up before its client does
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = p.run.Topic, l.id
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, batchOf(op.Values, key, time.Now())
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)

	id := p.run.rec.Invoke(op)
	resp, err := request[*kmsg.ProduceResponse](ctx, p.wire, l.addr, req)
	answer := p.run.sent(resp, err)
	p.run.rec.Complete(id, answer)
	return answer.Outcome == histories.OK || p.run.Acks == "0" && err == nil
}

// sent is what a client learns from the answer to a produce request.
func (r *run) sent(resp *kmsg.ProduceResponse, err error) histories.Op {
	answer := histories.NewOp("", histories.Send)
	switch {
	case err != nil:
		answer.Outcome, answer.Code = unanswered(err)
	case r.Acks == "0":
		answer.Outcome = histories.Info // there is no answer, and nobody knows
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		answer.Outcome, answer.Code = histories.Info, malformed
	default:
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			answer.Outcome, answer.Code = outcomeOf(p.ErrorCode, r.Acks), nameOf(p.ErrorCode)
			break
		}
		if answer.Outcome = histories.OK; p.BaseOffset >= 0 {
			answer.Offset = p.BaseOffset
		}
	}
	return answer
}
