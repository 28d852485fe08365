package kafka

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// known reports whether the library knows an error code.
func known(code int16) bool {
	e := kerr.TypedErrorForCode(code)
	return e != nil && e.Code == code
}

func TestEveryErrorHasAMeaning(t *testing.T) {
	count := 0
	for code := int16(math.MinInt16); code < math.MaxInt16; code++ {
		m, ok := meanings[code]
		if ok != known(code) {
			t.Errorf("code %d (%s) is in the table: %v; the library knows it: %v", code, nameOf(code), ok, known(code))
		}
		if !ok {
			if outcomeOf(code, "all") != histories.Info && code != 0 {
				t.Errorf("code %d, which nobody knows, is taken for something", code)
			}
			continue
		}
		count++
		definite := func(o histories.Outcome) bool { return o == histories.Fail }
		if m.why == "" || definite(m.all) && !definite(m.one) {
			t.Errorf("%s: what an acks=all answer excludes, one that did not wait excludes as well: %+v", nameOf(code), m)
		}
		if outcomeOf(code, "0") != histories.Info {
			t.Errorf("%s: with acks=0 nothing is known", nameOf(code))
		}
	}
	if count < 130 {
		t.Errorf("only %d codes", count)
	}
}

// TestMeanings holds the table against what kafka-replication.md, section 2.1,
// states by name.
func TestMeanings(t *testing.T) {
	const fail, info = histories.Fail, histories.Info
	for name, want := range map[string][2]histories.Outcome{ // acks=all, acks=1
		"NOT_LEADER_OR_FOLLOWER": {info, fail}, "UNKNOWN_TOPIC_OR_PARTITION": {info, fail}, "UNKNOWN_TOPIC_ID": {info, fail},
		"LEADER_NOT_AVAILABLE": {fail, fail}, "NOT_ENOUGH_REPLICAS": {fail, fail}, "NOT_ENOUGH_REPLICAS_AFTER_APPEND": {info, info},
		"REQUEST_TIMED_OUT": {info, info}, "KAFKA_STORAGE_ERROR": {info, info}, "UNKNOWN_SERVER_ERROR": {info, info},
		"INVALID_REQUIRED_ACKS": {fail, fail}, "MESSAGE_TOO_LARGE": {fail, fail}, "RECORD_LIST_TOO_LARGE": {fail, fail},
		"CORRUPT_MESSAGE": {fail, fail}, "INVALID_TIMESTAMP": {fail, fail}, "INVALID_RECORD": {fail, fail},
		"TOPIC_AUTHORIZATION_FAILED": {fail, fail}, "OUT_OF_ORDER_SEQUENCE_NUMBER": {fail, fail},
		"INVALID_PRODUCER_EPOCH": {fail, fail}, "UNKNOWN_PRODUCER_ID": {fail, fail}, "DUPLICATE_SEQUENCE_NUMBER": {info, info},
	} {
		found := false
		for code := range meanings {
			if nameOf(code) == name {
				found = true
				if got := [2]histories.Outcome{outcomeOf(code, "all"), outcomeOf(code, "1")}; got != want {
					t.Errorf("%s: %v, want %v", name, got, want)
				}
			}
		}
		if !found {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestErrorsAreRecorded lets a broker answer produce requests with every code,
// one after the other, and demands of the history what the table says.
func TestErrorsAreRecorded(t *testing.T) {
	t.Parallel()
	var codes []int16
	for code := range meanings {
		codes = append(codes, code)
	}
	for _, acks := range []string{"all", "1"} {
		cluster := newCluster(t, kfake.NumBrokers(1))
		var n atomic.Int64
		cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			n := n.Add(1)
			if n > int64(len(codes)) {
				return nil, nil, false
			}
			return refusalOf(req.(*kmsg.ProduceRequest), codes[n-1]), nil, true
		})
		s := record(t, cluster, Config{Producers: 32, Consumers: 1, Acks: acks}, func(w work, _ func(string)) error {
			w.until(func(int64) bool { return n.Load() > int64(len(codes)) })
			return nil
		})
		seen := map[string]histories.Outcome{}
		for _, o := range s.History.Ops() {
			if o.Kind == histories.Send && o.Code != "" {
				seen[o.Code] = o.Outcome
			}
		}
		for _, code := range codes {
			if got, want := seen[nameOf(code)], outcomeOf(code, acks); got != want {
				t.Errorf("acks=%s: %s is recorded as %v, want %v", acks, nameOf(code), got, want)
			}
		}
	}
}

// refusalOf answers a produce request of one partition with an error.
func refusalOf(req *kmsg.ProduceRequest, code int16) *kmsg.ProduceResponse {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	t := kmsg.NewProduceResponseTopic()
	t.Topic, t.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
	p := kmsg.NewProduceResponseTopicPartition()
	p.Partition, p.ErrorCode, p.BaseOffset = req.Topics[0].Partitions[0].Partition, code, -1
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	return resp
}
