package impl

import (
	"cmp"
	"fmt"
	"slices"
)

// A ghost remembers about one partition what no node knows: everything that
// was ever committed, acknowledged or read (§4, ghost variables). Invariants
// about events are witnessed here as the events happen.
type ghost struct {
	committed []record // ever below a leader's high watermark
	acked     []ackedBatch
	read      []reading // by offset: what consumers were given
	appender  []node    // by leader epoch: who appended in it
	writes    []write
	latest    []int64      // by leader epoch: the largest end told to a client
	lossy     brokerSet    // lost records with their disk and have not got them back
	lost      []loss       // by broker, of those: the first that it lost
	stricken  brokerSet    // of those, the ones the controller may take for whole: not registered since, or frozen in the ISR when they did
	unclean   brokerSet    // had an unclean shutdown while eligible, or were taken out, since the ISR was last large enough
	unsafe    string       // why losses are permitted now, "" while they are not
	said      bool         // clients were told so, in a note
	left      string       // why they were first, "" if they never were
	current   registration // the controller's state, and the one before it
	previous  registration
	witnessed [invariantCount]string // how each was seen to break, "" if it was not
}

// A reading is the value consumers were given at an offset, if they were.
type reading struct {
	value int64
	known bool
}

// An ackedBatch is a successful acks=all send.
type ackedBatch struct {
	base   int64
	values []int64
}

// A write is an append by a leader, kept to see that an offset and an epoch
// determine a value for ever.
type write struct{ offset, epoch, value int64 }

// trueHW is the largest high watermark any leader had.
func (g *ghost) trueHW() int64 { return int64(len(g.committed)) }

func (g *ghost) committedDigest() uint64 {
	if len(g.committed) == 0 {
		return 0
	}
	return g.committed[len(g.committed)-1].digest
}

// complete reports whether a log has everything that was committed.
func (g *ghost) complete(l *log) bool { return l.contains(g.trueHW(), g.committedDigest()) }

// witness notes that an invariant was seen broken.
func (g *ghost) witness(e *env, inv invariant, format string, args ...any) {
	if g.witnessed[inv] == "" {
		g.witnessed[inv] = fmt.Sprintf(format, args...)
		e.dirty = allChanged
	}
}

// onUncleanElection ends the safe configuration if the settings allow it.
func (g *ghost) onUncleanElection(allowed bool) {
	if allowed {
		g.permit("unclean election, §3.10", "an unclean election")
	}
}

// onDistrust follows the controller's account of unclean shutdowns.
func (g *ghost) onDistrust(b node, clean bool) {
	if !clean {
		g.unclean = g.unclean.with(b)
	}
}

// onBalancedRecovery ends the safe configuration if the last leader, which is
// chosen for want of an eligible replica, lost records. For that as many
// replicas as the high watermark waits for must have had an unclean shutdown.
func (g *ghost) onBalancedRecovery(leader node, minIsr int) {
	if g.lossy.has(leader) && g.unclean.size() >= minIsr {
		g.permit("balanced recovery, §3.10", "broker %d, the last known leader, lost records, and %d replicas had unclean shutdowns", leader, g.unclean.size())
	}
}

// permit ends the safe configuration by a rule.
func (g *ghost) permit(rule, why string, args ...any) {
	if g.unsafe == "" {
		g.unsafe, g.said = fmt.Sprintf("("+rule+"): "+why, args...), false
		g.left = cmp.Or(g.left, g.unsafe)
	}
}

// startOver begins the safe configuration again with what every replica has.
func (g *ghost) startOver(l *log) {
	g.unsafe, g.lossy, g.stricken, g.latest = "", 0, 0, g.latest[:0]
	g.committed = append(g.committed[:0], l.records[:l.end()]...)
	g.acked = slices.DeleteFunc(g.acked, func(a ackedBatch) bool { return !l.holds(a.base, a.values) })
	for o := range g.read {
		g.read[o].known = g.read[o].known && l.holds(int64(o), []int64{g.read[o].value})
	}
}

// holds reports whether a log has these values from an offset on.
func (l *log) holds(base int64, values []int64) bool {
	for i, v := range values {
		if o := base + int64(i); o >= l.end() || l.records[o].value != v {
			return false
		}
	}
	return true
}

