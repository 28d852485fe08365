package kafka

import (
	"bytes"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

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

// record records a cluster that is to give no reason for an error, and demands
// that what is written is what is remembered.
func record(t *testing.T, cluster *kfake.Cluster, c Config) Summary {
	t.Helper()
	var out bytes.Buffer
	c.Sides, c.Out = [][]string{cluster.ListenAddrs()}, &out
	s, err := Record(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	written, err := histories.Parse("written", out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !histories.Equal(written, s.History) {
		t.Error("what is written is not what is remembered")
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
		{Reads: "linearizable"}, // one broker answers at a time: nothing is stale
	} {
		c.Duration = 300 * time.Millisecond
		s := record(t, newCluster(t, kfake.NumBrokers(3)), c)
		r := judge(t, s.History, checker.Conforms)
		if e := r.Exercised; c.Acks != "1" && e.Acknowledged < 5 || e.Reads < 5 || e.Scans != max(1, int(c.Partitions)) || s.Scanned != e.Scans {
			t.Errorf("%+v: %s; scanned %d", c, e, s.Scanned)
		}
	}
}

func TestRecordNothingKnown(t *testing.T) {
	t.Parallel()
	s := record(t, newCluster(t), Config{Acks: "0", Duration: 300 * time.Millisecond})
	for _, o := range s.History.Ops() {
		if o.Kind == histories.Send && o.Outcome != histories.Info {
			t.Fatalf("acks=0 is recorded as %s", o.String())
		}
	}
	if r := checker.Check(t.Context(), s.History, checker.Options{}); len(r.Findings) > 0 {
		t.Errorf("%v", r.Err())
	}
}
