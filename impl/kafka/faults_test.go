package kafka

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// nowAndThen does something a few times while clients work.
func nowAndThen(what string, do func() error) nemesis {
	return func(w work, mark func(string)) error {
		for range 3 {
			w.more(100)
			mark(what)
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// client is one of the test's own.
func client(t *testing.T, cluster *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(cluster.ListenAddrs()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// codes counts the codes of operations of a kind, "" for those that ended well.
func codes(h *histories.History, kind histories.Kind) map[string]int {
	out := map[string]int{}
	for _, o := range h.Ops() {
		if o.Kind == kind {
			out[o.Code]++
		}
	}
	return out
}

func TestElections(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{Partitions: 2}, {Partitions: 2, Idempotent: true}, {Partitions: 2, Group: true}} {
		cluster := newCluster(t)
		c.ReplicationFactor = 3
		s := record(t, cluster, c, nowAndThen("move leaders", func() error { cluster.ShufflePartitionLeaders(); return nil }))
		r := judge(t, s.History, checker.Conforms)
		if s.Elections == 0 && !c.Idempotent && !c.Group || r.Exercised.Faults != 3 {
			t.Errorf("%d elections, %d faults", s.Elections, r.Exercised.Faults)
		}
	}
}

// TestUnanswered ends connections instead of answering, and lets requests wait
// too long.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	var n atomic.Int64
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch n := n.Add(1); {
		case n%10 == 3:
			return nil, errors.New("the connection ends"), true
		case n == 20:
			return nil, nil, true // no answer, ever
		}
		return nil, nil, false
	})
	s := record(t, cluster, Config{Timeout: time.Second}, func(w work, _ func(string)) error {
		w.until(func(int64) bool { return n.Load() > 20 })
		return nil
	})
	judge(t, s.History, checker.Conforms)
	got := codes(s.History, histories.Send)
	if got[connectionLost] == 0 || got[clientTimeout] == 0 || got[""] == 0 {
		t.Errorf("sends end with %v", got)
	}
	for _, o := range s.History.Ops() {
		if o.Code != "" && o.Kind == histories.Send && o.Outcome != histories.Info {
			t.Errorf("%s may have been heard", o.String())
		}
	}
}

func TestNotConnected(t *testing.T) {
	t.Parallel()
	c := Config{Sides: [][]string{{"127.0.0.1:1"}}, Timeout: time.Second}.withDefaults()
	w := newWire(&c)
	defer w.close()
	_, err := request[*kmsg.ProduceResponse](t.Context(), w, "127.0.0.1:1", kmsg.NewPtrProduceRequest())
	if outcome, code := unanswered(err); outcome != histories.Fail || code != notConnected {
		t.Errorf("nobody listens, which is %v %s: %v", outcome, code, err)
	}
	if _, err := Record(t.Context(), c); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestIdempotentRetries refuses every other attempt for the lack of a leader: a
// send is acknowledged once, and what it took is not seen.
func TestIdempotentRetries(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(1))
	n := 0
	cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if n++; n%2 == 0 {
			return refusalOf(req.(*kmsg.ProduceRequest), kerr.NotLeaderForPartition.Code), nil, true
		}
		return nil, nil, false
	})
	s := record(t, cluster, Config{Idempotent: true, Producers: 2}, nil)
	judge(t, s.History, checker.Conforms)
	if got := codes(s.History, histories.Send); got[""] < 3 || len(got) != 1 {
		t.Errorf("sends end with %v", got)
	}
}

