package testcluster

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts a cluster, where the machine can and wants to.
func start(t *testing.T) *Cluster {
	t.Helper()
	if testing.Short() || os.Getenv("ISRCHECK_KAFKA") == "" {
		t.Skip("a real Kafka is started where ISRCHECK_KAFKA is set")
	}
	k, err := Start(t.Context(), Config{Dir: t.TempDir(), Say: func(text string) { t.Log(text) }})
	must(t, err)
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// knows waits until a broker, asked by clients of a side, names as many brokers.
func knows(t *testing.T, k *Cluster, side string, broker, brokers int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap(side)[broker-1]))
	must(t, err)
	defer client.Close()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		all, err := kadm.NewClient(client).ListBrokers(once)
		cancel()
		if err == nil && len(all) == brokers {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("broker %d names %d brokers, never %d: %v", broker, len(all), brokers, err)
		}
	}
}

// TestCluster does to a cluster what can be done to it.
func TestCluster(t *testing.T) {
	k := start(t)
	must(t, k.Brokers[0].Kill(t.Context()))
	knows(t, k, "A", 2, 2)
	must(t, k.Heal())
	must(t, k.Ready(t.Context()))

	must(t, k.Brokers[1].Pause())
	knows(t, k, "B", 3, 2)
	must(t, k.Heal())
	must(t, k.Ready(t.Context()))

	// What broker 3 sends to the controller is lost, and nothing else is.
	must(t, k.Network.Cut("3", "controller"))
	knows(t, k, "A", 1, 2)
	knows(t, k, "A", 3, 3)
	must(t, k.Heal())
	must(t, k.Ready(t.Context()))
}
