// Package impl is a reference implementation of Kafka's ISR replication, run
// in a deterministic simulation. [Run] executes a schedule and returns the
// history its clients saw.
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
// Not modelled: transactions and idempotent producers, compaction and
// retention (every log starts at offset 0), consumer groups, follower reads,
// fetch sessions, reassignment, log directories, eligible leader replicas, and
// the KRaft quorum: there is one controller and what it wrote is committed.
package impl
