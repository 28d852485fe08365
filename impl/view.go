package impl

// A View is a copy of a cluster's state. It holds nothing of the cluster.
type View struct {
	Now        int64
	Brokers    []BrokerView // by number; the first is empty
	Partitions []PartitionView
}

// A BrokerView is what the controller knows about a broker, and its process.
type BrokerView struct {
	State  string // of the process: down, starting, catching-up, running, shutting-down
	Paused bool
	Fenced bool
	Epoch  int64
}

// A PartitionView is the controller's state of a partition, and its replicas.
type PartitionView struct {
	Leader         int // 0 if it has none
	LeaderEpoch    int64
	PartitionEpoch int64
	Assignment     []int // the preferred leader first
	ISR            []int
	ELR            []int         // out of the ISR, and eligible all the same
	Replicas       []ReplicaView // by broker; the first is empty
}

// A ReplicaView is what one broker has and believes.
type ReplicaView struct {
	Role        string // none, leader or follower
	Leader      int    // 0 if it knows none
	LeaderEpoch int64
	ISR         []int // on a leader: those it waits for
	Proposing   bool  // on a leader: the controller has not decided on the ISR it asked for
	LEO, HW     int64
	Values      []int64
	Epochs      []int64 // leader epoch of each value
}

// View returns the present state.
func (c *Cluster) View() View {
	v := View{Now: c.now, Brokers: make([]BrokerView, len(c.brokers))}
	for i := 1; i < len(c.brokers); i++ {
		b, known := &c.brokers[i], c.controller.image.brokers[i]
		v.Brokers[i] = BrokerView{b.state.String(), b.pausedUntil > 0, known.fenced, known.epoch}
	}
	for p := range c.ghosts {
		reg := &c.controller.image.partitions[p]
		pv := PartitionView{max(0, int(reg.leader)), reg.leaderEpoch, reg.partitionEpoch, numbersOf(reg.assignment), reg.isr.numbers(), reg.elr.numbers(), make([]ReplicaView, len(c.brokers))}
		for i := 1; i < len(c.brokers); i++ {
			pv.Replicas[i] = c.brokers[i].view(p)
		}
		v.Partitions = append(v.Partitions, pv)
	}
	return v
}

func numbersOf(brokers []node) []int {
	out := make([]int, len(brokers))
	for i, b := range brokers {
		out[i] = int(b)
	}
	return out
}

func (b *broker) view(p int) ReplicaView {
	r := &b.replicas[p]
	v := ReplicaView{Role: r.role.String(), Leader: max(0, int(r.leader)), LeaderEpoch: r.leaderEpoch,
		ISR: b.maximalISR(r).numbers(), Proposing: r.pending.id != 0, LEO: r.log.end(), HW: r.hw}
	for _, rec := range r.log.records {
		v.Values = append(v.Values, rec.value)
		v.Epochs = append(v.Epochs, rec.epoch)
	}
	return v
}
