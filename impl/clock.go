package impl

// A clock is how a broker measures time. It shows simulated time unless a fault
// made it run slower or faster for a while, and never goes back. The zero value
// is a good clock.
type clock struct {
	since, until   int64 // simulated time at which it runs at another rate
	shown          int64 // what it showed at since
	slower, faster int64 // factors of the rate
}

// read is what the clock shows.
func (k *clock) read(now int64) int64 {
	if k.until == 0 {
		return now
	}
	return k.shown + (min(now, k.until)-k.since)*k.faster/k.slower + max(0, now-k.until)
}

// wait is how much simulated time passes until the clock has gone on by so many
// milliseconds: at its present rate as long as that lasts.
func (k *clock) wait(now, ms int64) int64 {
	if now >= k.until {
		return ms
	}
	left, waits := k.until-now, max(ms*k.slower/k.faster, min(ms, 1))
	if waits <= left {
		return waits
	}
	return left + max(0, ms-(k.read(k.until)-k.read(now)))
}

// change makes the clock run at another rate for a while.
func (k *clock) change(now, duration, slower, faster int64) {
	*k = clock{since: now, until: now + duration, shown: k.read(now), slower: slower, faster: faster}
}
