package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/impl/kafka/process"
)

// Ready returns when every broker answers, and knows every other one as one
// that may lead.
func (k *Cluster) Ready(ctx context.Context) error {
	for _, side := range Sides {
		for i, addr := range k.Bootstrap(side) {
			if err := k.answers(ctx, i, addr); err != nil {
				return err
			}
		}
	}
	return nil
}

// answers asks a broker until it names all brokers.
func (k *Cluster) answers(ctx context.Context, i int, addr string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RequestRetries(0), kgo.DisableClientMetrics())
	if err != nil {
		return err
	}
	defer client.Close()
	err = until(ctx, func(ctx context.Context) (bool, error) {
		brokers, err := kadm.NewClient(client).ListBrokers(ctx)
		if err == nil && len(brokers) != len(k.Brokers) {
			err = fmt.Errorf("it knows %d brokers of %d", len(brokers), len(k.Brokers))
		}
		return err == nil || hasEnded(k.Brokers[i]) || hasEnded(k.Controller), err
	})
	switch {
	case err == nil:
		return nil
	case hasEnded(k.Brokers[i]):
		return fmt.Errorf("%s ended. It said:\n%s", k.Brokers[i].Name, k.lastWords(i+1))
	case hasEnded(k.Controller):
		return fmt.Errorf("%s ended. It said:\n%s", k.Controller.Name, k.lastWords(0))
	}
	return fmt.Errorf("%s is not ready: %w. It said:\n%s", k.Brokers[i].Name, err, k.lastWords(i+1))
}

// until asks ten times a second until that is done, whatever came of it, or the
// context ends. One question may take 2 seconds.
func until(ctx context.Context, ask func(context.Context) (done bool, err error)) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		done, err := ask(once)
		cancel()
		if done {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

func hasEnded(p *process.Process) bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

// InSync returns when all replicas of all partitions are in sync. Where faults
// come one after the other without that, a partition may lose all who have its
// records, and rightly have no leader any more (KIP-966).
func (k *Cluster) InSync(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap("A")...), kgo.DisableClientMetrics())
	if err != nil {
		return err
	}
	defer client.Close()
	lacking := 0
	err = until(ctx, func(ctx context.Context) (bool, error) {
		topics, err := kadm.NewClient(client).ListTopicsWithInternal(ctx)
		lacking = 0
		topics.EachPartition(func(p kadm.PartitionDetail) { lacking += len(p.Replicas) - len(p.ISR) })
		return err == nil && lacking == 0, err
	})
	if err != nil {
		return fmt.Errorf("%d replicas are not in sync: %w", lacking, err)
	}
	return nil
}

// lastWords are the last lines of a server's log.
func (k *Cluster) lastWords(i int) string {
	text, err := os.ReadFile(k.path(k.servers[i], "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "")
}
