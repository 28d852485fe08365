package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// settle waits until the cluster has come to rest: every broker that the
// cluster names tells the same leaders in the same epochs, and each of those
// answers what the end of its log is, which stands still. Only then a scan is
// complete. A topic that no broker knows any more until the time is over is gone.
func (r *run) settle(ctx context.Context, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, r.Settle)
	defer cancel()
	var err error
	var ends []int64
	var since time.Time // when the ends were first seen where they are
	for ctx.Err() == nil {
		var now []int64
		if now, err = r.settled(ctx, w); err != nil || !slices.Equal(now, ends) {
			ends, since = now, time.Now()
		} else if time.Since(since) >= r.still() {
			return nil
		}
		pause(ctx, 4*backOff)
	}
	switch {
	case err == nil:
		r.note("the log was still growing when it was read: sends of the recording may have arrived later, or others send to the topic")
		r.remark("the log was still growing after %s; what came later was not read", r.Settle)
		return nil
	case errors.Is(err, errGone):
		r.gone = true
		r.remark("no broker knows the topic any more")
		return nil
	}
	return fmt.Errorf("the cluster did not come to rest within %s: %w", r.Settle, err)
}

// still is how long the ends of the log have to stay where they are. What was
// sent and not answered may be on its way, and nobody who asks for acks=0 waits
// for the brokers to keep up.
func (r *run) still() time.Duration {
	if r.Acks == "0" {
		return time.Second
	}
	return 4 * backOff
}

// errGone says that every broker answers that there is no such topic.
var errGone = errors.New("the topic does not exist")

// settled returns the ends of the partitions, or what is not at rest.
func (r *run) settled(ctx context.Context, w *wire) ([]int64, error) {
	resp, err := r.sides[0].ask(ctx)
	if resp == nil || err != nil && !unknownTopic(err) {
		return nil, err
	}
	gone := err != nil
	believed := leadersOf(resp)
	for _, b := range resp.Brokers {
		addr := addrOf(&b)
		other, err := metadata(ctx, w, addr, r.Topic)
		if err != nil && !unknownTopic(err) {
			return nil, fmt.Errorf("broker %d at %s: %w", b.NodeID, addr, err)
		}
		if unknownTopic(err) != gone {
			return nil, fmt.Errorf("only some brokers know the topic")
		}
		if other.Topics[0].TopicID != resp.Topics[0].TopicID {
			return nil, fmt.Errorf("broker %d knows another topic of the name", b.NodeID)
		}
		for partition, l := range leadersOf(other) {
			if was := believed[partition]; l != was {
				return nil, fmt.Errorf("broker %d says that partition %d is led by broker %d in epoch %d, and another says by broker %d in epoch %d",
					b.NodeID, partition, l.broker, l.epoch, was.broker, was.epoch)
			}
		}
	}
	if gone {
		return nil, errGone
	}
	return r.answers(ctx, w)
}

// answers returns the ends that the leaders tell, or an error if one does not.
func (r *run) answers(ctx context.Context, w *wire) ([]int64, error) {
	reader := r.reader(0, w)
	var ends []int64
	for partition := range r.Partitions {
		l := r.sides[0].of(partition)
		if !l.known() {
			return nil, fmt.Errorf("partition %d: %w", partition, errNoLeader)
		}
		end, err := reader.list(ctx, l, partition, latest)
		if err != nil {
			return nil, fmt.Errorf("partition %d: %w", partition, err)
		}
		ends = append(ends, end)
	}
	return ends, nil
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
