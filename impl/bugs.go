package impl

import (
	"fmt"
	"slices"
	"strings"
)

// A Bug is a deviation from the protocol that can be switched on. Each is one
// row here and one condition in the code, where it bites.
type Bug struct {
	Name      string
	Section   string // of the bug catalogue, §6
	Reference string // where it comes from: a JIRA ticket, a KIP, or "mutant"
	Says      string
	Invariant string // that it breaks first, alone or together with others; "" if it only stops the cluster from becoming calm
	Anomaly   string // what clients can see of it, not-live if that is only that nothing happens; "" for nothing
	BlackBox  bool   // whether a client history alone can show it
}

// A bug is a place in the table.
type bug int

const (
	truncateToHighWatermark bug = iota
	keepBelowHighWatermark
	oneShotEpochLookup
	unfencedFetch
	sameLeaderSkipsTruncation
	epochUnrecordedAtElection
	epochsKeptAtLogEnd
	staleDivergenceCuts
	watermarkBeforeTruncation
	undefinedEpochAsLogEnd
	lateFenceStopsFetching
	divergingFetchCounts
	expandBelowEpochStart
	staleBrokerEpochJoins
	mixedIncarnationsJoin
	readdedReplicaKeepsProgress
	watermarkBelowMinIsr
	readLimitSampledTwice
	logStartAboveWatermark
	staleEndOffset
	isrGrowsLate
	isrShrinksEarly
	unfencedAlterPartition
	answerDropsNextProposal
	removedReplicaStaysInIsr
	lostDiskStaysEligible
	uncleanElectionAnyway
	fencedLastLeaderElected
	everyRestartIsUnclean
	leaderlessStaysLeaderless
	retryLandsTwice
	unclearMeansFailed
	acksOneMovesWatermark
	zombieAnswersReads
	staleFetchAnswerCuts
	highWatermarkByConnection
	ackBeforeCommit
	highWatermarkByCount
	readUncommittedTail
	minIsrByAssignment
	epochSurvivesVacancy
	shutdownWithoutHandover
	slowFollowerStays
	burstEvictsFollowers
	progressSurvivesEpochs
	partitionEpochStandsStill
	electionWithoutEpoch
	flushedSurvivesTruncation
	epochsSurviveTruncation
	formerFollowerCuts
	metadataAppliedTwice
	removedReplicaStaysEligible
	eligibleBesideFullIsr
	leaderOutsideIsr
	recoveryNeverEnds
	gapInSequenceLands
	consumerMissesTruncation
	sessionForgetsEpoch
	formerControllerAgrees
	formerControllerFences
	crashLooksClean
	fencedMemberJoins
	removeBeforeAdd
	bugCount
)

