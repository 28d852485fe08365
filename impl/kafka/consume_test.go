package kafka

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/checker"
)

// TestMarksOfLeaderThatIsGone hands out a record above the marks of the answer,
// and does not tell how far the log has got: that proves nothing.
func TestMarksOfLeaderThatIsGone(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	var sent, refused atomic.Int64
	var done atomic.Bool
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		sent.Add(1)
		return nil, nil, false
	})
	cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		fetch := req.(*kmsg.FetchRequest)
		if done.Load() || fetch.Topics[0].Partitions[0].FetchOffset > 0 {
			return nil, nil, false
		}
		done.Store(sent.Load() > 1) // then the first one is in the log
		return early(fetch, done.Load(), true), nil, true
	})
	cluster.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if !done.Load() || refused.Add(1) > 1 {
			return nil, nil, false
		}
		list := req.(*kmsg.ListOffsetsRequest)
		resp := list.ResponseKind().(*kmsg.ListOffsetsResponse)
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic = "t"
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.ErrorCode = kerr.NotLeaderForPartition.Code
		topic.Partitions = append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	s, err := Record(t.Context(), Config{Sides: [][]string{cluster.ListenAddrs()}, Topic: "t", Existing: true,
		Producers: 1, Consumers: 1, Duration: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if refused.Load() == 0 {
		t.Fatal("the leader was not asked for the end")
	}
	if r := checker.Check(t.Context(), s.History, checker.Options{}); r.Verdict != checker.Conforms {
		t.Errorf("the verdict is %s: %v", r.Verdict, r.Names())
	}
}
