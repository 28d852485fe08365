package checker

import "github.com/isrcheck/isrcheck/histories"

// Most operations of a large history are plain, and nothing about them is new: their
// partition and process are known, the slots they speak of are made, and what they
// say agrees. What op does with such a one comes down to a few comparisons, and they
// stand here in a row. Of any other, and of any surprise, nothing is taken note of
// here: op takes it.

// all takes note of operations that come in order of their calls.
func (q *quick) all(ops []histories.Op) {
	for i := range ops {
		if o := &ops[i]; !q.plain(o) {
			q.op(o, o.ProcessNumber())
			if q.gaveUp {
				return
			}
			q.met(o)
		}
	}
}

// met takes note that the operation's partition is known.
func (q *quick) met(o *histories.Op) {
	for len(q.numbered) <= o.PartitionNumber() {
		q.numbered = append(q.numbered, nil)
	}
	q.numbered[o.PartitionNumber()] = q.log(o.On)
}

// plain takes note of an operation if it is plain, and reports whether it is.
func (q *quick) plain(o *histories.Op) bool {
	if !o.Plain() || o.Start != histories.None || o.PartitionNumber() >= len(q.numbered) || !q.stake.acknowledged || q.compacted {
		return false
	}
	l := q.numbered[o.PartitionNumber()]
	switch o.Kind {
	case histories.Send:
		return q.plainSend(l, o)
	case histories.List:
		return q.plainList(l, o)
	}
	return q.plainFetch(l, o)
}

// plainSend is send for one integer at an offset where no other send is.
func (q *quick) plainSend(l *quickLog, o *histories.Op) bool {
	p, i := l.slots.made(o.Offset)
	if p == nil || p.values != nil || len(o.Values) != 1 || !q.acksAll {
		return false
	}
	n, ok := o.Values[0].Integer()
	if !ok || p.sent.has(i) || p.held.has(i) && p.integer[i] != n || q.ordered && !l.clients.known(o.ProcessNumber()).follows(o) {
		return false
	}
	p.held.add(i)
	p.sent.add(i)
	p.integer[i] = n
	p.index[i] = int32(o.Index)
	p.call[i] = max(p.call[i], o.Call)
	p.deadline[i] = min(p.deadline[i], o.Return)
	l.values++
	l.called = min(l.called, o.Call)
	l.limit = max(l.limit, o.Offset+1)
	q.exercised.Operations++
	q.exercised.Sends++
	q.exercised.Values++
	q.exercised.Acknowledged++
	return true
}

// follows takes note of a producer's send that is in order, and reports whether it is.
func (c *consumer) follows(o *histories.Op) bool {
	if c == nil || len(c.sends) != 1 || c.sends[0].index >= o.Index || c.sends[0].offset > o.Offset {
		return false
	}
	c.sends[0] = sentTo{o.Index, o.Offset}
	return true
}

// plainList is list for an end that did not go back.
func (q *quick) plainList(l *quickLog, o *histories.Op) bool {
	c := l.clients.known(o.ProcessNumber())
	if c == nil || o.Offset < c.told || q.other && !q.exact || !q.plainEnd(l, o, o.Offset) {
		return false
	}
	c.told, c.toldBy = o.Offset, o.Index
	q.exercised.Operations++
	q.exercised.Reads++
	return true
}

// plainEnd is end for one in the middle of a piece.
func (q *quick) plainEnd(l *quickLog, o *histories.Op, end int64) bool {
	p, i := l.slots.made(end)
	if p == nil || i == 0 {
		return false
	}
	l.limit = max(l.limit, end)
	p.deadline[i-1] = min(p.deadline[i-1], o.Return)
	if q.exact {
		p.call[i] = max(p.call[i], o.Call)
		p.boundary.add(i)
	}
	return true
}

// plainFetch is read for records that are at every offset from the one that was asked
// for. That there is an end behind them says that they were there.
func (q *quick) plainFetch(l *quickLog, o *histories.Op) bool {
	rest := o.Records
	if len(rest) == 0 || o.LSO != histories.None || o.To != histories.None {
		return false
	}
	first, last := rest[0].Offset, rest[len(rest)-1].Offset
	if last-first != int64(len(rest)-1) || o.From < first || o.HW <= last {
		return false
	}
	for len(rest) > 0 {
		p, i := l.slots.made(rest[0].Offset)
		n := min(len(rest), pieceSize-i)
		if p == nil || !p.hold(i, rest[:n]) {
			return false
		}
		rest = rest[n:]
	}
	if !q.plainEnd(l, o, o.HW) {
		return false
	}
	q.exercised.Operations++
	q.exercised.Reads++
	q.exercised.Records += len(o.Records)
	return true
}
