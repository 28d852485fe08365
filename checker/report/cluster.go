package report

// A Cluster is what went on inside a replicated log while its clients saw the
// history: for each partition what its controller decided and what each replica
// had. Times are those of the history.
type Cluster struct {
	Partitions []Partition
	Note       string // what is missing or doubtful, as a sentence; "" if nothing is
}

// A Partition has the states of one partition, each list in order of time. A
// state lasts until the next one.
type Partition struct {
	Name     string      `json:"name"`
	Control  []Control   `json:"control"`
	Replicas [][]Replica `json:"replicas"` // broker 1 first
}

// Control is what the controller has decided on a partition.
type Control struct {
	Time   int64 `json:"t"`
	Leader int   `json:"leader"` // 0 for none
	Epoch  int64 `json:"epoch"`
	ISR    []int `json:"isr"`
	ELR    []int `json:"elr,omitempty"`
}

// A Replica is the state of one replica and of its broker. The log is told as
// what changed: so many of its first records stayed, and these came behind them.
type Replica struct {
	Time   int64   `json:"t"`
	State  string  `json:"state"` // of the broker's process: running, paused, down, ...
	Fenced bool    `json:"fenced,omitempty"`
	Role   string  `json:"role"` // leader, follower or none
	Epoch  int64   `json:"epoch"`
	LEO    int64   `json:"leo"`
	HW     int64   `json:"hw"`
	Keep   int     `json:"keep"`
	Values []int64 `json:"values,omitempty"`
	Epochs []int64 `json:"epochs,omitempty"` // of the values
}
