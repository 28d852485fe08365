package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/histories"
)

// prepare makes the topic, or finds it, and learns its settings.
func (r *run) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 4*r.Timeout)
	defer cancel()
	cl, err := kgo.NewClient(append(r.security(), kgo.ClientID("isrcheck"), kgo.DisableClientMetrics(), kgo.SeedBrokers(slices.Concat(r.Sides...)...))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if !r.Existing {
		configs := make(map[string]*string, len(r.TopicConfig))
		for k, v := range r.TopicConfig {
			configs[k] = kadm.StringPtr(v)
		}
		replicas := r.ReplicationFactor
		if replicas == 0 {
			replicas = -1
		}
		if _, err := admin.CreateTopic(ctx, r.Partitions, replicas, configs, r.Topic); err != nil {
			return fmt.Errorf("topic %s cannot be made: %w", r.Topic, err)
		}
	}
	return r.learnTopic(ctx, admin)
}

// learnTopic learns the partitions and the settings of the topic.
func (r *run) learnTopic(ctx context.Context, admin *kadm.Client) error {
	var topic kadm.TopicDetail
	for {
		topics, err := admin.ListTopics(ctx, r.Topic)
		if topic = topics[r.Topic]; err == nil {
			err = topic.Err
		}
		if err == nil {
			break
		}
		if r.Existing && errors.Is(err, kerr.UnknownTopicOrPartition) || !kerr.IsRetriable(err) {
			return fmt.Errorf("topic %s: %w", r.Topic, err)
		}
		if pause(ctx, backOff); ctx.Err() != nil {
			return fmt.Errorf("topic %s: %w", r.Topic, err)
		}
	}
	if r.Existing {
		if err := empty(ctx, admin, r.Topic); err != nil {
			return err
		}
	}
	r.Partitions = int32(len(topic.Partitions))
	r.summary.Topic, r.summary.TopicID = r.Topic, uuid(topic.ID)
	r.config = r.clientSettings()
	r.set("replication.factor", fmt.Sprint(topic.Partitions.NumReplicas()))
	described, err := admin.DescribeTopicConfigs(ctx, r.Topic)
	if err == nil && len(described) == 1 {
		err = described[0].Err
	}
	if err != nil {
		r.remark("the settings of the topic are not known: %v", err)
		return nil
	}
	for _, c := range described[0].Configs {
		r.topicSetting(c.Key, c.MaybeValue())
	}
	return nil
}

// empty returns an error if a topic holds records: nobody would know who sent
// them.
func empty(ctx context.Context, admin *kadm.Client, topic string) error {
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("topic %s: %w", topic, err)
	}
	for _, end := range ends.Offsets().Sorted() {
		if start, _ := starts.Lookup(topic, end.Partition); start.Offset < end.At {
			return fmt.Errorf("%w: topic %s: expected an empty topic, found offsets %d to %d in partition %d", ErrConfig, topic, start.Offset, end.At-1, end.Partition)
		}
	}
	return nil
}

// clientSettings are what the clients of the recording do.
func (r *run) clientSettings() histories.Config {
	c := histories.Config{{Key: "acks", Value: r.Acks}, {Key: "enable.idempotence", Value: fmt.Sprint(r.Idempotent)},
		{Key: "max.in.flight.requests.per.connection", Value: fmt.Sprint(r.InFlight)}, {Key: "isolation.level", Value: r.Isolation},
		{Key: "reads", Value: r.Reads}, {Key: "offsets", Value: "sparse"}, {Key: "system", Value: "kafka"},
		histories.WrittenAsItGoes}
	if r.Group {
		c = append(c, histories.Setting{Key: "assignment", Value: "subscribe"}, histories.Setting{Key: "auto.offset.reset", Value: "earliest"})
	}
	return c
}

// topicSetting takes over a setting of the topic, if a history can have it.
func (r *run) topicSetting(key, value string) {
	switch key {
	case "cleanup.policy":
		if strings.Contains(value, "compact") {
			r.compacted, value = true, "compact"
		}
	case "min.insync.replicas", "unclean.leader.election.enable":
	case "retention.ms", "retention.bytes", "flush.messages", "message.timestamp.type":
		key = "x-" + key
	default:
		return
	}
	r.set(key, value)
}

func (r *run) set(key, value string) { r.config = r.config.With(key, value) }