// onChange follows the controller's log.
func (g *ghost) onChange(reg registration, minIsr int) {
	g.previous, g.current = g.current, reg
	if reg.isr.size() >= minIsr {
		g.unclean = 0
		return
	}
	// Who is taken out of the assignment is of no help any more, either.
	g.unclean |= (g.previous.isr | g.previous.elr).without(setOf(reg.assignment...))
}

// onLoss follows a broker that loses records with its disk. What was not committed
// and nobody else has is no loss: nobody can commit it any more.
func (c *Cluster) onLoss(p int, b *broker, had *log) {
	g, end := &c.ghosts[p], b.replicas[p].log.end()+1
	first := loss{end, had.digest(end)}
	if end > g.trueHW() && !c.anybodyHas(p, first) {
		return
	}
	for len(g.lost) <= int(b.id) {
		g.lost = append(g.lost, loss{})
	}
	if !g.lossy.has(b.id) || end < g.lost[b.id].end {
		g.lost[b.id] = first
	}
	g.lossy, g.stricken = g.lossy.with(b.id), g.stricken.with(b.id)
}

// A loss is the first record that was lost, as the log that ended with it.
type loss struct {
	end    int64
	digest uint64
}

// anybodyHas reports whether a record that was lost is in any log.
func (c *Cluster) anybodyHas(p int, l loss) bool {
	for i := 1; i < len(c.brokers); i++ {
		if c.brokers[i].replicas[p].log.contains(l.end, l.digest) {
			return true
		}
	}
	return false
}

// recovered reports whether a broker has back what it lost, or what of it can be
// committed.
func (c *Cluster) recovered(p int, b node) bool {
	g, l := &c.ghosts[p], &c.brokers[b].replicas[p].log
	return g.complete(l) && c.registered(b) && (l.contains(g.lost[b].end, g.lost[b].digest) || !c.anybodyHas(p, g.lost[b]))
}

// onRegistration follows a new incarnation of a broker. Whoever admits it to
// the ISR from now on can know that its disk may be another.
func (g *ghost) onRegistration(b node) {
	if !g.current.isr.has(b) {
		g.stricken = g.stricken.without(setOf(b))
	}
}

// onAppend follows a leader's own append.
func (g *ghost) onAppend(e *env, b node, r *replica, base int64) {
	for int64(len(g.appender)) <= r.leaderEpoch {
		g.appender = append(g.appender, nobody)
	}
	if who := g.appender[r.leaderEpoch]; who != nobody && who != b {
		g.witness(e, oneLeaderPerEpoch, "brokers %d and %d both appended in epoch %d", who, b, r.leaderEpoch)
	}
	g.appender[r.leaderEpoch] = b
	if says := r.log.sequenceBroken(base); says != "" && g.unsafe == "" {
		g.witness(e, sequenceKept, "broker %d appends %s", b, says)
	}
	for o := base; o < r.log.end(); o++ {
		w := write{o, r.leaderEpoch, r.log.records[o].value}
		for _, old := range g.writes {
			if old.offset == w.offset && old.epoch == w.epoch && old.value != w.value {
				g.witness(e, epochOffsetUnique, "offset %d of epoch %d was %d and is %d", o, w.epoch, old.value, w.value)
			}
		}
		g.writes = append(g.writes, w)
	}
}

// sequenceBroken compares the batch at an offset with the one before it of the
// same producer and epoch. It is "" if they belong together, or says what is wrong.
func (l *log) sequenceBroken(base int64) string {
	first := l.records[base].stamp
	if first.producer == 0 {
		return ""
	}
	want := stamp{producer: first.producer, epoch: first.epoch}
	for o := base - 1; o >= 0; o-- {
		if s := l.records[o].stamp; s.producer == first.producer {
			if s.epoch == first.epoch {
				want = s.next(1)
			} else if s.epoch > first.epoch {
				want.epoch = s.epoch
			}
			break
		}
	}
	if first != want {
		return fmt.Sprintf("number %d of epoch %d at %d, where number %d of epoch %d is next", first.seq, first.epoch, base, want.seq, want.epoch)
	}
	return ""
}

// onCommit follows a leader's high watermark.
func (g *ghost) onCommit(e *env, b node, r *replica) {
	n := min(g.trueHW(), r.hw)
	if g.unsafe != "" {
		return
	}
	if n > 0 && r.log.digest(n) != g.committed[n-1].digest {
		g.witness(e, leaderComplete, "broker %d commits up to %d in epoch %d over a log that lacks committed records", b, r.hw, r.leaderEpoch)
		return
	}
	if r.hw > g.trueHW() {
		g.committed = append(g.committed, r.log.records[g.trueHW():r.hw]...)
	}
}

