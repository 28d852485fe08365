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
	if s.Faults == nil {
		s.Faults = make([]int64, len(Faults))
	}
	for i, n := range o.Faults {
		s.Faults[i] += n
	}
}