// Bugs is the zoo, in the order of the constants above.
var Bugs = []Bug{
	{Name: "truncate-to-high-watermark", Section: "A1", Reference: "KAFKA-1211, KIP-101",
		Says:      "a new follower cuts its log to its own high watermark, which lags one fetch behind what was acknowledged",
		Invariant: "NoTruncBelowCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "keep-below-high-watermark", Section: "A2", Reference: "KIP-101",
		Says:      "a follower never cuts below its own high watermark, which proves nothing after the last in-sync replica lost records",
		Invariant: "LogMatching", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "one-shot-epoch-lookup", Section: "A3", Reference: "KAFKA-6361, KIP-279",
		Says:      "a new follower asks once where its last epoch ended; if the leader never knew that epoch, the answer lies behind the fork",
		Invariant: "HwBacked", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "unfenced-fetch", Section: "A4", Reference: "KAFKA-6880, KAFKA-7395, KIP-320",
		Says:      "a leader serves fetches of any epoch, so a replica that missed a leader change keeps a wrong middle",
		Invariant: "LogMatching", Anomaly: "lost-write", BlackBox: true},
	{Name: "same-leader-skips-truncation", Section: "A5", Reference: "KAFKA-7164",
		Says:      "a follower whose leader is the same broker as before goes on fetching, whoever led in between",
		Invariant: "LogMatching", Anomaly: "lost-write", BlackBox: true},
	{Name: "epoch-unrecorded-at-election", Section: "A6", Reference: "KAFKA-7415",
		Says:      "a leader records its epoch with its first record only; asked about an epoch before that it knows nothing, and followers cut to their high watermark",
		Invariant: "NoTruncBelowCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "epochs-kept-at-log-end", Section: "A7", Reference: "KAFKA-10706",
		Says:    "truncating at the log's end leaves the epoch of a leadership without records in the cache, and the leader reports a divergence for ever",
		Anomaly: "not-live"},
	{Name: "stale-divergence-cuts", Section: "A9", Reference: "KAFKA-18991",
		Says:      "a diverging answer of an earlier epoch is applied if only the fetch offset is the same again",
		Invariant: "NoTruncBelowCommit", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "watermark-before-truncation", Section: "A11", Reference: "KAFKA-14704",
		Says:      "a follower takes the high watermark of a diverging answer before it cuts its log, and shows consumers what it is about to cut",
		Invariant: "ReadCommitted", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "undefined-epoch-as-log-end", Section: "A13", Reference: "KAFKA-6857",
		Says:      "logs without epochs: an undefined epoch is said to end at the leader's log end, so a follower cuts nothing",
		Invariant: "HwBacked", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "late-fence-stops-fetching", Section: "A13", Reference: "KAFKA-7786",
		Says:    "FENCED_LEADER_EPOCH in answer to a request of an earlier epoch stops the fetcher of the present one",
		Anomaly: "not-live"},
	{Name: "diverging-fetch-counts", Section: "B1", Reference: "KAFKA-13141",
		Says:      "a fetch that was answered with a diverging epoch counts as progress of the follower",
		Invariant: "HwBacked", Anomaly: "lost-write", BlackBox: true},
	{Name: "expand-below-epoch-start", Section: "B2", Reference: "KAFKA-7128",
		Says:      "a new leader whose high watermark is stale admits a replica that lacks what its predecessor committed",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "stale-broker-epoch-joins", Section: "B3", Reference: "KAFKA-14617, KIP-903",
		Says:      "the controller admits a replica on the word of its previous incarnation, which had another disk",
		Invariant: "UncleanExclusion", Anomaly: "lost-write", BlackBox: true},
	{Name: "mixed-incarnations-join", Section: "B4", Reference: "KAFKA-15221",
		Says:      "a follower is proposed for the ISR with the log end of its previous incarnation and the broker epoch of the present one",
		Invariant: "UncleanExclusion", Anomaly: "lost-write", BlackBox: true},
	{Name: "readded-replica-keeps-progress", Section: "B5", Reference: "KAFKA-13790",
		Says:      "a leader proposes for the ISR, on what it knew in an earlier epoch, a replica that was removed, deleted its log, and was added again",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "watermark-below-min-isr", Section: "B7", Reference: "KAFKA-15583, KIP-966",
		Says:      "the high watermark moves although the ISR is smaller than min.insync.replicas, and replicas that left it are eligible",
		Invariant: "HwBacked", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "read-limit-sampled-twice", Section: "B8", Reference: "KAFKA-9835, KAFKA-9807",
		Says:      "a consumer's read that found the high watermark at the log's end goes on to the end, which has moved",
		Invariant: "ReadCommitted", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "log-start-above-watermark", Section: "B11", Reference: "KAFKA-5634, KAFKA-9491, KAFKA-7104",
		Says:      "records above the high watermark may be deleted, so the log starts behind what is committed",
		Invariant: "LogWF"},
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
	{Name: "answer-drops-next-proposal", Section: "C5", Reference: "KAFKA-12686, KAFKA-12751, KAFKA-14010",
		Says:    "the answer to an overtaken proposal takes the next one out of the queue before it was sent, and the partition proposes nothing any more",
		Anomaly: "not-live"},
	{Name: "removed-replica-stays-in-isr", Section: "C7", Reference: "KAFKA-9672, KAFKA-1170, KAFKA-1097",
		Says:      "a reassignment that is complete takes the removed replica out of the assignment, and leaves it in the ISR",
		Invariant: "IsrSubsetAR", Anomaly: "lost-write", BlackBox: true},
	{Name: "lost-disk-stays-eligible", Section: "D1", Reference: "KIP-966, KAFKA-18106",
		Says:      "a broker that comes back from an unclean shutdown stays in ISR and ELR, whatever it has lost",
		Invariant: "UncleanExclusion", Anomaly: "lost-write", BlackBox: true},
	{Name: "unclean-election-anyway", Section: "D2", Reference: "KAFKA-4623, KIP-106",
		Says:      "the controller elects a replica outside the ISR although unclean election is off",
		Invariant: "LeaderComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "fenced-last-leader-elected", Section: "D4", Reference: "KAFKA-19522",
		Says:      "when nobody is eligible the last known leader is elected, even if it is down",
		Invariant: "IsrUnfenced"},
	{Name: "every-restart-is-unclean", Section: "D5", Reference: "KAFKA-18635",
		Says:      "a clean restart costs eligibility like an unclean one, until only the last known leader is left to elect, whatever it lost",
		Invariant: "LeaderComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "leaderless-stays-leaderless", Section: "D7", Reference: "KAFKA-13407",
		Says:    "a broker that returns is not elected leader of what nobody leads",
		Anomaly: "not-live"},
	{Name: "retry-lands-twice", Section: "F1", Reference: "KAFKA-5494, Redpanda #3039",
		Says:      "a log appends a batch of an idempotent producer that it has already",
		Invariant: "Seq", Anomaly: "duplicate", BlackBox: true},
	{Name: "unclear-means-failed", Section: "F3", Reference: "client mutant",
		Says:    "a client reports a send whose effect is unknown as failed",
		Anomaly: "aborted-read", BlackBox: true},
	{Name: "acks-one-moves-watermark", Section: "F5", Reference: "Redpanda #14794, #15863",
		Says:      "an append with acks=1 is visible at once",
		Invariant: "HwBacked", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "zombie-answers-reads", Section: "F6", Reference: "Redpanda #2954",
		Says:    "a leader that was deposed without knowing answers linearizable reads from what it believes",
		Anomaly: "stale-read", BlackBox: true},
	{Name: "stale-fetch-answer-cuts", Section: "F7", Reference: "Redpanda #17731, #17895",
		Says:      "records that arrive a second time are taken for a conflict, and what follows them is cut",
		Invariant: "NoTruncBelowCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "high-watermark-by-connection", Section: "F9", Reference: "RocketMQ #6662",
		Says:      "the high watermark waits for the followers that fetch, not for those in the ISR",
		Invariant: "HwBacked", Anomaly: "lost-write", BlackBox: true},
	{Name: "ack-before-commit", Section: "G1", Reference: "mutant",
		Says:      "acks=all is answered after the leader's own append",
		Invariant: "AckAfterCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "high-watermark-by-count", Section: "G2", Reference: "mutant",
		Says:      "the high watermark is what min.insync.replicas replicas have, not what the whole ISR has",
		Invariant: "HwBacked", Anomaly: "lost-write", BlackBox: true},
	{Name: "read-uncommitted-tail", Section: "G3", Reference: "mutant; Redpanda #14794",
		Says:      "consumers are shown the leader's log up to its end",
		Invariant: "ReadCommitted", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "min-isr-by-assignment", Section: "G4", Reference: "mutant",
		Says:      "min.insync.replicas is compared with the number of assigned replicas, not with the ISR",
		Invariant: "AckAfterCommit", Anomaly: "lost-write", BlackBox: true},
	{Name: "epoch-survives-vacancy", Section: "G7", Reference: "mutant",
		Says:      "a leader that is elected again after nobody led goes on in its old epoch",
		Invariant: "EpochOffsetUnique", Anomaly: "inconsistent-offsets"},
	{Name: "shutdown-without-handover", Section: "G9", Reference: "mutant",
		Says:      "a broker in controlled shutdown is fenced before its partitions have another leader",
		Invariant: "IsrUnfenced"},
	{Name: "slow-follower-stays", Section: "G10", Reference: "mutant",
		Says:      "a follower stays in the ISR as long as it fetches, however far behind",
		Invariant: "IsrByLagTime"},
	{Name: "burst-evicts-followers", Section: "G11", Reference: "KAFKA-1546, KIP-16",
		Says:      "a follower leaves the ISR when it is some records behind, so a large batch evicts everybody",
		Invariant: "IsrByLagTime"},
	{Name: "progress-survives-epochs", Section: "§3.8.1", Reference: "found by isrcheck, §3.8.1",
		Says:      "a leader elected again keeps what it knew of its followers, whose logs were cut in an epoch it missed",
		Invariant: "HwBacked", Anomaly: "read-then-lost", BlackBox: true},
	{Name: "partition-epoch-stands-still", Section: "§1.4", Reference: "mutant, KAFKA-12367",
		Says:      "a new leader epoch is no new partition epoch, so brokers that compare partition epochs never hear of it",
		Invariant: "EpochMono", Anomaly: "not-live"},
	{Name: "election-without-epoch", Section: "§3.10", Reference: "mutant",
		Says:      "an election of another leader keeps the leader epoch",
		Invariant: "OneLeaderPerEpoch", Anomaly: "inconsistent-offsets", BlackBox: true},
	{Name: "flushed-survives-truncation", Section: "§1.2", Reference: "mutant",
		Says:      "truncation leaves the recovery point behind the log's end, so what is appended there next is taken for flushed",
		Invariant: "LogWF"},
	{Name: "epochs-survive-truncation", Section: "§3.8.3", Reference: "KAFKA-12520, KAFKA-16541",
		Says:      "truncation cuts the log and leaves the epochs of what was cut in the epoch cache",
		Invariant: "CacheWF"},
	{Name: "former-follower-cuts", Section: "§3.8.3", Reference: "KAFKA-13207",
		Says:      "a diverging answer to a broker that leads by now cuts its log",
		Invariant: "LeaderAppendOnly", Anomaly: "lost-write", BlackBox: true},
	{Name: "metadata-applied-twice", Section: "§1.1", Reference: "mutant",
		Says:      "a broker applies a metadata update from its start, though it has some of it",
		Invariant: "MetaPrefix"},
	{Name: "removed-replica-stays-eligible", Section: "§3.10", Reference: "mutant",
		Says:      "a replica that a reassignment takes out of the ISR is eligible from then on, like one that left it for other reasons",
		Invariant: "ElrSubsetAR"},
	{Name: "eligible-beside-full-isr", Section: "§3.10", Reference: "mutant",
		Says:      "replicas stay eligible when the ISR is large enough to commit without them",
		Invariant: "IsrElrDisjoint", Anomaly: "lost-write", BlackBox: true},
	{Name: "leader-outside-isr", Section: "§3.10", Reference: "mutant",
		Says:      "a leader that drops out of the ISR is not replaced",
		Invariant: "LeaderInIsr", Anomaly: "lost-write", BlackBox: true},
	{Name: "recovery-never-ends", Section: "§2.5", Reference: "mutant, KIP-704",
		Says:    "a leader that was elected uncleanly never declares itself recovered, so the controller lets nobody join it",
		Anomaly: "not-live"},
	{Name: "gap-in-sequence-lands", Section: "F2", Reference: "KAFKA-5494, KIP-98",
		Says:      "a log appends a batch of an idempotent producer before the one that was sent before it, which is being retried",
		Invariant: "Seq", Anomaly: "nonmonotonic-send", BlackBox: true},
	{Name: "consumer-misses-truncation", Section: "F4", Reference: "KAFKA-7747, KAFKA-7440, KIP-320",
		Says:      "a consumer does not ask a new leader whether its log has what it was given, and skips what took the place of records that an unclean election lost",
		Invariant: "TruncationSeen"},
	{Name: "session-forgets-epoch", Section: "B9", Reference: "KAFKA-9338, KIP-227",
		Says:      "a fetch session does not keep the leader epoch, so a fetch that leaves it unsaid is served in any epoch",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
	{Name: "former-controller-agrees", Section: "C4", Reference: "KAFKA-14144",
		Says:      "a controller that was deposed without knowing agrees to a proposal, which nobody else ever hears of",
		Invariant: "QuorumSuperset", Anomaly: "lost-write", BlackBox: true},
	{Name: "former-controller-fences", Section: "C4", Reference: "KAFKA-14154",
		Says:    "a controller that was deposed without knowing fences a leader of an epoch it has not seen, and the leader waits for metadata that is there already",
		Anomaly: "not-live"},
	{Name: "crash-looks-clean", Section: "§3.11", Reference: "KAFKA-15375",
		Says:      "a broker that crashes leaves the clean-shutdown file all the same, so what it lost with its disk goes unnoticed",
		Invariant: "UncleanExclusion", Anomaly: "lost-write", BlackBox: true},
	{Name: "fenced-member-joins", Section: "§2.5", Reference: "mutant, guarded by KIP-841",
		Says:      "the controller admits a replica to the ISR whose broker it has fenced since the leader looked",
		Invariant: "IsrUnfenced"},
	{Name: "remove-before-add", Section: "§3.10", Reference: "mutant",
		Says:      "a reassignment takes the old replicas out before the new ones have joined, so that one which has nothing leads",
		Invariant: "CandidateComplete", Anomaly: "lost-write", BlackBox: true},
}

// A bugSet is the bugs that are switched on.
type bugSet uint64

func (s bugSet) has(b bug) bool { return s&(1<<b) != 0 }

func parseBugs(names []string) (bugSet, error) {
	var s bugSet
	for _, name := range names {
		i := slices.IndexFunc(Bugs, func(b Bug) bool { return b.Name == name })
		if i < 0 {
			return 0, &ItemError{Word: name, Says: brief(fmt.Sprintf("unknown bug %q; expected one of %s", name, bugNames()))}
		}
		s |= 1 << i
	}
	return s, nil
}

func bugNames() string {
	names := make([]string, len(Bugs))
	for i := range Bugs {
		names[i] = Bugs[i].Name
	}
	return strings.Join(names, ", ")
}

// imply sets what a bug presupposes. Before fetches carried the epoch of the
// last record, followers truncated by other means; and a bug in what is an option
// needs that option.
func (s bugSet) imply(c *config) {
	switch {
	case s.has(truncateToHighWatermark):
		c.truncation = truncateHW
	case s.has(oneShotEpochLookup):
		c.truncation = truncateKIP101
	case s.has(unfencedFetch), s.has(keepBelowHighWatermark), s.has(sameLeaderSkipsTruncation),
		s.has(epochUnrecordedAtElection), s.has(undefinedEpochAsLogEnd), s.has(epochsSurviveTruncation):
		c.truncation = truncateKIP279
	case s.has(watermarkBelowMinIsr), s.has(lostDiskStaysEligible), s.has(crashLooksClean), s.has(fencedLastLeaderElected), s.has(everyRestartIsUnclean),
		s.has(removedReplicaStaysEligible), s.has(eligibleBesideFullIsr):
		c.elr = true
	case s.has(sessionForgetsEpoch):
		c.truncation, c.fetchSessions = truncateKIP279, true
	case s.has(recoveryNeverEnds), s.has(consumerMissesTruncation):
		c.unclean = true
	case s.has(zombieAnswersReads):
		c.linearizable = true
	case s.has(watermarkBeforeTruncation):
		c.fetchAny = true
	case s.has(retryLandsTwice):
		c.idempotent, c.acks, c.retries = true, acksAll, maxCount
	case s.has(gapInSequenceLands):
		c.idempotent, c.acks, c.retries, c.inFlight = true, acksAll, maxCount, window
	}
}
