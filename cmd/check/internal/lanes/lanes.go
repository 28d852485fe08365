// Package lanes runs the schedule of a case again and notes what each broker
// was and had, for a report to draw.
package lanes

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

// Bounds of what is noted of a run, so that a page stays small and soon drawn.
const (
	maxEvents = 30_000
	maxStates = 6000       // of replicas
	maxLooked = 20_000_000 // records, in all logs and after each event
)

// Of returns what went on inside the cluster while the history was made; nil if
// the history has no schedule, or one that is for another log, and nothing but a
// note if the schedule makes another history. The error is about the schedule.
func Of(h *histories.History) (*report.Cluster, error) {
	if hd := h.Header(); hd.Schedule == "" || checker.OfLogtest(hd) {
		return nil, nil
	}
	s, err := hunt.ReadCause(h)
	if err != nil {
		return nil, err
	}
	want := s.Fingerprint
	s.Fingerprint = ""
	run, err := impl.Run(s, impl.Options{NoInvariants: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name(), err)
	}
	if !slices.EqualFunc(h.Ops(), run.History.Ops(), func(a, b histories.Op) bool { return a.String() == b.String() }) {
		return &report.Cluster{Note: "What each broker had is not drawn: on the reference cluster, the schedule of this history makes another one."}, nil
	}
	c, err := impl.New(s, impl.Options{NoInvariants: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name(), err)
	}
	n := &notes{}
	n.look(c.View())
	for events := 1; c.Step(); events++ {
		v := c.View()
		if n.look(v); n.states > maxStates || n.looked > maxLooked || events == maxEvents {
			n.cluster.Note = fmt.Sprintf("The run is too long to be drawn whole: the replicas are shown up to time %d.", v.Now)
			return &n.cluster, nil
		}
	}
	n.look(c.View())
	if want != "" && want != run.Fingerprint {
		n.cluster.Note = fmt.Sprintf("Clients see the same, and the run is another one: the replicas are of run %s, and %s was saved.", run.Fingerprint, want)
	}
	return &n.cluster, nil
}

// notes are what has been seen of a run.
type notes struct {
	cluster report.Cluster
	logs    [][][]int64 // by partition and broker: values and epochs by turns
	states  int
	looked  int
}

// look notes what has changed.
func (n *notes) look(v impl.View) {
	for p := range v.Partitions {
		if p == len(n.cluster.Partitions) {
			brokers := len(v.Brokers) - 1
			n.cluster.Partitions = append(n.cluster.Partitions, report.Partition{Name: name(p), Replicas: make([][]report.Replica, brokers)})
			n.logs = append(n.logs, make([][]int64, brokers))
		}
		n.control(v.Now, &n.cluster.Partitions[p], &v.Partitions[p])
		for b := 1; b < len(v.Brokers); b++ {
			n.replica(v.Now, p, b, v.Brokers[b], &v.Partitions[p].Replicas[b])
		}
	}
}

// name is what histories call a partition of the reference cluster.
func name(p int) string { return fmt.Sprintf("t/%d", p) }

func (n *notes) control(now int64, to *report.Partition, v *impl.PartitionView) {
	c := report.Control{Time: now, Leader: v.Leader, Epoch: v.LeaderEpoch, ISR: v.ISR, ELR: v.ELR}
	if i := len(to.Control) - 1; i >= 0 {
		last := to.Control[i]
		if last.Leader == c.Leader && last.Epoch == c.Epoch && slices.Equal(last.ISR, c.ISR) && slices.Equal(last.ELR, c.ELR) {
			return
		}
	}
	to.Control = append(to.Control, c)
	n.states++
}

func (n *notes) replica(now int64, p, b int, broker impl.BrokerView, v *impl.ReplicaView) {
	n.looked += len(v.Values) + 1
	r := report.Replica{Time: now, State: broker.State, Fenced: broker.Fenced, Role: v.Role, Epoch: v.LeaderEpoch, LEO: v.LEO, HW: v.HW}
	if broker.Paused {
		r.State = "paused"
	}
	states, log := &n.cluster.Partitions[p].Replicas[b-1], &n.logs[p][b-1]
	r.Keep = kept(*log, v)
	r.Values, r.Epochs = v.Values[r.Keep:], v.Epochs[r.Keep:]
	if len(*states) > 0 && r.Keep == len(*log)/2 && len(r.Values) == 0 && same((*states)[len(*states)-1], r) {
		return
	}
	*log = (*log)[:2*r.Keep]
	for i := range r.Values {
		*log = append(*log, r.Values[i], r.Epochs[i])
	}
	*states = append(*states, r)
	n.states++
}

// kept is how many records a log still begins with.
func kept(log []int64, v *impl.ReplicaView) int {
	n := 0
	for n < len(v.Values) && 2*n < len(log) && log[2*n] == v.Values[n] && log[2*n+1] == v.Epochs[n] {
		n++
	}
	return n
}

// same reports whether two states differ in nothing but time and log.
func same(a, b report.Replica) bool {
	return a.State == b.State && a.Fenced == b.Fenced && a.Role == b.Role && a.Epoch == b.Epoch && a.LEO == b.LEO && a.HW == b.HW
}
