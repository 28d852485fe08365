package kafka

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// TestSides has broker 1 believe that it leads. The clients of its side ask it
// and nobody else, whatever it answers, and those of the other side never do.
func TestSides(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(2), kfake.SeedTopics(1, "t"))
	if err := cluster.MoveTopicPartition("t", 0, 0); err != nil {
		t.Fatal(err)
	}
	addrs := cluster.ListenAddrs()
	w := newWire(&Config{Timeout: time.Second})
	defer w.close()
	wrong, err := metadata(t.Context(), w, addrs[1], "t")
	if err != nil {
		t.Fatal(err)
	}
	wrong.Topics[0].Partitions[0].Leader = 1
	var over atomic.Bool
	asked := map[int32]int{}
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		node := cluster.CurrentNode()
		if _, ok := req.(*kmsg.MetadataRequest); ok && node == 1 && !over.Load() {
			wrong.Version = req.GetVersion()
			return wrong, nil, true
		}
		if p, ok := req.(*kmsg.ProduceRequest); ok {
			asked[node]++
			if node == 1 { // it is asked in earnest
				return refusalOf(p, kerr.NotLeaderForPartition.Code), nil, true
			}
		}
		return nil, nil, false
	})
	s := record(t, cluster, Config{Sides: [][]string{addrs[:1], addrs[1:]}, Topic: "t", Existing: true,
		Say: func(phase string) { over.Store(over.Load() || phase == "waiting until the cluster answers") }}, nil)
	judge(t, s.History, checker.Conforms)
	ok := map[string]bool{}
	refused := map[string]bool{}
	for _, o := range s.History.Ops() {
		if o.Kind == histories.Send {
			ok[o.Process] = ok[o.Process] || o.Outcome == histories.OK
			refused[o.Process] = refused[o.Process] || o.Code == "NOT_LEADER_OR_FOLLOWER"
		}
	}
	for _, p := range []string{"P1", "P3"} {
		if !ok[p] || refused[p] {
			t.Errorf("%s is on the side of the leader: acknowledged %v, refused %v", p, ok[p], refused[p])
		}
	}
	for _, p := range []string{"P2", "P4"} {
		if ok[p] || !refused[p] {
			t.Errorf("%s is on the other side: acknowledged %v, refused %v", p, ok[p], refused[p])
		}
	}
	if asked[0] == 0 || asked[1] == 0 {
		t.Errorf("the brokers were asked %v times", asked)
	}
}

// TestSilentSide begins no recording while a side does not answer, whichever it is,
// and makes no topic.
func TestSilentSide(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(1))
	cluster.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		t.Error("a topic is made")
		return nil, nil, false
	})
	there, silent := cluster.ListenAddrs(), []string{"127.0.0.1:1"}
	for want, sides := range map[string][][]string{"side 1": {silent, there}, "side 2": {there, silent}} {
		s, err := Record(t.Context(), Config{Sides: sides, Timeout: 100 * time.Millisecond})
		if err == nil || s.History != nil || !strings.Contains(err.Error(), "no answer from "+want+" (--bootstrap 127.0.0.1:1) within 400ms: ") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestMarksOfAnswer hands out a record above the marks of the answer: in earnest
// where the log has not got that far, and as a leader may that reads after it
// noted them.
func TestMarksOfAnswer(t *testing.T) {
	t.Parallel()
	for name, committed := range map[string]bool{"committed": true, "not committed": false} {
		cluster := newCluster(t, kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
		var done atomic.Bool
		sent := 0
		cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			sent++
			return nil, nil, false
		})
		cluster.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			fetch := req.(*kmsg.FetchRequest)
			if from := fetch.Topics[0].Partitions[0].FetchOffset; done.Load() || from > 0 {
				return nil, nil, false
			}
			done.Store(sent > 1) // then the first one is in the log
			return early(fetch, done.Load(), committed), nil, true
		})
		s := record(t, cluster, Config{Topic: "t", Existing: true, Producers: 1, Consumers: 1}, func(w work, _ func(string)) error {
			w.until(func(int64) bool { return done.Load() })
			return nil
		})
		r := checker.Check(t.Context(), s.History, checker.Options{})
		found := strings.Join(r.Names(), " ")
		if early := strings.Contains(found, "early-read"); early == committed {
			t.Errorf("%s: found %q", name, found)
		}
		notes := 0
		for _, m := range s.History.Marks() {
			if strings.Contains(m.Text, "they are left out") {
				notes++
			}
		}
		if (notes == 1) != committed {
			t.Errorf("%s: %d notes", name, notes)
		}
	}
}

// early answers a fetch with a mark of 0, and, if asked to, with a record above
// it: the first one, which was sent by then, or one far behind the end.
func early(req *kmsg.FetchRequest, record, committed bool) *kmsg.FetchResponse {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	t := kmsg.NewFetchResponseTopic()
	t.Topic, t.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
	p := kmsg.NewFetchResponseTopicPartition()
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = 0, 0, 0
	if record {
		p.RecordBatches = batchOf([]histories.Value{histories.Int(1)}, nil, time.Now())
		if !committed {
			p.RecordBatches[1] = 1 // of the batch's first offset
		}
	}
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	return resp
}