// TestLogStart deletes records under the consumers.
func TestLogStart(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	admin := kadm.NewClient(client(t, cluster))
	s := record(t, cluster, Config{Topic: "t", Producers: 1}, nowAndThen("delete records", func() error {
		for {
			ends, err := admin.ListEndOffsets(t.Context(), "t")
			if err != nil {
				return err
			}
			if end, _ := ends.Lookup("t", 0); end.Offset > 0 { // a slow machine may not have sent anything yet
				_, err = admin.DeleteRecords(t.Context(), ends.Offsets())
				return err
			}
		}
	}))
	judge(t, s.History, checker.Conforms)
	starts := map[int64]bool{0: true}
	for _, o := range s.History.Ops() {
		starts[max(o.Start, 0)] = true
		if o.Kind == histories.List && o.At == "earliest" && o.Outcome == histories.OK {
			starts[o.Offset] = true
		}
	}
	if len(starts) < 2 { // how often it moved is a matter of speed
		t.Errorf("the log started at %v", starts)
	}
}

// TestAborted has somebody else abort transactions in the topic: offsets that no
// consumer of committed records sees.
func TestAborted(t *testing.T) {
	t.Parallel()
	for _, group := range []bool{false, true} {
		cluster := newCluster(t)
		other := client(t, cluster, kgo.TransactionalID("other"), kgo.DefaultProduceTopic("t"))
		s := record(t, cluster, Config{Topic: "t", Isolation: "read_committed", Group: group}, nowAndThen("abort", func() error {
			if err := other.BeginTransaction(); err != nil {
				return err
			}
			if err := other.ProduceSync(t.Context(), kgo.StringRecord("foreign")).FirstErr(); err != nil {
				return err
			}
			return other.EndTransaction(t.Context(), kgo.TryAbort)
		}))
		judge(t, s.History, checker.Conforms)
		last, records := int64(0), 0
		for _, o := range s.History.Ops() {
			if o.Kind == histories.Scan {
				last, records = o.End, len(o.Records)
			}
		}
		if int(last) != records+6 { // each transaction is a record and a marker
			t.Errorf("the log ends at %d, and %d records were read", last, records)
		}
	}
}

// TestGone deletes the topic for good.
func TestGone(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	admin := kadm.NewClient(client(t, cluster))
	s := record(t, cluster, Config{Topic: "t", Settle: time.Second}, func(w work, mark func(string)) error {
		w.more(300)
		mark("delete the topic")
		_, err := admin.DeleteTopic(w.ctx, "t")
		return err
	})
	r := judge(t, s.History, checker.Violates)
	if names := r.Names(); !slices.Contains(names, "lost-write") {
		t.Errorf("found %v", names)
	}
}

// TestMadeAnew deletes the topic and makes another of its name, which is
// another log: what the first one held is lost.
func TestMadeAnew(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	admin := kadm.NewClient(client(t, cluster))
	s := record(t, cluster, Config{Topic: "t"}, func(w work, mark func(string)) error {
		w.more(300)
		mark("make the topic anew")
		if _, err := admin.DeleteTopic(w.ctx, "t"); err != nil {
			return err
		}
		_, err := admin.CreateTopic(w.ctx, 1, 1, nil, "t")
		return err
	})
	r := judge(t, s.History, checker.Violates)
	for _, f := range r.Findings {
		if f.Partition != "t/0" {
			t.Errorf("%s on %s: %s", f.Name, f.Partition, f.Says)
		}
	}
	if names := r.Names(); !slices.Contains(names, "lost-write") {
		t.Errorf("found %v", names)
	}
	if len(s.Remarks) != 1 || !strings.Contains(s.Remarks[0], "topic t was made anew") {
		t.Errorf("remarks %q", s.Remarks)
	}
	for _, o := range s.History.Ops() {
		if o.Kind == histories.Scan && o.On == "t#2/0" && len(o.Records) > 0 {
			return
		}
	}
	t.Error("the second log was not read")
}

