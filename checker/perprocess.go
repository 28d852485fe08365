package checker

// perProcess holds something for each process that was in one partition, by the
// process's number. Histories have few processes, as a rule; where they have
// many, most are in few partitions.
type perProcess[T any] struct {
	few  []T
	many map[int]*T
}

// fewProcesses is up to which number processes have a place in every partition.
const fewProcesses = 64

// at returns what is held for a process, at first the zero value. It is good
// until another process is asked for.
func (p *perProcess[T]) at(process int) *T {
	if process < fewProcesses {
		for len(p.few) <= process {
			var zero T
			p.few = append(p.few, zero)
		}
		return &p.few[process]
	}
	if p.many == nil {
		p.many = map[int]*T{}
	}
	if p.many[process] == nil {
		p.many[process] = new(T)
	}
	return p.many[process]
}

// known is at for a process that has its place, else nil.
func (p *perProcess[T]) known(process int) *T {
	if process < len(p.few) {
		return &p.few[process]
	}
	return nil
}
