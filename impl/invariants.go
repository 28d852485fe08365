package impl

import "fmt"

// An Invariant is something that must hold after every event (§4).
//
// Some hold always. The others hold in the safe configuration, which a
// partition leaves, with all that clients may then lose, when something happens
// that the protocol does not promise to survive: an unclean election that the
// settings allow; without an ELR, the last member of an ISR losing records with its
// disk that were committed, or may yet be (the last replica standing, §3.12); with
// one, the same to the last known leader, when all who were eligible had unclean
// shutdowns.
// Everything else, at any setting, must not break them. The partition is back in
// it once all of its replicas agree in full: of what they have then, nothing may
// be lost (see [ghost.startOver]).
type Invariant struct {
	Name    string
	Section string // of the protocol reference
	Says    string
	Safe    bool // judged only in the safe configuration

	of changes // what it is about: if nothing of that changed, it still holds

	// Holds returns "" if the invariant holds for a partition in the present state,
	// or what is wrong. It is nil of an invariant that is about events alone: those
	// are witnessed as they happen (see ghost).
	Holds func(c *Cluster, partition int) string
}

// An invariant is a place in the table.
type invariant int

const (
	epochMono invariant = iota
	oneLeaderPerEpoch
	epochOffsetUnique
	logWF
	cacheWF
	leaderAppendOnly
	metaPrefix
	isrSubsetAR
	elrSubsetAR
	isrElrDisjoint
	leaderInIsr
	isrUnfenced
	quorumSuperset
	onePending
	noTruncBelowCommit
	logMatching
	hwBacked
	leaderComplete
	uncleanExclusion
	candidateComplete
	ackAfterCommit
	readCommitted
	ackDurable
	readStable
	appliedHwMono
	isrByLagTime
	sequenceKept
	truncationSeen
	invariantCount
)

// Invariants is the table, in the order of the constants above. Where one event
// breaks several, causes come before their consequences.
// It is filled by init because the functions it names lead back to it.
var Invariants []Invariant

