package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/histories"
)

// prepare makes the topic, or finds it, and learns its settings.
func (r *run) prepare(ctx context.Context) error {
	making, cancel := context.WithTimeout(ctx, 4*r.Timeout)
	defer cancel()
	// The context bounds how often it is tried; a cluster that has just begun, or
	// a topic, is there a moment later, and not after seconds.
	soon := func(int) time.Duration { return 2 * backOff }
	cl, err := kgo.NewClient(r.options("isrcheck", kgo.SeedBrokers(slices.Concat(r.Sides...)...),
		kgo.DialTimeout(r.Timeout), kgo.MetadataMinAge(refreshEvery), kgo.RetryBackoffFn(soon), kgo.RequestRetries(int(4*r.Timeout/backOff)))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	if err := r.everySide(making); err != nil {
		return err
	}
	if err := r.makeTopic(making, admin); err != nil {
		return r.noAnswer(making, err)
	}
	asking, cancel := context.WithTimeout(ctx, 4*r.Timeout)
	defer cancel()
	if err := r.learnBrokers(asking, admin); err != nil {
		return err
	}
	return r.learnSettings(asking, admin)
}

// everySide returns an error if one of several sides does not answer: its clients
// would have nobody to ask from the beginning.
func (r *run) everySide(ctx context.Context) error {
	for i, seeds := range r.Sides {
		if len(r.Sides) == 1 {
			break
		}
		if err := r.answering(ctx, seeds, 1); err != nil {
			return fmt.Errorf("no answer from side %d (--bootstrap %s) within %v: %w; every side has to answer before the recording begins", i+1, strings.Join(seeds, ","), 4*r.Timeout, err)
		}
	}
	return nil
}

// learnBrokers tells where the cluster says that its brokers are.
func (r *run) learnBrokers(ctx context.Context, admin *kadm.Client) error {
	if r.Learned == nil {
		return nil
	}
	all, err := admin.ListBrokers(ctx)
	if err != nil {
		return r.noAnswer(ctx, err)
	}
	var addrs []string
	for _, b := range all {
		addrs = append(addrs, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	for _, remark := range r.Learned(addrs) {
		r.remark("%s", remark)
	}
	return nil
}

// makeTopic makes the topic unless it exists, and learns its partitions.
func (r *run) makeTopic(ctx context.Context, admin *kadm.Client) error {
	if !r.Existing {
		configs := make(map[string]*string, len(r.TopicConfig))
		for k, v := range r.TopicConfig {
			configs[k] = kadm.StringPtr(v)
		}
		replicas := r.ReplicationFactor
		if replicas == 0 {
			replicas = -1
		}
		_, err := admin.CreateTopic(ctx, r.Partitions, replicas, configs, r.Topic)
		switch {
		case errors.Is(err, kerr.InvalidConfig):
			return fmt.Errorf("topic %s cannot be made with settings of %s: %w", r.Topic, strings.Join(slices.Sorted(maps.Keys(configs)), ", "), err)
		case err != nil:
			return fmt.Errorf("topic %s cannot be made: %w", r.Topic, err)
		}
	}
	return r.learnTopic(ctx, admin)
}

// asked are the addresses that the recorder is told.
func (r *run) asked() string { return strings.Join(slices.Concat(r.Sides...), ", ") }

// noAnswer says of an error for the lack of time whom it waited for.
func (r *run) noAnswer(waited context.Context, err error) error {
	if code := (*kerr.Error)(nil); waited.Err() != context.DeadlineExceeded || errors.As(err, &code) {
		return err
	}
	return fmt.Errorf("no answer from %s within %v: %w; expected a broker of Kafka that is asked as its listener wants, with TLS and SASL or without", r.asked(), 4*r.Timeout, err)
}

// untilKnown asks about the topic until it is told, or the context has ended: then
// the last answer says why, and not the question that was left open. Brokers hear of a
// topic one after the other, if there is one.
func untilKnown(ctx context.Context, exists bool, ask func() error) error {
	var answer error
	for {
		err := ask()
		var code *kerr.Error
		answered := errors.As(err, &code)
		refused := answered && (!code.Retriable || !exists && code == kerr.UnknownTopicOrPartition)
		if err == nil || refused {
			return err
		}
		if answered {
			answer = err
		}
		if pause(ctx, backOff); ctx.Err() != nil {
			return cmp.Or(answer, err)
		}
	}
}

// learnTopic learns the partitions of the topic.
func (r *run) learnTopic(ctx context.Context, admin *kadm.Client) error {
	var topic kadm.TopicDetail
	err := untilKnown(ctx, !r.Existing, func() error {
		topics, err := admin.ListTopics(ctx, r.Topic)
		topic = topics[r.Topic]
		return cmp.Or(err, topic.Err)
	})
	if err != nil {
		return fmt.Errorf("topic %s: %w", r.Topic, err)
	}
	if r.Existing {
		if err := empty(ctx, admin, r.Topic); err != nil {
			return err
		}
	}
	r.Partitions = int32(len(topic.Partitions))
	r.summary.Topic, r.summary.TopicID = r.Topic, uuid(topic.ID)
	r.born.number(topic.ID)
	r.config = r.clientSettings()
	r.set("replication.factor", fmt.Sprint(topic.Partitions.NumReplicas()))
	return nil
}

// ErrSettings says that the cluster does not tell the settings of the topic that
// a verdict depends on. A judge would assume the strictest ones, and so blame a
// cluster for what it was permitted to do.
var ErrSettings = errors.New("the settings of the topic are not known")

// judgedBy are the settings of a topic that a verdict depends on.
var judgedBy = []string{"cleanup.policy", "unclean.leader.election.enable"}

// learnSettings learns the settings of the topic from the cluster, or else from
// what was asked for, as long as that leaves nothing to a default of the cluster.
func (r *run) learnSettings(ctx context.Context, admin *kadm.Client) error {
	var described kadm.ResourceConfigs
	err := untilKnown(ctx, true, func() (err error) {
		if described, err = admin.DescribeTopicConfigs(ctx, r.Topic); err == nil && len(described) != 1 {
			err = errMalformed
		}
		if err == nil {
			err = described[0].Err
		}
		return err
	})
	if err == nil {
		return r.takeSettings(described[0].Configs)
	}
	for _, key := range judgedBy {
		if _, stated := r.TopicConfig[key]; !stated {
			return fmt.Errorf("%w: topic %s: %w; expected an answer, or %s stated", ErrSettings, r.Topic, err, strings.Join(judgedBy, " and "))
		}
	}
	r.remark("the cluster does not tell the settings of the topic (%v); those that were stated are in the header", err)
	for _, key := range slices.Sorted(maps.Keys(r.TopicConfig)) {
		r.topicSetting(key, r.TopicConfig[key])
	}
	return nil
}

// takeSettings takes over what the cluster tells. A topic that exists has to be what
// it is said to be.
func (r *run) takeSettings(told []kadm.Config) error {
	for _, c := range told {
		if stated, ok := r.TopicConfig[c.Key]; ok && r.Existing && stated != c.MaybeValue() {
			return fmt.Errorf("%w: topic %s has %s=%s; expected %s as stated", ErrConfig, r.Topic, c.Key, c.MaybeValue(), stated)
		}
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
		histories.WrittenAsItGoes, histories.EndMarked}
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
