package modeltest

import "github.com/isrcheck/isrcheck/histories"

// Load says what kind of large history [Large] makes.
type Load struct {
	Ops     int
	Clients int
	Unknown int // sends of unknown outcome, per thousand sends
	Batch   int // at most so many records a send; 0 is one
	Seed    uint64
}

// Large makes a legal history with linearizable reads for benchmarks: appends
// 40 %, reads of up to 10 records with the exact end 40 %, end queries 20 %. All
// clients are busy all the time, so as many operations overlap as there are
// clients. Half of the sends of unknown outcome took effect.
func Large(load Load) []histories.Op {
	m := &maker{load: load, state: load.Seed*2 + 1}
	ops := make([]histories.Op, load.Clients, load.Ops)
	for c := range ops { // the operation that client c is waiting for
		ops[c] = m.begin(clientName(c), 0)
	}
	for now := int64(1); len(ops) < cap(ops); now += 2 {
		c := m.below(load.Clients)
		ops[c].Return = now
		ops = append(ops, ops[c])
		ops[c] = m.begin(ops[c].Process, now+1)
	}
	for c := range load.Clients {
		ops[c].Return = int64(2 * load.Ops)
	}
	return ops
}

type maker struct {
	load  Load
	state uint64
	value int64
	log   []histories.Value
}

// below returns a number below n (xorshift: the same on every machine).
func (m *maker) below(n int) int {
	m.state ^= m.state << 13
	m.state ^= m.state >> 7
	m.state ^= m.state << 17
	return int(m.state % uint64(n))
}

// begin makes an operation that takes effect at once and returns later.
func (m *maker) begin(process string, now int64) histories.Op {
	switch pick := m.below(10); {
	case pick < 4:
		return m.send(process, now)
	case pick < 8:
		op := histories.NewOp(process, histories.Fetch)
		op.Call, op.Outcome, op.HW = now, histories.OK, int64(len(m.log))
		op.From = max(0, op.HW-int64(m.below(20)))
		for o := op.From; o < op.HW && len(op.Records) < 10; o++ {
			op.Records = append(op.Records, histories.Record{Offset: o, Value: m.log[o]})
		}
		return op
	}
	op := histories.NewOp(process, histories.List)
	op.Call, op.Outcome, op.At, op.Offset = now, histories.OK, "latest", int64(len(m.log))
	return op
}

func (m *maker) send(process string, now int64) histories.Op {
	op := histories.NewOp(process, histories.Send)
	op.Call, op.Outcome = now, histories.OK
	size := 1
	if m.load.Batch > 1 {
		size += m.below(m.load.Batch)
	}
	for range size {
		m.value++
		op.Values = append(op.Values, histories.Int(m.value))
	}
	unknown := m.below(1000) < m.load.Unknown
	if unknown {
		op.Outcome = histories.Info
	}
	if unknown && m.below(2) == 0 {
		return op
	}
	if !unknown {
		op.Offset = int64(len(m.log))
	}
	m.log = append(m.log, op.Values...)
	return op
}

func clientName(c int) string {
	return "P" + histories.Int(int64(c+1)).String()
}
