package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// settingsRefused has brokers refuse to tell a topic's settings for the first
// times that they are asked.
func settingsRefused(cluster *kfake.Cluster, times int, code int16) {
	cluster.ControlKey(int16(kmsg.DescribeConfigs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if times--; times < 0 {
			return nil, nil, false
		}
		asked := req.(*kmsg.DescribeConfigsRequest).Resources[0]
		resource := kmsg.NewDescribeConfigsResponseResource()
		resource.ResourceType, resource.ResourceName, resource.ErrorCode = asked.ResourceType, asked.ResourceName, code
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		resp.Resources = append(resp.Resources, resource)
		return resp, nil, true
	})
}

// TestSettingsLate has a broker that has not heard yet of the topic that was
// made.
func TestSettingsLate(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	settingsRefused(cluster, 3, kerr.UnknownTopicOrPartition.Code)
	s := record(t, cluster, Config{TopicConfig: map[string]string{"unclean.leader.election.enable": "true"}}, nil)
	if c := s.History.Config(); c.Get("unclean.leader.election.enable") != "true" || c.Get("cleanup.policy") != "delete" || len(s.Remarks) > 0 {
		t.Errorf("the header has %v; remarks %q", c, s.Remarks)
	}
}

// TestSettingsUntold has a cluster that never tells a topic's settings: nothing
// may be judged by stricter ones.
func TestSettingsUntold(t *testing.T) {
	t.Parallel()
	for _, code := range []*kerr.Error{kerr.UnknownTopicOrPartition, kerr.TopicAuthorizationFailed} {
		cluster := newCluster(t)
		settingsRefused(cluster, 1<<30, code.Code)
		c := Config{Sides: [][]string{cluster.ListenAddrs()}, Timeout: 800 * time.Millisecond, Duration: 100 * time.Millisecond,
			TopicConfig: map[string]string{"unclean.leader.election.enable": "true"}}
		if s, err := Record(t.Context(), c); !errors.Is(err, ErrSettings) || !errors.Is(err, code) || s.History != nil {
			t.Errorf("%v", err)
		}
		c.TopicConfig["cleanup.policy"] = "compact"
		s, err := Record(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if c := s.History.Config(); c.Get("unclean.leader.election.enable") != "true" || c.Get("cleanup.policy") != "compact" || len(s.Remarks) != 1 {
			t.Errorf("the header has %v; remarks %q", c, s.Remarks)
		}
	}
}

// TestLastAnswer has the time end while a question is open: what was answered before
// says why the topic is not known.
func TestLastAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	err := untilKnown(ctx, true, func() error {
		if asked++; asked == 1 {
			return kerr.UnknownTopicOrPartition
		}
		cancel()
		return ctx.Err()
	})
	if asked != 2 || !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("%v after %d questions", err, asked)
	}
}

// TestSettingsOfExisting has a topic that exists: what is stated stands for what the
// cluster does not tell, and has to be what it tells.
func TestSettingsOfExisting(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.SeedTopics(1, "t"))
	stated := map[string]string{"unclean.leader.election.enable": "true", "cleanup.policy": "compact"}
	c := Config{Sides: [][]string{cluster.ListenAddrs()}, Topic: "t", Existing: true, TopicConfig: stated, Timeout: 800 * time.Millisecond, Duration: 100 * time.Millisecond}
	if s, err := Record(t.Context(), c); !errors.Is(err, ErrConfig) || s.History != nil || !strings.Contains(err.Error(), "topic t has ") || !strings.Contains(err.Error(), " as stated") {
		t.Errorf("%v", err)
	}
	settingsRefused(cluster, 1<<30, kerr.TopicAuthorizationFailed.Code)
	s, err := Record(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.History.Config(); c.Get("unclean.leader.election.enable") != "true" || c.Get("cleanup.policy") != "compact" || len(s.Remarks) != 1 {
		t.Errorf("the header has %v; remarks %q", c, s.Remarks)
	}
}

// TestSettingsRefused has a cluster that takes none of the settings of a topic:
// the error names those that were asked for.
func TestSettingsRefused(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	cluster.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		topic := kmsg.NewCreateTopicsResponseTopic()
		topic.Topic, topic.ErrorCode = req.(*kmsg.CreateTopicsRequest).Topics[0].Topic, kerr.InvalidConfig.Code
		resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	_, err := Record(t.Context(), Config{Sides: [][]string{cluster.ListenAddrs()}, TopicConfig: map[string]string{"a.b": "1", "bogus": "2"}})
	if !errors.Is(err, kerr.InvalidConfig) || !strings.Contains(err.Error(), "with settings of a.b, bogus: ") {
		t.Errorf("%v", err)
	}
}
