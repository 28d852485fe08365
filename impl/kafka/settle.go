package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// settle waits until the cluster has come to rest: every broker that the
// cluster names tells the same leaders in the same epochs, and each of those
// answers what the end of its log is. Only then a scan is complete. A topic that
// no broker knows any more until the time is over is gone.
func (r *run) settle(ctx context.Context, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, r.Settle)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if err = r.settled(ctx, w); err == nil {
			return nil
		}
		pause(ctx, 4*backOff)
	}
	if errors.Is(err, errGone) {
		r.gone = true
		r.remark("no broker knows the topic any more")
		return nil
	}
	return fmt.Errorf("the cluster did not come to rest within %s: %w", r.Settle, err)
}

// errGone says that every broker answers that there is no such topic.
var errGone = errors.New("the topic does not exist")

// settled returns what is not at rest.
func (r *run) settled(ctx context.Context, w *wire) error {
	resp, err := r.sides[0].ask(ctx)
	if resp == nil || err != nil && !unknownTopic(err) {
		return err
	}
	gone := err != nil
	believed := leadersOf(resp)
	for _, b := range resp.Brokers {
		addr := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		other, err := metadata(ctx, w, addr, r.Topic)
		if err != nil && !unknownTopic(err) {
			return fmt.Errorf("broker %d at %s: %w", b.NodeID, addr, err)
		}
		if unknownTopic(err) != gone {
			return fmt.Errorf("only some brokers know the topic")
		}
		for partition, l := range leadersOf(other) {
			if was := believed[partition]; l != was {
				return fmt.Errorf("broker %d says that partition %d is led by broker %d in epoch %d, and another says by broker %d in epoch %d",
					b.NodeID, partition, l.broker, l.epoch, was.broker, was.epoch)
			}
		}
	}
	if gone {
		return errGone
	}
	return r.answers(ctx, w)
}

// answers returns an error if a leader does not tell the end of its log.
func (r *run) answers(ctx context.Context, w *wire) error {
	reader := r.reader(0, w)
	for partition := range r.Partitions {
		l := r.sides[0].of(partition)
		if !l.known() {
			return fmt.Errorf("partition %d: %w", partition, errNoLeader)
		}
		if _, err := reader.list(ctx, l, partition, latest); err != nil {
			return fmt.Errorf("partition %d: %w", partition, err)
		}
	}
	return nil
}

func unknownTopic(err error) bool { return errors.Is(err, kerr.UnknownTopicOrPartition) }

// leadersOf is what an answer says of every partition's leader.
func leadersOf(resp *kmsg.MetadataResponse) map[int32]leader {
	out := map[int32]leader{}
	for _, p := range resp.Topics[0].Partitions {
		out[p.Partition] = leader{broker: p.Leader, epoch: p.LeaderEpoch}
	}
	return out
}
