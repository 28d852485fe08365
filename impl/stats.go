package impl

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