// TestMadeAnewByName has brokers that know topics by their names alone in a
// fetch: the recording says that what became of the first topic is not known.
func TestMadeAnewByName(t *testing.T) {
	t.Parallel()
	old := kversion.Stable()
	old.SetMaxKeyVersion(int16(kmsg.Fetch), byTopicID-1)
	cluster := newCluster(t, kfake.MaxVersions(old))
	admin := kadm.NewClient(client(t, cluster))
	s, err := tryRecord(t, cluster, Config{Topic: "t"}, func(w work, _ func(string)) error {
		w.more(300)
		if _, err := admin.DeleteTopic(w.ctx, "t"); err != nil {
			return err
		}
		_, err := admin.CreateTopic(w.ctx, 1, 1, nil, "t")
		return err
	})
	if !errors.Is(err, errByName) || s.Scanned != 1 {
		t.Errorf("scanned %d: %v", s.Scanned, err)
	}
}

// TestUnsettled has a cluster that never tells an end again: there is no scan,
// and the recording says so.
func TestUnsettled(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.SeedTopics(1, "t"))
	s, err := tryRecord(t, cluster, Config{Topic: "t", Existing: true, Settle: 500 * time.Millisecond}, func(w work, _ func(string)) error {
		w.more(100)
		cluster.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			return nil, errors.New("the connection ends"), true
		})
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "did not come to rest within 500ms") || s.Scanned != 0 {
		t.Errorf("scanned %d: %v", s.Scanned, err)
	}
	if got := codes(s.History, histories.Scan); len(got) > 0 {
		t.Errorf("a cluster that is not at rest was scanned: %v", got)
	}
}

// TestNemesisFails ends the work, and the recording is complete all the same.
func TestNemesisFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s, err := tryRecord(t, newCluster(t), Config{Partitions: 2}, func(w work, _ func(string)) error { w.more(100); return broken })
	if !errors.Is(err, broken) || s.Scanned != 2 {
		t.Errorf("scanned %d: %v", s.Scanned, err)
	}
	judge(t, s.History, checker.Conforms)
}

// TestDuration ends the work when its time is over.
func TestDuration(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	s, err := Record(t.Context(), Config{Sides: [][]string{cluster.ListenAddrs()}, Duration: 100 * time.Millisecond})
	if err != nil || s.Scanned != 1 || s.Took < 100*time.Millisecond {
		t.Errorf("scanned %d after %s: %v", s.Scanned, s.Took, err)
	}
}

// TestGroup has members that begin where the group committed, and one partition
// read by several of them in turn.
func TestGroup(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	admin := kadm.NewClient(client(t, cluster))
	s := record(t, cluster, Config{Topic: "t", Partitions: 3, Group: true, Consumers: 2}, func(w work, mark func(string)) error {
		committed := func() kadm.Offsets {
			offsets, _ := admin.FetchOffsets(w.ctx, "isrcheck-t")
			return offsets.Offsets()
		}
		everyPartitionGoesOn := func() {
			before := committed()
			w.until(func(int64) bool {
				further := 0
				committed().Each(func(o kadm.Offset) {
					if was, ok := before.Lookup("t", o.Partition); !ok || o.At > was.At {
						further++
					}
				})
				return further == 3
			})
		}
		everyPartitionGoesOn()
		mark("somebody else joins, and leaves")
		other := client(t, cluster, kgo.ConsumerGroup("isrcheck-t"), kgo.ConsumeTopics("t"), kgo.DisableAutoCommit())
		for other.PollFetches(w.ctx).NumRecords() == 0 && w.ctx.Err() == nil {
		}
		other.Close()
		everyPartitionGoesOn()
		return nil
	})
	judge(t, s.History, checker.Conforms)
	marks := map[histories.MarkKind]int{}
	beginnings := map[int64]bool{}
	for _, m := range s.History.Marks() {
		if marks[m.Kind]++; m.Kind == histories.Assigned {
			beginnings[m.Offset] = true
		}
	}
	if marks[histories.Assigned] < 4 || marks[histories.Revoked] < 1 || len(beginnings) < 2 {
		t.Errorf("marks are %v; members begin at %v", marks, beginnings)
	}
	if got := codes(s.History, histories.Poll); got[""] < 3 {
		t.Errorf("polls end with %v", got)
	}
}
