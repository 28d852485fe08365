package kafka

import (
	"bytes"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/isrcheck/isrcheck/checker"
)

func TestRecord(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var out bytes.Buffer
	s, err := Record(t.Context(), Config{Sides: [][]string{cluster.ListenAddrs()}, Partitions: 3, ReplicationFactor: 3, Duration: time.Second, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	r := checker.Check(t.Context(), s.History, checker.Options{})
	t.Logf("%d operations, %d bytes, %v, %s", len(s.History.Ops()), out.Len(), r.Err(), r.Exercised)
	if r.Verdict != checker.Conforms {
		t.Errorf("the verdict is %v: %v", r.Verdict, r.Err())
	}
}
