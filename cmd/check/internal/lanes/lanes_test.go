package lanes_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/cmd/check/internal/lanes"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

// TestLanes puts the changes of each run in the corpus together again: at its
// end the states are those of the cluster.
func TestLanes(t *testing.T) {
	files, err := filepath.Glob("../../../../histories/corpus/failing/bug-*.hist")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		h, err := histories.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(h.Header().Expect.Names, "not-live") {
			continue // long, and at its end as it was long before
		}
		got, err := lanes.Of(h)
		if err != nil {
			t.Fatal(err)
		}
		if got.Note != "" {
			t.Errorf("%s: %s", file, got.Note)
			continue
		}
		want := end(t, h)
		for p := range want.Partitions {
			compare(t, file, got.Partitions[p], want.Partitions[p])
		}
	}
}

// end is the state of a cluster once the schedule of a case is performed.
func end(t *testing.T, h *histories.History) impl.View {
	t.Helper()
	s, err := hunt.ReadCause(h)
	if err != nil {
		t.Fatal(err)
	}
	c, err := impl.New(s, impl.Options{NoInvariants: true})
	if err != nil {
		t.Fatal(err)
	}
	for c.Step() {
	}
	return c.View()
}

func compare(t *testing.T, file string, got report.Partition, want impl.PartitionView) {
	t.Helper()
	if last := got.Control[len(got.Control)-1]; last.Leader != want.Leader || last.Epoch != want.LeaderEpoch || len(last.ISR) != len(want.ISR) {
		t.Errorf("%s: the controller ends with %+v, want %+v", file, last, want)
	}
	for b, states := range got.Replicas {
		replica := want.Replicas[b+1]
		var log []int64
		for i, s := range states {
			if i > 0 && s.Time < states[i-1].Time {
				t.Errorf("%s: broker %d goes back in time", file, b+1)
			}
			log = append(log[:s.Keep], s.Values...)
		}
		last := states[len(states)-1]
		if last.LEO != replica.LEO || last.HW != replica.HW || last.Role != replica.Role || int64(len(log)) != replica.LEO {
			t.Errorf("%s: broker %d ends with %+v and log %v, want %+v", file, b+1, last, log, replica)
			continue
		}
		for i, v := range replica.Values {
			if log[i] != v {
				t.Errorf("%s: broker %d has %v, want %v", file, b+1, log, replica.Values)
				break
			}
		}
	}
}

// TestAnotherRun says so if the schedule no longer makes the run that was saved.
func TestAnotherRun(t *testing.T) {
	h, err := histories.Parse("stale.hist", []byte("history 1\nschedule\n0 P1 send 1\nfingerprint 0123456789abcdef\nend\n0-6 P1 send 1 => ok @0\n6-10 S1 scan => ok [0:1] end=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := lanes.Of(h)
	if err != nil || !strings.Contains(c.Note, "0123456789abcdef was saved") {
		t.Errorf("the note is %v, %v", c, err)
	}
	h, err = histories.Parse("other.hist", []byte("history 1\nschedule\n0 P1 send 1\nend\n0-7 P1 send 1 => ok @0\n6-10 S1 scan => ok [0:1] end=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := lanes.Of(h); err != nil || len(c.Partitions) > 0 || !strings.Contains(c.Note, "not drawn") {
		t.Errorf("another log has lanes %v, %v", c, err)
	}
	h, err = histories.Parse("recorded.hist", []byte("history 1\n0-6 P1 send 1 => ok @0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := lanes.Of(h); c != nil || err != nil {
		t.Errorf("a recording has lanes %v, %v", c, err)
	}
}
