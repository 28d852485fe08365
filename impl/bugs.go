package impl

import (
	"fmt"
	"slices"
)

// A Bug is a deviation from the protocol that can be switched on. Each is one
// row here and one condition in the code, where it bites.
type Bug struct {
	Name      string
	Section   string // of the bug catalogue, §6
	Reference string // where it comes from: a JIRA ticket, a KIP, or "mutant"
	Says      string
	Invariant string // that it breaks first, alone or together with others
	Anomaly   string // what clients can see of it
	BlackBox  bool   // whether a client history alone can show it
}

// A bug is a place in the table.
type bug int

const (
	truncateToHighWatermark bug = iota
	oneShotEpochLookup
	unfencedFetch
	divergingFetchCounts
	expandBelowEpochStart
	staleBrokerEpochJoins
	staleEndOffset
	isrGrowsLate
	isrShrinksEarly
	unfencedAlterPartition
	uncleanElectionAnyway
	ackBeforeCommit
	highWatermarkByCount
	readUncommittedTail
)

// Bugs is the zoo, in the order of the constants above.
var Bugs = []Bug{
	{Name: "truncate-to-high-watermark", Section: "A1", Reference: "KAFKA-1211, KIP-101",
		Says:      "a new follower cuts its log to its own high watermark, which lags one fetch behind what was acknowledged",
		Invariant: "NoTruncBelowCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "one-shot-epoch-lookup", Section: "A3", Reference: "KAFKA-6361, KIP-279",
		Says:      "a new follower asks once where its last epoch ended; if the leader never knew that epoch, the answer lies behind the fork",
		Invariant: "HwBacked", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "unfenced-fetch", Section: "A4", Reference: "KAFKA-6880, KAFKA-7395, KIP-320",
		Says:      "a leader serves fetches of any epoch, so a replica that missed a leader change keeps a wrong middle",
		Invariant: "LogMatching", Anomaly: "lost-write", BlackBox: true},
	{Name: "diverging-fetch-counts", Section: "B1", Reference: "KAFKA-13141",
		Says:      "a fetch that was answered with a diverging epoch counts as progress of the follower",
		Invariant: "HwBacked", Anomaly: "lost-write", BlackBox: true},
	{Name: "expand-below-epoch-start", Section: "B2", Reference: "KAFKA-7128",
		Says:      "a new leader whose high watermark is stale admits a replica that lacks what its predecessor committed",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "stale-broker-epoch-joins", Section: "B3", Reference: "KAFKA-14617, KIP-903",
		Says:      "the controller admits a replica on the word of its previous incarnation, which had another disk",
		Invariant: "UncleanExclusion", Anomaly: "lost-write", BlackBox: true},
	{Name: "stale-end-offset", Section: "B12", Reference: "KAFKA-2334, KIP-207",
		Says:      "a new leader tells clients its stale high watermark as the end of the log",
		Invariant: "AppliedHwMono", Anomaly: "end-regression", BlackBox: true},
	{Name: "isr-grows-late", Section: "C1", Reference: "KAFKA-8836, KIP-497",
		Says:      "a leader waits for a joining replica only after the controller has confirmed it, when it can already be elected",
		Invariant: "QuorumSuperset", Anomaly: "lost-write", BlackBox: true},
	{Name: "isr-shrinks-early", Section: "C2", Reference: "mutant, forbidden by KIP-497",
		Says:      "a leader stops waiting for a replica before the controller has dropped it",
		Invariant: "QuorumSuperset", Anomaly: "lost-write", BlackBox: true},
	{Name: "unfenced-alter-partition", Section: "C3", Reference: "mutant, guarded by leader and partition epochs",
		Says:      "the controller accepts an ISR from a leader it has deposed",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "unclean-election-anyway", Section: "D2", Reference: "KAFKA-4623, KIP-106",
		Says:      "the controller elects a replica outside the ISR although unclean election is off",
		Invariant: "LeaderComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "ack-before-commit", Section: "G1", Reference: "mutant",
		Says:      "acks=all is answered after the leader's own append",
		Invariant: "AckAfterCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "high-watermark-by-count", Section: "G2", Reference: "mutant",
		Says:      "the high watermark is what min.insync.replicas replicas have, not what the whole ISR has",
		Invariant: "HwBacked", Anomaly: "lost-write", BlackBox: true},
	{Name: "read-uncommitted-tail", Section: "G3", Reference: "mutant; Redpanda #14794",
		Says:      "consumers are shown the leader's log up to its end",
		Invariant: "ReadCommitted", Anomaly: "read-then-lost", BlackBox: true},
}

// A bugSet is the bugs that are switched on.
type bugSet uint64

func (s bugSet) has(b bug) bool { return s&(1<<b) != 0 }

func parseBugs(names []string) (bugSet, error) {
	var s bugSet
	for _, name := range names {
		i := slices.IndexFunc(Bugs, func(b Bug) bool { return b.Name == name })
		if i < 0 {
			return 0, fmt.Errorf("unknown bug %q; the table impl.Bugs has them all", name)
		}
		s |= 1 << i
	}
	return s, nil
}

// imply sets what a bug of an older release presupposes: before fetches
// carried the epoch of the last record, followers truncated by other means.
func (s bugSet) imply(c *config) {
	switch {
	case s.has(truncateToHighWatermark):
		c.truncation = truncateHW
	case s.has(oneShotEpochLookup):
		c.truncation = truncateKIP101
	case s.has(unfencedFetch):
		c.truncation = truncateKIP279
	}
}
