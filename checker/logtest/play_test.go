package logtest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories"
)

// A topic has partitions. The broken one puts what is meant for the second into
// the first.
type topic struct {
	memoryLog  // is not asked
	partitions [2]memoryLog
	broken     bool
}

func (t *topic) Partitions() int { return len(t.partitions) }
func (t *topic) Partition(n int) logtest.Log {
	if t.broken {
		n = 0
	}
	return &t.partitions[n]
}

// TestPartitions demands that partitions are logs of their own.
func TestPartitions(t *testing.T) {
	for _, broken := range []bool{false, true} {
		err := logtest.CheckLog(t.Context(), play(func() logtest.Log { return &topic{broken: broken} }), logtest.Options{Deterministic: true, Runs: 10})
		if found := slices.Contains(rulesIn(err), "phantom"); found != broken {
			t.Errorf("broken %v, and found: %v", broken, err)
		}
	}
}

// A burning log tells which faults it had, and whether two struck one node.
type burning struct {
	memoryLog
	faults []string
	at     [3]bool
	twice  bool
}

func (l *burning) Nodes() int { return 2 }

func (l *burning) begin(fault string, node int) error {
	l.twice = l.twice || l.at[node]
	l.at[node] = true
	l.faults = append(l.faults, fault)
	return nil
}

func (l *burning) end(node int) error {
	l.twice = l.twice || !l.at[node]
	l.at[node] = false
	return nil
}

func (l *burning) Crash(node int) error     { return l.begin("crash", node) }
func (l *burning) LosePower(node int) error { return l.begin("power-loss", node) }
func (l *burning) Restart(node int) error   { return l.end(node) }
func (l *burning) Isolate(node int) error   { return l.begin("isolate", node) }
func (l *burning) Reconnect(node int) error { return l.end(node) }
func (l *burning) Pause(node int) error     { return l.begin("pause", node) }
func (l *burning) Resume(node int) error    { return l.end(node) }

// Settle is called when all is well.
func (l *burning) Settle(context.Context) error {
	l.twice = l.twice || l.at[1] || l.at[2]
	return nil
}

// TestFaults demands that every fault strikes, one at a time on each node, that
// all have ended at the end, and that the history tells of each.
func TestFaults(t *testing.T) {
	struck := map[string]int{}
	err := logtest.CheckLog(t.Context(), func(ctx context.Context, run *logtest.Run) error {
		l := &burning{}
		if err := run.Play(ctx, l); err != nil {
			return err
		}
		if l.twice {
			t.Errorf("a node had two faults, or one without end, in\n%v", run.Schedule)
		}
		h, err := run.Recorder.Close()
		if err != nil {
			return err
		}
		begins := slices.DeleteFunc(slices.Clone(h.Marks()), func(m histories.Mark) bool { return m.Text[:3] == "end" })
		if len(begins) != len(l.faults) {
			t.Errorf("faults %v, recorded %v", l.faults, begins)
		}
		for _, f := range l.faults {
			struck[f]++
		}
		return nil
	}, logtest.Options{Deterministic: true, Runs: 20})
	if err != nil {
		t.Error(err)
	}
	for _, f := range []string{"crash", "power-loss", "isolate", "pause"} {
		if struck[f] < 10 {
			t.Errorf("%s struck %d times", f, struck[f])
		}
	}
}