func init() {
	Invariants = []Invariant{
		{"EpochMono", "§4", "leader and partition epochs never go back, and a new leader epoch is a new partition epoch", false, stateChanged, epochsRise},
		{"OneLeaderPerEpoch", "§4", "one broker at most ever appends in a leader epoch", false, 0, nil},
		{"EpochOffsetUnique", "§4", "an offset and a leader epoch determine the value for ever", false, 0, nil},
		{"LogWF", "§4", "epochs do not decrease along a log, neither high watermark nor flushed offset is above its end, and the start is not above the high watermark", false, logsChanged, logsWellFormed},
		{"CacheWF", "§4", "the epoch cache strictly increases and knows the epoch of the last record", false, logsGrew | logsCut, cachesWellFormed},
		{"LeaderAppendOnly", "§4", "a leader's log only grows", false, 0, nil},
		{"MetaPrefix", "§4", "each broker's metadata is a prefix of the controller's log", false, metadataChanged | imagesChanged, imagesArePrefixes},
		{"IsrSubsetAR", "§4", "the ISR is a subset of the assignment", false, metadataChanged, isrAssigned},
		{"ElrSubsetAR", "§4, KIP-966", "the ELR is a subset of the assignment", false, metadataChanged, elrAssigned},
		{"IsrElrDisjoint", "§4, KIP-966", "nobody is in ISR and ELR at once, and there is no ELR beside an ISR that is large enough", false, metadataChanged, elrBesideISR},
		{"LeaderInIsr", "§4", "a leader is in the ISR", false, metadataChanged, leaderInSync},
		{"IsrUnfenced", "§4", "a fenced broker is in the ISR only as its last, frozen member, and never where there is an ELR", false, metadataChanged, isrInService},
		{"QuorumSuperset", "§4", "a current leader that moves its high watermark waits for every member of the controller's ISR and ELR", true, stateChanged, leaderWaitsForISR},
		{"OnePending", "§4", "a leader's maximal ISR includes the committed one, and one proposal is in flight at most", false, beliefsChanged, proposalsOrderly},
		{"NoTruncBelowCommit", "§4", "no member of ISR or ELR cuts a committed record", true, 0, nil},
		{"LogMatching", "§4", "two logs that have a record of one epoch at one offset are equal up to there", false, logsGrew | logsCut, logsMatch},
		{"HwBacked", "§4", "what is below the current leader's high watermark is in the log of every registered member of ISR and ELR", true, logsCut | marksMoved | stateChanged, watermarkBacked},
		{"LeaderComplete", "§4", "the elected leader has everything that was committed", true, logsCut | marksMoved | stateChanged, leadersComplete},
		{"UncleanExclusion", "§4 CandidateComplete", "a broker that lost records is not in ISR or ELR before it has them back", true, stateChanged, lossyExcluded},
		{"CandidateComplete", "§4", "every registered member of ISR and ELR has everything that was committed", true, logsCut | marksMoved | stateChanged, candidatesComplete},
		{"AckAfterCommit", "§4", "acks=all is answered when the high watermark has passed the records and the ISR is large enough", false, 0, nil},
		{"ReadCommitted", "§4", "a consumer reads below the high watermark only", false, 0, nil},
		{"AckDurable", "§4", "what was acknowledged with acks=all is in the log of every later leader", true, 0, nil},
		{"ReadStable", "§4", "what was read at an offset is what every later answer and leader has there", true, 0, nil},
		{"AppliedHwMono", "§4, KIP-207", "the end told to clients never goes back from one leader epoch to a later one", true, 0, nil},
		{"IsrByLagTime", "§3.5", "a leader drops the followers that lacked something for replica.lag.time.max.ms, and nobody else", false, 0, nil},
		{"Seq", "§4, KIP-98", "the numbers of one idempotent producer in one of its epochs follow each other in a log, without gap or copy", false, 0, nil},
		{"TruncationSeen", "§6 F4, KIP-320", "a consumer reads on in a log only if it has what it was given before, or it was told", false, 0, nil},
	}
	for changed := range judgedAfter {
		for i, inv := range Invariants {
			if inv.of&changes(changed) != 0 || changes(changed) == allChanged {
				judgedAfter[changed] = append(judgedAfter[changed], judgement{invariant(i), inv.Safe, inv.Holds})
			}
		}
	}
}

// A judgement is what is to be done about an invariant.
type judgement struct {
	place invariant
	safe  bool
	holds func(c *Cluster, partition int) string
}

// judgedAfter are the invariants to judge after changes: those about any of them
// and, when one was witnessed, all.
var judgedAfter [allChanged + 1][]judgement

// A Breach is an invariant that broke during a run.
type Breach struct {
	At        int64 // simulated milliseconds
	Invariant string
	Says      string // what was wrong
}

// checkInvariants judges the state after an event. Each invariant is reported
// once a run at most.
func (c *Cluster) checkInvariants() {
	changed := c.dirty
	c.dirty = 0
	judged := judgedAfter[changed]
	for p := range c.ghosts {
		c.leaveSafety(p)
		g := &c.ghosts[p]
		for i := range judged {
			j := &judged[i]
			if c.broken[j.place] || j.safe && g.unsafe != "" {
				continue
			}
			says := ""
			if changed == allChanged {
				says = g.witnessed[j.place]
			}
			if says == "" && j.holds != nil {
				says = j.holds(c, p)
			}
			if says != "" {
				c.breaks(j.place, int32(p), says)
			}
		}
	}
}

// breaks reports an invariant that broke for a partition, which it names where there
// are others.
func (c *Cluster) breaks(i invariant, p int32, says string) {
	name := Invariants[i].Name
	if len(c.ghosts) > 1 && i != metaPrefix { // which is about none
		says = partitionName(p) + ": " + says
	}
	c.broken[i] = true
	c.breaches = append(c.breaches, Breach{c.now, name, says})
	c.nemesis("invariant " + name + " broken: " + says)
}

