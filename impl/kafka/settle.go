package kafka

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// settle waits until the cluster has come to rest: every broker that the
// cluster names tells the same leaders in the same epochs, and each of those
// answers what the end of its log is.
func (r *run) settle(ctx context.Context, w *wire) error {
	var err error
	for {
		if err = r.settled(ctx, w); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the cluster did not come to rest within %s: %w", r.Settle, err)
		}
		pause(ctx, 4*backOff)
	}
}

// settled returns what is not at rest.
func (r *run) settled(ctx context.Context, w *wire) error {
	resp, err := r.sides[0].ask(ctx)
	if err != nil {
		return err
	}
	believed := leadersOf(resp)
	for _, b := range resp.Brokers {
		addr := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		other, err := metadata(ctx, w, addr, r.Topic)
		if err != nil {
			return fmt.Errorf("broker %d at %s: %w", b.NodeID, addr, err)
		}
		for partition, l := range leadersOf(other) {
			if l != believed[partition] {
				return fmt.Errorf("broker %d says that partition %d is led by broker %d in epoch %d, and another says by broker %d in epoch %d",
					b.NodeID, partition, l.broker, l.epoch, believed[partition].broker, believed[partition].epoch)
			}
		}
	}
	c := r.consumer("", 0, 0, w)
	for partition := range r.Partitions {
		l := r.sides[0].of(partition)
		if !l.known() {
			return fmt.Errorf("partition %d: %w", partition, errNoLeader)
		}
		if _, err := c.list(ctx, l, partition, latest); err != nil {
			return fmt.Errorf("partition %d: %w", partition, err)
		}
	}
	return nil
}

// leadersOf is what an answer says of every partition's leader.
func leadersOf(resp *kmsg.MetadataResponse) map[int32]leader {
	out := map[int32]leader{}
	for _, p := range resp.Topics[0].Partitions {
		out[p.Partition] = leader{broker: p.Leader, epoch: p.LeaderEpoch}
	}
	return out
}
