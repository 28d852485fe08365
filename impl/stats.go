package impl

// Stats count what happened in a run.
type Stats struct {
	Events            int64
	Ticks             int64 // simulated milliseconds
	Elections         int64 // of a leader
	UncleanElections  int64
	Truncations       int64
	RecordsTruncated  int64
	IsrShrinks        int64
	IsrExpansions     int64
	Duplicates        int64   // batches of idempotent producers that were there already
	NotEnoughReplicas int64   // sends refused for too small an ISR
	Eligible          int64   // replicas that left an ISR and stayed eligible (KIP-966)
	FollowerReads     int64   // answered by a broker that does not lead (KIP-392)
	BarrierReads      int64   // answered after the read barrier
	Flushes           int64   // of a log, for the number of its records
	Faults            []int64 // applied, by place in the table
	Moments           []int64 // at which faults that had waited for them were applied, by place in the table
	Roles             []int64 // by which applied faults named brokers, by place in the table
	Live              bool    // the cluster converged after the last fault
}

// Add adds what happened in another run.
func (s *Stats) Add(o Stats) {
	s.Events += o.Events
	s.Ticks += o.Ticks
	s.Elections += o.Elections
	s.UncleanElections += o.UncleanElections
	s.Truncations += o.Truncations
	s.RecordsTruncated += o.RecordsTruncated
	s.IsrShrinks += o.IsrShrinks
	s.IsrExpansions += o.IsrExpansions
	s.Duplicates += o.Duplicates
	s.NotEnoughReplicas += o.NotEnoughReplicas
	s.Eligible += o.Eligible
	s.FollowerReads += o.FollowerReads
	s.BarrierReads += o.BarrierReads
	s.Flushes += o.Flushes
	s.Faults = addEach(s.Faults, o.Faults)
	s.Moments = addEach(s.Moments, o.Moments)
	s.Roles = addEach(s.Roles, o.Roles)
}

// addEach adds counts to others, which may not have begun.
func addEach(to, counts []int64) []int64 {
	if to == nil {
		to = make([]int64, len(counts))
	}
	for i, n := range counts {
		to[i] += n
	}
	return to
}
