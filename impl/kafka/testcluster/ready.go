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
	ask := time.NewTicker(100 * time.Millisecond)
	defer ask.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		brokers, err := kadm.NewClient(client).ListBrokers(once)
		cancel()
		if err == nil && len(brokers) == len(k.Brokers) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("it knows %d brokers of %d", len(brokers), len(k.Brokers))
		}
		select {
		case <-ask.C:
		case <-k.Brokers[i].Ended():
			return fmt.Errorf("%s ended. It said:\n%s", k.Brokers[i].Name, k.lastWords(i+1))
		case <-k.Controller.Ended():
			return fmt.Errorf("%s ended. It said:\n%s", k.Controller.Name, k.lastWords(0))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w. It said:\n%s", k.Brokers[i].Name, errors.Join(context.Cause(ctx), err), k.lastWords(i+1))
		}
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
	ask := time.NewTicker(100 * time.Millisecond)
	defer ask.Stop()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		topics, err := kadm.NewClient(client).ListTopicsWithInternal(once)
		cancel()
		lacking := 0
		topics.EachPartition(func(p kadm.PartitionDetail) { lacking += len(p.Replicas) - len(p.ISR) })
		if err == nil && lacking == 0 {
			return nil
		}
		select {
		case <-ask.C:
		case <-ctx.Done():
			return fmt.Errorf("%d replicas are not in sync: %w", lacking, errors.Join(context.Cause(ctx), err))
		}
	}
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
