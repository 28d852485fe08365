package kafka

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// newCluster starts brokers in this process.
func newCluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// A work is what clients do while a test's nemesis runs.
type work struct {
	ctx    context.Context
	events *atomic.Int64
}

// more waits until so many events more are recorded.
func (w work) more(events int64) {
	events += w.events.Load()
	w.until(func(now int64) bool { return now >= events })
}

// until waits for something, and tells it how many events are recorded.
func (w work) until(is func(events int64) bool) {
	for !is(w.events.Load()) && w.ctx.Err() == nil {
		pause(w.ctx, time.Millisecond)
	}
}

// A nemesis is a function that injects faults.
type nemesis func(w work, mark func(text string)) error

// A session ends the work a few hundred events after its nemesis has ended, for
// how fast clients are is another matter on every machine.
type session struct {
	nemesis nemesis // nil for none
	events  atomic.Int64
	written bytes.Buffer
	end     func()
}

func (s *session) Write(lines []byte) (int, error) {
	s.events.Add(int64(bytes.Count(lines, []byte("\n"))))
	return s.written.Write(lines)
}

func (s *session) Run(ctx context.Context, mark func(histories.MarkKind, string)) error {
	defer s.end()
	w := work{ctx, &s.events}
	if s.nemesis != nil {
		if err := s.nemesis(w, func(text string) { mark(histories.Nemesis, text) }); err != nil {
			return err
		}
	}
	w.more(300)
	return nil
}

// tryRecord records a cluster while a nemesis runs, and demands that what is
// written is what is remembered.
func tryRecord(t *testing.T, cluster *kfake.Cluster, c Config, n nemesis) (Summary, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session := &session{nemesis: n, end: cancel}
	c.Out, c.Nemesis, c.Duration = session, session, time.Hour
	if c.Sides == nil {
		c.Sides = [][]string{cluster.ListenAddrs()}
	}
	s, failure := Record(ctx, c)
	if s.History == nil {
		t.Fatal(failure)
	}
	written, err := histories.Parse("written", session.written.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !histories.Equal(written, s.History) {
		t.Error("what is written is not what is remembered")
	}
	return s, failure
}

// record is tryRecord of a cluster that is to give no reason for an error.
func record(t *testing.T, cluster *kfake.Cluster, c Config, n nemesis) Summary {
	t.Helper()
	s, err := tryRecord(t, cluster, c, n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// judge demands a verdict.
func judge(t *testing.T, h *histories.History, want checker.Verdict) *checker.Result {
	t.Helper()
	r := checker.Check(t.Context(), h, checker.Options{Engine: checker.Both})
	if r.Verdict != want {
		t.Errorf("the verdict is %v, want %v: %v", r.Verdict, want, r.Err())
		for _, f := range r.Findings {
			t.Logf("%s: %s %v", f.Name, f.Says, f.Evidence)
		}
	}
	return r
}

func TestRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{Partitions: 3, ReplicationFactor: 3},
		{Batch: 5, InFlight: 4},
		{Acks: "1"},
		{Isolation: "read_committed", Rate: 100},
		{Partitions: 2, Idempotent: true, InFlight: 3},
		{Partitions: 3, Group: true},
		{TopicConfig: map[string]string{"cleanup.policy": "compact", "min.insync.replicas": "2"}},
		{Reads: "linearizable"}, // one broker answers at a time: nothing is stale
	} {
		s := record(t, newCluster(t, kfake.NumBrokers(3)), c, nil)
		r := judge(t, s.History, checker.Conforms)
		if e := r.Exercised; c.Acks != "1" && e.Acknowledged < 5 || e.Reads < 5 || e.Scans != max(1, int(c.Partitions)) || s.Scanned != e.Scans {
			t.Errorf("%+v: %s; scanned %d", c, e, s.Scanned)
		}
	}
}

func TestRecordNothingKnown(t *testing.T) {
	t.Parallel()
	s := record(t, newCluster(t), Config{Acks: "0"}, nil)
	for _, o := range s.History.Ops() {
		if o.Kind == histories.Send && o.Outcome != histories.Info {
			t.Fatalf("acks=0 is recorded as %s", o.String())
		}
	}
	if r := checker.Check(t.Context(), s.History, checker.Options{}); len(r.Findings) > 0 {
		t.Errorf("%v", r.Err())
	}
}

// slowBrokers take a while for each batch, so that they lag behind those who do
// not wait for answers.
func slowBrokers(cluster *kfake.Cluster) {
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		time.Sleep(time.Millisecond)
		return nil, nil, false
	})
}

// TestScanWaits demands that a scan comes after all that was sent has arrived.
func TestScanWaits(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(1))
	slowBrokers(cluster)
	s := record(t, cluster, Config{Topic: "t", Acks: "0", Producers: 8}, func(w work, _ func(string)) error { w.more(1000); return nil })
	scanned := int64(0)
	for _, o := range s.History.Ops() {
		if o.Kind == histories.Scan {
			scanned = o.End
		}
	}
	pause(t.Context(), 300*time.Millisecond)
	ends, err := kadm.NewClient(client(t, cluster)).ListEndOffsets(t.Context(), "t")
	if end, _ := ends.Lookup("t", 0); err != nil || end.Offset != scanned || scanned == 0 {
		t.Errorf("the scan ended at %d, and the log at %d: %v", scanned, end.Offset, err)
	}
}

// TestNeverStill has somebody else send for ever.
func TestNeverStill(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	other := client(t, cluster, kgo.DefaultProduceTopic("t"))
	ctx, cancel := context.WithCancel(t.Context())
	var sends sync.WaitGroup
	defer sends.Wait()
	defer cancel()
	s := record(t, cluster, Config{Topic: "t", Settle: time.Second}, func(work, func(string)) error {
		sends.Go(func() {
			for ctx.Err() == nil {
				other.ProduceSync(ctx, kgo.StringRecord("foreign"))
				pause(ctx, time.Millisecond)
			}
		})
		return nil
	})
	if s.Scanned != 1 || len(s.Remarks) != 1 || !strings.Contains(s.Remarks[0], "the log was still growing after 1s") {
		t.Errorf("scanned %d; remarks %q", s.Scanned, s.Remarks)
	}
}
