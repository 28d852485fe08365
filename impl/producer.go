package impl

// A stamp identifies a record of an idempotent producer: its id, its epoch,
// which begins anew whenever it cannot know what became of a batch, and the
// number of the record in that epoch. The zero value is no stamp.
type stamp struct {
	producer node
	epoch    int32
	seq      int32
}

// next is the stamp of the record after n others.
func (s stamp) next(n int) stamp {
	if s.producer != 0 {
		s.seq += int32(n)
	}
	return s
}

// window is how many of a producer's latest batches a log remembers (§1.2).
const window = 5

// admit decides what to do with a stamped batch of n records (§2.1, §3.1): append
// it, which is noError and no offset; answer that it is there already, which is
// noError and its offset; or refuse it. What a log knows of a producer is what
// its records say, so that it is the same on every replica and is cut with it.
func (l *log) admit(s stamp, n int) (errorCode, int64) {
	batches := 0
	for end := l.end(); end > 0; {
		base := l.records[end-1].base
		first := l.records[base].stamp
		last := first.next(int(end-base) - 1)
		end = base
		switch {
		case first.producer != s.producer:
			continue
		case first.epoch > s.epoch:
			return invalidProducerEpoch, none
		case first.epoch < s.epoch:
			return inSequence(s.seq, 0)
		case first == s && last == s.next(n-1):
			return noError, base
		case batches == 0 && last.next(1) == s:
			return noError, none
		}
		if batches++; batches == window {
			break
		}
	}
	if batches > 0 {
		return outOfOrderSequenceNumber, none
	}
	return inSequence(s.seq, 0) // nothing is known of this producer
}

func inSequence(seq, want int32) (errorCode, int64) {
	if seq != want {
		return outOfOrderSequenceNumber, none
	}
	return noError, none
}

// stampNext is the stamp of a producer's next batch on a partition, of n records.
func (c *client) stampNext(p int32, n int) stamp {
	if !c.cfg.idempotent {
		return stamp{}
	}
	c.seqs[p] += int32(n)
	return stamp{producer: c.id, epoch: c.epoch, seq: c.seqs[p] - int32(n)}
}

// isBehind reports whether a batch follows another one that is under way. Until
// that has arrived, the log cannot take it.
func (c *client) isBehind(k *call) bool {
	for i := range c.calls {
		if other := &c.calls[i]; other == k {
			break
		} else if other.request.partition == k.request.partition {
			return true
		}
	}
	return false
}

// renumber begins a new epoch after a batch that was given up: nobody may know
// what became of it, so that its numbers must never be used again, nor the next
// ones (KIP-360). The batches behind it, which have those, end with it.
func (c *client) renumber(from int) {
	c.epoch++
	clear(c.seqs)
	if from < len(c.calls) {
		c.abandon(&c.calls[from], outOfOrderSequenceNumber)
	}
}
