package impl

// none stands for an epoch, an offset or a broker epoch that is not known.
const none int64 = -1

// An epochStart says at which offset a leader epoch began.
type epochStart struct{ epoch, start int64 }

// An epochCache tells which leader epoch wrote which part of a log: entries
// strictly increasing in both fields (§1.2, KIP-101).
type epochCache []epochStart

// assign notes that an epoch begins at an offset. It is a no-op if the last
// entry says so already; entries that contradict the new one are dropped.
func (c epochCache) assign(epoch, start int64) epochCache {
	if n := len(c); n > 0 && c[n-1].epoch == epoch && c[n-1].start <= start {
		return c
	}
	for n := len(c); n > 0 && (c[n-1].epoch >= epoch || c[n-1].start >= start); n = len(c) {
		c = c[:n-1]
	}
	return append(c, epochStart{epoch, start})
}

// truncateFromEnd drops the entries that begin at or behind an offset.
func (c epochCache) truncateFromEnd(offset int64) epochCache {
	for n := len(c); n > 0 && c[n-1].start >= offset; n = len(c) {
		c = c[:n-1]
	}
	return c
}

// truncateFromStart makes the entries at or below an offset one, which begins
// there.
func (c epochCache) truncateFromStart(offset int64) epochCache {
	n := 0
	for n < len(c) && c[n].start <= offset {
		n++
	}
	if n == 0 {
		return c
	}
	return append(epochCache{{c[n-1].epoch, offset}}, c[n:]...)
}

// last is the latest epoch, or none.
func (c epochCache) last() int64 {
	if len(c) == 0 {
		return none
	}
	return c[len(c)-1].epoch
}

// endOffsetFor answers where an epoch ended in a log of that end: the largest
// epoch not above the one asked for that the log knows, and the offset at
// which the next one begins. Both are none if nothing can be said (§1.2).
func (c epochCache) endOffsetFor(epoch, logEnd int64) (int64, int64) {
	if epoch == none {
		return none, none
	}
	if epoch == c.last() {
		return epoch, logEnd
	}
	floor := epoch
	for _, e := range c {
		if e.epoch > epoch {
			return floor, e.start
		}
		floor = e.epoch
	}
	return none, none
}

// divergence compares a log of that end with another one, of which it is said
// which epoch is the largest not above the last one here, and where it ended there.
// It returns where to cut, and whether the epochs then agree (§3.8.3, KIP-279).
func (c epochCache) divergence(epoch, end, logEnd int64) (agreed bool, cut int64) {
	ownEpoch, ownEnd := c.endOffsetFor(epoch, logEnd)
	switch {
	case ownEnd == none:
		return true, min(end, logEnd)
	case ownEpoch != epoch:
		return false, min(ownEnd, logEnd)
	}
	return true, min(end, ownEnd, logEnd)
}