// onLeader follows a replica that becomes leader, unless it hears only now
// that it was: its successors may have gone on since.
func (g *ghost) onLeader(e *env, b node, r *replica) {
	if g.unsafe != "" || r.leaderEpoch != g.current.leaderEpoch {
		return
	}
	for _, a := range g.acked {
		for i, v := range a.values {
			if o := a.base + int64(i); !r.log.holds(o, a.values[i:i+1]) {
				g.witness(e, ackDurable, "value %d, acknowledged at %d, is not there on broker %d, leader of epoch %d", v, o, b, r.leaderEpoch)
				return
			}
		}
	}
	for o, seen := range g.read {
		if seen.known && !r.log.holds(int64(o), []int64{seen.value}) {
			g.witness(e, readStable, "value %d, read at %d, is not there on broker %d, leader of epoch %d", seen.value, o, b, r.leaderEpoch)
			return
		}
	}
}

// onTruncate is told before a replica's log is cut.
func (g *ghost) onTruncate(e *env, b node, r *replica, offset int64) {
	if r.role == leaderRole {
		g.witness(e, leaderAppendOnly, "broker %d, leader of epoch %d, truncates its log to %d", b, r.leaderEpoch, offset)
	}
	if g.unsafe != "" || offset >= g.trueHW() || !(g.current.isr | g.current.elr).has(b) {
		return
	}
	if r.log.records[offset].digest == g.committed[offset].digest {
		g.witness(e, noTruncBelowCommit, "broker %d, in the ISR or eligible, truncates to %d; %d records are committed", b, offset, g.trueHW())
	}
}

// onShrink follows a leader's look at its followers: those that leave the ISR
// are those that have not had everything for replica.lag.time.max.ms (§3.5).
func (g *ghost) onShrink(b *broker, r *replica, out brokerSet) {
	for f := range r.isr.without(setOf(b.id)).each() {
		p := &r.progress[f]
		lags := p.end != r.log.end() && (b.localTime()-p.lastCaughtUp > b.cfg.lagTime ||
			b.cfg.lagMessages > 0 && r.log.end()-p.end > b.cfg.lagMessages)
		if lags != out.has(f) {
			g.witness(b.env, isrByLagTime, "leader %d drops %v; broker %d has %d of %d records, and had all %d ms ago", b.id, out, f, p.end, r.log.end(), b.localTime()-p.lastCaughtUp)
		}
	}
}

// onAck follows a successful acks=all answer.
func (g *ghost) onAck(e *env, r *replica, isrSize int, p *delayedProduce) {
	if r.hw < p.needs || isrSize < e.cfg.minIsr {
		g.witness(e, ackAfterCommit, "%v acknowledged at %d with high watermark %d and %d in-sync replicas", p.request.values, p.base, r.hw, isrSize)
	}
	g.acked = append(g.acked, ackedBatch{p.base, p.request.values})
}

// onRead follows a consumer's answer.
func (g *ghost) onRead(e *env, r *replica, from int64, records []record) {
	for i, rec := range records {
		o := from + int64(i)
		if o >= r.hw {
			g.witness(e, readCommitted, "offset %d read above the high watermark %d", o, r.hw)
		}
		if g.unsafe != "" {
			continue
		}
		if o >= g.trueHW() || g.committed[o].digest != rec.digest {
			g.witness(e, readCommitted, "offset %d read as %d, which was never committed there", o, rec.value)
		}
		for int64(len(g.read)) <= o {
			g.read = append(g.read, reading{})
		}
		if seen := g.read[o]; seen.known && seen.value != rec.value {
			g.witness(e, readStable, "offset %d read as %d and as %d", o, seen.value, rec.value)
		}
		g.read[o] = reading{rec.value, true}
	}
}

// onLatest follows an end offset told to a client: never less than any told
// in an earlier epoch, or before in this one.
func (g *ghost) onLatest(e *env, epoch, end int64) {
	for int64(len(g.latest)) <= epoch {
		g.latest = append(g.latest, 0)
	}
	for earlier, told := range g.latest[:epoch+1] {
		if g.unsafe == "" && end < told {
			g.witness(e, appliedHwMono, "end %d told in epoch %d after %d in epoch %d", end, epoch, told, earlier)
		}
	}
	g.latest[epoch] = max(g.latest[epoch], end)
}
