package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl/kafka/testcluster"
)

// A stage is a nemesis that does one thing after the other, and waits for what
// each has to bring about.
type stage func(*scene)

// A scene is what goes on while a stage is played. After the first failure it
// does nothing.
type scene struct {
	ctx  context.Context
	mark func(string)
	err  error
}

// Run lets the clients work before the first act, and after the last one.
func (play stage) Run(ctx context.Context, mark func(histories.MarkKind, string)) error {
	s := &scene{ctx: ctx, mark: func(text string) { mark(histories.Nemesis, text) }}
	s.rest(3 * time.Second)
	play(s)
	s.rest(3 * time.Second)
	return s.err
}

func (s *scene) do(text string, act func() error) {
	if s.err == nil {
		s.mark(text)
		s.err = act()
	}
}

// rest lets the clients work.
func (s *scene) rest(d time.Duration) {
	if s.err == nil {
		select {
		case <-time.After(d):
		case <-s.ctx.Done():
			s.err = fmt.Errorf("the work ended while the stage was played: %w", context.Cause(s.ctx))
		}
	}
}

// until waits until something is so.
func (s *scene) until(what string, is func() bool) {
	for s.err == nil && !is() {
		s.rest(100 * time.Millisecond)
	}
	if s.err == nil {
		s.mark("now " + what)
	} else {
		s.err = fmt.Errorf("waiting until %s: %w", what, s.err)
	}
}

// partition is what a broker says of partition 0: its leader, in which epoch,
// and how many replicas are in sync. Zeros if it does not answer.
func (s *scene) partition(k *testcluster.Cluster, broker int, topic string) (leader, epoch, isr int) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	resp, ok := ask[*kmsg.MetadataResponse](s, k, broker, req)
	if !ok || len(resp.Topics) != 1 || kerr.ErrorForCode(resp.Topics[0].ErrorCode) != nil || len(resp.Topics[0].Partitions) == 0 {
		return 0, 0, 0
	}
	p := resp.Topics[0].Partitions[0]
	return int(p.Leader), int(p.LeaderEpoch), len(p.ISR)
}

// end is what a broker says is the end of partition 0, 0 if it does not answer.
func (s *scene) end(k *testcluster.Cluster, broker int, topic string) int64 {
	req := kmsg.NewPtrListOffsetsRequest()
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
	resp, ok := ask[*kmsg.ListOffsetsResponse](s, k, broker, req)
	if !ok || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return 0
	}
	return resp.Topics[0].Partitions[0].Offset
}

// ask asks one broker, and nobody else, as a client of side B.
func ask[T any](s *scene, k *testcluster.Cluster, broker int, req kmsg.Request) (answer T, ok bool) {
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap("B")[broker-1]))
	if err != nil {
		return answer, false
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(s.ctx, time.Second)
	defer cancel()
	resp, err := client.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return answer, false
	}
	answer, ok = resp.(T)
	return answer, ok
}

// create makes a topic of one partition on all brokers, and returns who leads it.
func create(t *testing.T, k *testcluster.Cluster, topic string) (leader int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap("B")...))
	must(t, err)
	defer client.Close()
	_, err = kadm.NewClient(client).CreateTopic(t.Context(), 1, -1, nil, topic)
	must(t, err)
	s := &scene{ctx: t.Context(), mark: func(text string) { t.Log(text) }}
	s.until("there is a leader", func() bool { leader, _, _ = s.partition(k, 1, topic); return leader > 0 })
	must(t, s.err)
	return leader
}
