package impl

// losePower cuts the part of a log that was not flushed: the last lose records
// of it, or all of it if lose is 0. Recovery finds whole batches or nothing
// (§3.11). It reports whether anything was lost.
func (l *log) losePower(lose int64) bool {
	kept := l.flushed // never below the log start
	if lose > 0 {
		kept = max(kept, l.end()-lose)
	}
	if kept >= l.end() {
		return false
	}
	if base := l.records[kept].base; base < kept {
		kept = max(base, l.start)
	}
	l.truncateTo(kept)
	return true
}

// wipe leaves an empty disk. It reports whether there was anything on it.
func (r *replica) wipe() bool {
	had := r.log.end() > 0
	r.log, r.checkpoint = log{memory: r.log.memory}, 0
	return had
}
