// Package impl is a reference implementation of Kafka's ISR replication, run
// in a deterministic simulation. [Run] executes a schedule and returns the
// history its clients saw; a [Runner] executes many, one after another.
//
// The code follows the protocol reference section by section; comments cite it
// as "§3.4". Correct behaviour is the default. Three tables say what can be
// otherwise: [Faults] is what can go wrong around the protocol, [Bugs] what can
// be wrong in it, [Invariants] what must never be.
//
// One loop pops the earliest event and hands it to one node (the controller, a
// broker or a client). A node changes only its own state and leaves messages
// and timers in its outbox; the loop alone moves them. Simulated time is in
// milliseconds, one hop of the network takes one. Links are FIFO and lose
// nothing unless a step of the schedule says otherwise, so a schedule is the
// run: there is no clock, no chance and no concurrency here.
//
// It differs from Kafka where that makes no difference to what is promised:
//
//   - A connection that loses a message breaks, and whoever waits for the answer
//     is told, so that no timer is needed for a request in flight ([network]).
//   - An OFFSET_OUT_OF_RANGE answer to a follower carries the leader's log end,
//     which saves the ListOffsets request of §3.8.4.
//   - A produce request waits at the leader without a timer; the client's own
//     timeout is as long and ends first.
//
// It also differs where the reference is not safe under every order of messages:
//
//   - Metadata of a partition epoch that the leader already has from an
//     AlterPartition answer is not applied again (§2.8): it would forget a
//     proposal that is in flight, and may be accepted.
//   - A reassignment is not cancelled if that would leave an ISR smaller than
//     min.insync.replicas: the replicas that are to go may have made it large
//     enough, so that there is no ELR beside it (§3.10, KIP-966).
//   - A follower joins the ISR only once it has deleted what the leader has
//     (§3.6): a fetch at the leader's log start says nothing about the records
//     below, and as a leader the follower would show them to consumers again.
//   - A log that knows nothing of an idempotent producer takes its first batch
//     only (§2.1). Kafka takes any, so that one may overtake the first, which
//     then can never land (KAFKA-14359).
//   - A leader forgets what it knew about its followers in every new leader
//     epoch (§3.8.1): if it missed an epoch, their logs may have been cut.
//
// Of the switches that the protocol reference lists (§8), most are seeded bugs or
// settings. Three are neither, for nothing depends on them here: whether a leader
// judges for itself who is eligible for the ISR (the controller decides again),
// whether the high watermark waits for replicas about to join (it only takes them
// longer), and whether several brokers are fenced in one event (each has a timer of
// its own). Where its sources differ, Kafka's code is followed: sends wait while the
// ISR is too small, a leader takes back a proposal only if it is told that a member is
// ineligible, only the last leader is known when ISR and ELR are empty, and a follower
// joins once it has reached the start of the epoch. Two of these differences are
// settings, pending.sends and metadata.version.
//
// Not modelled: transactions, compaction and retention by time or size (clients
// delete records), consumer groups, the creation of topics, log directories, and the
// KRaft quorum: there is one controller, and what it wrote is committed. One that
// was replaced may go on answering, and writes nothing.
package impl
