package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl/kafka"
	"github.com/isrcheck/isrcheck/impl/kafka/nemesis"
	"github.com/isrcheck/isrcheck/impl/kafka/testcluster"
)

// TestRecordings records Apache Kafka and judges what it did. It takes minutes,
// and so runs where ISRCHECK_KAFKA is set; there, a machine without Java or Maven
// is a failure. With -artifacts, go test keeps the recordings.
func TestRecordings(t *testing.T) {
	if os.Getenv("ISRCHECK_KAFKA") == "" {
		t.Skip("Apache Kafka is recorded where ISRCHECK_KAFKA is set")
	}
	k, err := testcluster.Start(t.Context(), testcluster.Config{Dir: t.TempDir(), Say: func(text string) { t.Log(text) }})
	must(t, err)
	t.Cleanup(func() { must(t, k.Close()) })
	for _, recording := range []struct {
		name string
		test func(*testing.T, *testcluster.Cluster)
	}{
		{"calm", calm},
		{"pauses and kills", pausesAndKills},
		{"acks=1", acksOne},
		{"unclean election", uncleanElection},
		{"isolated leader", isolatedLeader},
	} {
		t.Run(recording.name, func(t *testing.T) { recording.test(t, k) })
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		must(t, k.Heal())
		must(t, k.Ready(ctx))
		must(t, k.InSync(ctx))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// recordKafka records with the clients on side A, unless the sides are stated. The
// work is over when the stage is. It counts the operations that began.
func recordKafka(t *testing.T, k *testcluster.Cluster, c kafka.Config, began *atomic.Int64) (*histories.History, kafka.Summary) {
	t.Helper()
	if c.Sides == nil {
		c.Sides = [][]string{k.Bootstrap("A")}
	}
	path := filepath.Join(t.ArtifactDir(), "recording.jsonl")
	file, err := os.Create(path)
	must(t, err)
	c.Out = counting{file, began}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if play, ok := c.Nemesis.(stage); ok {
		c.Nemesis = last{play, cancel}
	}
	summary, err := kafka.Record(ctx, c)
	must(t, errors.Join(err, file.Close()))
	t.Logf("recorded in %.1f s, %d elections", summary.Took.Seconds(), summary.Elections)
	for _, remark := range summary.Remarks {
		t.Log(remark)
	}
	return summary.History, summary
}

// last is a stage that ends the work.
type last struct {
	stage
	end func()
}

func (l last) Run(ctx context.Context, mark func(histories.MarkKind, string)) error {
	defer l.end()
	return l.stage.Run(ctx, mark)
}

// counting counts the operations that are written.
type counting struct {
	io.Writer
	began *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.began.Add(int64(bytes.Count(p, []byte(`"type":"invoke"`))))
	return c.Writer.Write(p)
}

// judge logs a verdict with its figures, and fails if it is another one.
func judge(t *testing.T, h *histories.History, want checker.Verdict) *checker.Result {
	t.Helper()
	start := time.Now()
	r := checker.Check(t.Context(), h, checker.Options{})
	t.Logf("%s: %d operations, %d sends, %d of them acknowledged, %d reads, %d faults; judged in %.2f s", r.Verdict, r.Exercised.Operations,
		r.Exercised.Sends, r.Exercised.Acknowledged, r.Exercised.Reads, r.Exercised.Faults, time.Since(start).Seconds())
	found := map[string]int{}
	for _, f := range r.Findings {
		if found[f.Name]++; found[f.Name] == 1 {
			t.Logf("%s (allowed by %q): %s", f.Name, f.Allowed, f.Says)
		}
	}
	t.Logf("findings: %v", found)
	if r.Verdict != want {
		t.Errorf("the verdict is %s, want %s (%s)", r.Verdict, want, r.Reason)
	}
	return r
}

// calm has no faults. It lasts a minute, or longer where the machine is too busy
// for as many operations.
func calm(t *testing.T, k *testcluster.Cluster) {
	const operations = 100_000
	var done atomic.Int64
	h, s := recordKafka(t, k, kafka.Config{Partitions: 2, Producers: 4, InFlight: 16, Consumers: 10, Duration: 10 * time.Minute, Nemesis: stage(func(s *scene) {
		s.rest(54 * time.Second)
		for done.Load() < operations {
			s.rest(time.Second)
		}
	})}, &done)
	judge(t, h, checker.Conforms)
	if n := len(h.Ops()); n < operations {
		t.Errorf("%d operations in %v, want %d", n, s.Took, operations)
	}
}

// faults are some of processes, each long enough for an election.
func faults(k *testcluster.Cluster, names ...string) kafka.Nemesis {
	return &nemesis.Nemesis{Faults: names, Interval: 15 * time.Second, Seed: 1, Whole: k.InSync, Targets: nemesis.Targets{Brokers: k.Brokers}}
}

// pausesAndKills demands that acks=all with min.insync.replicas=2 keeps every
// record while one broker after the other falls silent or dies.
func pausesAndKills(t *testing.T, k *testcluster.Cluster) {
	h, s := recordKafka(t, k, kafka.Config{Partitions: 3, Duration: time.Minute, Nemesis: faults(k, "pause", "kill")}, new(atomic.Int64))
	judge(t, h, checker.Conforms)
	if s.Elections == 0 {
		t.Error("there was no election")
	}
}

// acksOne demands that losses of records that only a leader had are found to be
// what acks=1 allows.
func acksOne(t *testing.T, k *testcluster.Cluster) {
	h, s := recordKafka(t, k, kafka.Config{Partitions: 3, Acks: "1", InFlight: 4, Duration: time.Minute, Nemesis: faults(k, "kill")}, new(atomic.Int64))
	judge(t, h, checker.Conforms)
	if s.Elections == 0 {
		t.Error("there was no election")
	}
}

// uncleanElection lets a leader acknowledge records that nobody else has, and
// die: whoever is elected then cannot have them.
func uncleanElection(t *testing.T, k *testcluster.Cluster) {
	const topic = "unclean"
	h, _ := recordKafka(t, k, kafka.Config{Topic: topic, Producers: 1, Consumers: 1, Rate: 10, Duration: 2 * time.Minute, Timeout: 2 * time.Second,
		TopicConfig: map[string]string{"min.insync.replicas": "1", "unclean.leader.election.enable": "true"},
		Nemesis: stage(func(s *scene) {
			leader, epoch, _ := s.partition(k, 1, topic)
			followers := slices.Concat(k.Brokers[:leader-1], k.Brokers[leader:])
			for _, f := range followers {
				s.do("pause "+f.Name, f.Pause)
			}
			s.until("the leader is alone", func() bool { _, _, isr := s.partition(k, leader, topic); return isr == 1 })
			begun := s.end(k, leader, topic)
			s.until("the leader alone has ten records more", func() bool { return s.end(k, leader, topic) >= begun+10 })
			s.do("kill "+k.Brokers[leader-1].Name+", the leader", func() error { return k.Brokers[leader-1].Kill(s.ctx) })
			for _, f := range followers {
				s.do("resume "+f.Name, f.Resume)
			}
			s.until("another broker leads", func() bool { l, e, _ := s.partition(k, leader%3+1, topic); return l > 0 && e > epoch })
			s.rest(2 * time.Second)
			s.do("start "+k.Brokers[leader-1].Name, k.Brokers[leader-1].Start)
		})}, new(atomic.Int64))
	if !named(judge(t, h, checker.Conforms), "lost-write") {
		t.Error("the allowed losses are not listed")
	}
	r := judge(t, as(t, h, "unclean.leader.election.enable", "false"), checker.Violates)
	if !named(r, "lost-write") || len(r.Lost) == 0 {
		t.Error("the lost records are not named")
	}
}

// isolatedLeader cuts a leader off from all but the clients of side A. It goes
// on to serve them, while the others elect another one for side B.
func isolatedLeader(t *testing.T, k *testcluster.Cluster) {
	const topic = "isolated"
	leader := create(t, k, topic)
	end := fmt.Sprint(leader)
	h, s := recordKafka(t, k, kafka.Config{Topic: topic, Existing: true,
		Sides:     [][]string{{k.Bootstrap("A")[leader-1]}, slices.Delete(slices.Clone(k.Bootstrap("B")), leader-1, leader)},
		Producers: 2, Consumers: 2, Rate: 10, Duration: 2 * time.Minute, Timeout: 2 * time.Second,
		Nemesis: stage(func(s *scene) {
			_, epoch, _ := s.partition(k, leader, topic)
			for _, peer := range k.Network.Peers(end) {
				if peer != "A" {
					s.do(fmt.Sprintf("cut the leader, %s, from %s", end, peer), func() error {
						return errors.Join(k.Network.Cut(end, peer), k.Network.Cut(peer, end))
					})
				}
			}
			s.until("another broker leads", func() bool { l, e, _ := s.partition(k, leader%3+1, topic); return l != leader && l > 0 && e > epoch })
			s.rest(3 * time.Second)
			s.do("heal the network", func() error { k.Network.Heal(); return nil })
		})}, new(atomic.Int64))
	if s.Elections == 0 {
		t.Error("there was no election")
	}
	judge(t, h, checker.Conforms)
	if !named(judge(t, as(t, h, "reads", "linearizable"), checker.Violates), "stale-read") {
		t.Error("the stale read is not named")
	}
}

// as is a history whose header states something else.
func as(t *testing.T, h *histories.History, key, value string) *histories.History {
	t.Helper()
	header := h.Header()
	header.Config = header.Config.With(key, value)
	h, err := h.WithHeader(header)
	must(t, err)
	return h
}

func named(r *checker.Result, name string) bool {
	return slices.ContainsFunc(r.Findings, func(f checker.Finding) bool { return f.Name == name })
}