func epochsRise(c *Cluster, p int) string {
	was, is := &c.ghosts[p].previous, &c.ghosts[p].current
	if is.leaderEpoch < was.leaderEpoch || is.partitionEpoch < was.partitionEpoch ||
		is.leaderEpoch > was.leaderEpoch && is.partitionEpoch == was.partitionEpoch {
		return fmt.Sprintf("leader epoch %d -> %d, partition epoch %d -> %d", was.leaderEpoch, is.leaderEpoch, was.partitionEpoch, is.partitionEpoch)
	}
	for b := node(1); int(b) < len(c.brokers); b++ {
		if r := &c.brokers[b].replicas[p]; r.partitionEpoch > is.partitionEpoch || r.leaderEpoch > is.leaderEpoch {
			return fmt.Sprintf("broker %d is ahead of the controller", b)
		}
	}
	return ""
}

func logsWellFormed(c *Cluster, p int) string {
	for b := node(1); int(b) < len(c.brokers); b++ {
		r := &c.brokers[b].replicas[p]
		end := r.log.end()
		if r.log.start > r.hw {
			return fmt.Sprintf("broker %d: start %d above high watermark %d", b, r.log.start, r.hw)
		}
		if r.hw > end || r.log.flushed > end {
			return fmt.Sprintf("broker %d: end %d, high watermark %d, flushed %d", b, end, r.hw, r.log.flushed)
		}
		if end-2 >= r.log.start && r.log.records[end-1].epoch < r.log.records[end-2].epoch { // of what is deleted nothing is said
			return fmt.Sprintf("broker %d: epoch decreases at offset %d", b, end-1)
		}
	}
	return ""
}

func cachesWellFormed(c *Cluster, p int) string {
	for b := node(1); int(b) < len(c.brokers); b++ {
		l := &c.brokers[b].replicas[p].log
		if l.end() > l.start && (len(l.epochs) == 0 || l.epochs[0].start > l.start) {
			return fmt.Sprintf("broker %d: epoch cache %v lacks the first record", b, l.epochs)
		}
		floor := none
		for i, e := range l.epochs {
			if i > 0 && (e.epoch <= l.epochs[i-1].epoch || e.start <= l.epochs[i-1].start) {
				return fmt.Sprintf("broker %d: epoch cache %v", b, l.epochs)
			}
			if e.start < l.end() {
				floor = e.epoch
			}
		}
		if l.end() > l.start && floor != l.records[l.end()-1].epoch {
			return fmt.Sprintf("broker %d: last record has epoch %d, epoch cache %v", b, l.records[l.end()-1].epoch, l.epochs)
		}
	}
	return ""
}

func imagesArePrefixes(c *Cluster, _ int) string {
	for b := node(1); int(b) < len(c.brokers); b++ {
		img := &c.brokers[b].image
		if img.offset > c.controller.image.offset || img.digest != c.controller.digests[img.offset] {
			return fmt.Sprintf("broker %d has other metadata below offset %d", b, img.offset)
		}
	}
	return ""
}

func isrAssigned(c *Cluster, p int) string {
	if reg := &c.controller.image.partitions[p]; !setOf(reg.assignment...).includes(reg.isr) {
		return fmt.Sprintf("isr %v, assignment %v", reg.isr, reg.assignment)
	}
	return ""
}

func elrAssigned(c *Cluster, p int) string {
	if reg := &c.controller.image.partitions[p]; !setOf(reg.assignment...).includes(reg.elr) {
		return fmt.Sprintf("elr %v, assignment %v", reg.elr, reg.assignment)
	}
	return ""
}

func elrBesideISR(c *Cluster, p int) string {
	if reg := &c.controller.image.partitions[p]; reg.isr&reg.elr != 0 || reg.elr != 0 && reg.isr.size() >= c.cfg.minIsr {
		return fmt.Sprintf("isr %v, elr %v, min.insync.replicas %d", reg.isr, reg.elr, c.cfg.minIsr)
	}
	return ""
}

func leaderInSync(c *Cluster, p int) string {
	if reg := &c.controller.image.partitions[p]; reg.leader != nobody && !reg.isr.has(reg.leader) {
		return fmt.Sprintf("leader %d, isr %v", reg.leader, reg.isr)
	}
	return ""
}

