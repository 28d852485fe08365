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
// clients; each takes effect at some instant in between, so that the order of the
// calls does not tell that of the effects. Half of the sends of unknown outcome
// took effect.
func Large(load Load) []histories.Op {
	ops, _ := LargeLog(load)
	return ops
}

// LargeLog is Large with the log as it is in the end.
func LargeLog(load Load) ([]histories.Op, []histories.Value) {
	m := &maker{load: load, state: load.Seed*2 + 1}
	ops := make([]histories.Op, load.Clients, load.Ops)
	done := make([]bool, load.Clients)
	for c := range ops { // the operation that client c is waiting for
		ops[c] = m.begin(clientName(c), 0)
	}
	for now := int64(1); len(ops) < cap(ops); {
		c := m.below(load.Clients)
		if !done[c] {
			m.effect(&ops[c])
			done[c] = true
			continue
		}
		ops[c].Return = now
		ops = append(ops, ops[c])
		ops[c], done[c] = m.begin(ops[c].Process, now+1), false
		now += 2
	}
	for c := range load.Clients {
		if !done[c] {
			m.effect(&ops[c])
		}
		ops[c].Return = int64(2 * load.Ops)
	}
	return ops, m.log
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

// begin makes an operation that has not taken effect yet.
func (m *maker) begin(process string, now int64) histories.Op {
	kind := histories.List
	switch pick := m.below(10); {
	case pick < 4:
		kind = histories.Send
	case pick < 8:
		kind = histories.Fetch
	}
	op := histories.NewOp(process, kind)
	op.Call, op.Outcome = now, histories.OK
	switch kind {
	case histories.Send:
		m.send(&op)
	case histories.Fetch:
		op.From = max(0, int64(len(m.log)-m.below(20)))
	default:
		op.At = "latest"
	}
	return op
}

func (m *maker) send(op *histories.Op) {
	size := 1
	if m.load.Batch > 1 {
		size += m.below(m.load.Batch)
	}
	for range size {
		m.value++
		op.Values = append(op.Values, histories.Int(m.value))
	}
	if m.below(1000) < m.load.Unknown {
		op.Outcome = histories.Info
	}
}

// effect lets an operation happen, with what it answers later.
func (m *maker) effect(op *histories.Op) {
	end := int64(len(m.log))
	switch op.Kind {
	case histories.Send:
		if op.Outcome == histories.Info && m.below(2) == 0 {
			return
		}
		if op.Outcome == histories.OK {
			op.Offset = end
		}
		m.log = append(m.log, op.Values...)
	case histories.Fetch:
		op.HW = end
		for o := op.From; o < end && len(op.Records) < 10; o++ {
			op.Records = append(op.Records, histories.Record{Offset: o, Value: m.log[o]})
		}
	default:
		op.Offset = end
	}
}

func clientName(c int) string {
	return "P" + histories.Int(int64(c+1)).String()
}