func isrInService(c *Cluster, p int) string {
	reg := &c.controller.image.partitions[p]
	if reg.isr.size() < 2 && !c.cfg.elr {
		return ""
	}
	for b := range reg.isr.each() {
		if c.controller.image.brokers[b].fenced {
			return fmt.Sprintf("isr %v, broker %d is fenced", reg.isr, b)
		}
	}
	return ""
}

func leaderWaitsForISR(c *Cluster, p int) string {
	b, r := c.currentLeader(p)
	reg := &c.controller.image.partitions[p]
	if b == nil || r.isr.size() < c.cfg.minIsr || b.maximalISR(r).includes(reg.isr|reg.elr) {
		return ""
	}
	return fmt.Sprintf("leader %d waits for %v, isr %v, elr %v", b.id, b.maximalISR(r), reg.isr, reg.elr)
}

func proposalsOrderly(c *Cluster, p int) string {
	for i := 1; i < len(c.brokers); i++ {
		b := &c.brokers[i]
		if r := &b.replicas[p]; r.role == leaderRole && !b.maximalISR(r).includes(r.isr) {
			return fmt.Sprintf("leader %d: maximal isr %v, committed isr %v", b.id, b.maximalISR(r), r.isr)
		}
		sent := 0
		for q := range b.replicas {
			sent += int(bit(b.replicas[q].pending.sent && !b.replicas[q].pending.decided))
		}
		if pending := &b.replicas[p].pending; sent > 1 && pending.sent && !pending.decided {
			return fmt.Sprintf("broker %d has %d proposals in flight", b.id, sent)
		}
	}
	return ""
}

func lossyExcluded(c *Cluster, p int) string {
	g, reg := &c.ghosts[p], &c.controller.image.partitions[p]
	for b := range ((reg.isr | reg.elr) & g.lossy).each() {
		if c.registered(b) && !g.complete(&c.brokers[b].replicas[p].log) {
			return fmt.Sprintf("broker %d lost records and is in isr %v or elr %v", b, reg.isr, reg.elr)
		}
	}
	return ""
}

func candidatesComplete(c *Cluster, p int) string {
	g, reg := &c.ghosts[p], &c.controller.image.partitions[p]
	for b := range (reg.isr | reg.elr).each() {
		if c.registered(b) && !g.complete(&c.brokers[b].replicas[p].log) {
			return fmt.Sprintf("broker %d is in isr %v or elr %v and lacks some of %d committed records", b, reg.isr, reg.elr, g.trueHW())
		}
	}
	return ""
}

func watermarkBacked(c *Cluster, p int) string {
	leader, r := c.currentLeader(p)
	if leader == nil {
		return ""
	}
	reg := &c.controller.image.partitions[p]
	for b := range (reg.isr | reg.elr).without(c.ghosts[p].lossy).each() {
		if c.registered(b) && !c.brokers[b].replicas[p].log.contains(r.hw, r.log.digest(r.hw)) {
			return fmt.Sprintf("leader %d has high watermark %d, broker %d in isr or elr lacks some of it", leader.id, r.hw, b)
		}
	}
	return ""
}

// logsMatch is log matching as Raft states it. Together with HwBacked it
// implies that logs agree below both their high watermarks.
func logsMatch(c *Cluster, p int) string {
	for i := 1; i < len(c.brokers); i++ {
		for j := i + 1; j < len(c.brokers); j++ {
			a, b := &c.brokers[i].replicas[p].log, &c.brokers[j].replicas[p].log
			o := min(a.end(), b.end()) - 1
			for o >= 0 && a.records[o].epoch != b.records[o].epoch {
				o--
			}
			if !a.agrees(b, o+1) {
				return fmt.Sprintf("brokers %d and %d both have a record of epoch %d at offset %d, and differ up to there", i, j, a.records[o].epoch, o)
			}
		}
	}
	return ""
}

func leadersComplete(c *Cluster, p int) string {
	reg, g := &c.controller.image.partitions[p], &c.ghosts[p]
	if b := reg.leader; b != nobody && c.registered(b) && !g.complete(&c.brokers[b].replicas[p].log) {
		return fmt.Sprintf("broker %d, elected in epoch %d, lacks some of %d committed records", b, reg.leaderEpoch, g.trueHW())
	}
	return ""
}
