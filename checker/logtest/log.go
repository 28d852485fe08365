package logtest

import (
	"context"
	"errors"
)

// A Log is one partition of a replicated log, as its clients see it. Its methods
// are called by several clients at once, unless the log is declared
// deterministic, and must return when their context ends. client names who asks:
// P1, C1, and so on. A log that keeps no state for its clients ignores it.
//
// What a log promises is said at each method, as [DefaultConfig] has it; what
// another [Options.Config] takes back is named there. The names in parentheses
// are those of the findings, see "check help anomalies".
type Log interface {
	// Append adds one atomic batch of values behind all that is there, and returns
	// the offset of the first of them, or [NoOffset] if the log does not tell. The
	// others have the offsets behind that, one after the other: offsets count
	// records, not bytes. An error leaves open whether the batch is or will be in
	// the log, unless it is [ErrRefused]. No batch is empty.
	//
	// A batch for which it returned no error stays in the log, whatever fails
	// afterwards (lost-write, which unclean.leader.election.enable=true permits;
	// with acks=1 or 0, only once somebody has read it), at the offset that was told
	// (offset-mismatch), in the order of the batch (int-nonmonotonic-send), behind
	// all that was appended before it was called (realtime-order,
	// nonmonotonic-send). It is there once, and one that ended in an error at most
	// once (duplicate, which enable.idempotence=false permits).
	Append(ctx context.Context, client string, values []string) (offset int64, err error)

	// Read returns records from an offset on, in the order of their offsets: as
	// many as it likes, but at least one if there is one. Where there is none it
	// returns nothing, and does not wait for one. An error says nothing of the
	// log.
	//
	// Every record was appended by somebody (phantom) before it is read
	// (early-read), and not refused (aborted-read). Once it was read it stays
	// (read-then-lost), and its offset never holds another value
	// (inconsistent-offsets). No record that is in the log is left out between two
	// others (int-poll-skip), or between the offset that was asked for and the
	// first one (poll-skip). An answer may be too short, as if asked a little
	// earlier, unless reads=linearizable promises the newest (stale-read). Offsets
	// may have holes, unless offsets=dense promises that there are none (gap).
	Read(ctx context.Context, client string, from int64) ([]Record, error)
}

// A Record is a value at its offset.
type Record struct {
	Offset int64
	Value  string
}

// NoOffset is the answer of a log that does not tell where it put a batch.
const NoOffset int64 = -1

// ErrRefused is for errors of [Log.Append] after which the batch is certainly not
// in the log and never will be. Wrap it. When in doubt, do not: a batch that was
// said to be refused and is read is a violation.
var ErrRefused = errors.New("refused")

// A Cluster is a log of several nodes. One that does not say has one.
type Cluster interface {
	// Nodes is how many there are, at least one and at most 1,000; they are
	// numbered from 1. It is the same for every run.
	//
	// A node has at most one fault at a time, and every fault is ended before the
	// log is read to its end. Faults may strike while operations are under way,
	// and take back no promise of the [Log]. A fault whose beginning returns an
	// error ends the test, for that is no finding about the log; one whose end
	// does is a failure of it (not-live). Each is given a minute.
	Nodes() int
}

// A Crasher kills a node's process and starts it again. What the process had
// written to its disk survives, synced or not.
type Crasher interface {
	Crash(node int) error   // of a node, numbered from 1, that is well
	Restart(node int) error // of one that crashed
}

// A PowerLoser takes the power from a node and starts it again. What was not
// synced to its disk is gone. It strikes one node at a time, while nothing else
// is wrong, and a log has this method only if it promises to survive that.
type PowerLoser interface {
	LosePower(node int) error // of a node, numbered from 1, that is well
	Restart(node int) error   // of one that lost it
}

// An Isolator cuts a node off from the other nodes, and ends that. It is asked to
// only of a [Cluster] of two nodes or more.
type Isolator interface {
	Isolate(node int) error   // a node, numbered from 1, that is well
	Reconnect(node int) error // one that was cut off
}

// A Pauser stops a node where it stands, as a garbage collection does, and lets
// it go on.
type Pauser interface {
	Pause(node int) error  // a node, numbered from 1, that is well
	Resume(node int) error // one that was paused
}

// An EndTeller knows the end of the log. Each partition of a [Partitioned] log
// may be one.
type EndTeller interface {
	// End is the offset behind the last record that clients may read; of an empty
	// log it is 0. An error says nothing of the log.
	//
	// The end that one client is told never goes back, neither after a fault nor
	// after another node was asked: a log whose leader may not know yet how far
	// readers were returns an error until it does. kip-207=false permits it to go
	// back, and so does unclean.leader.election.enable=true. What different
	// clients are told may differ, unless system=other says that the end is the
	// same for all. All below an end that was told stays in the log, and nothing
	// is appended there later, whatever kip-207 says. (All of these are
	// end-regression.) With reads=linearizable, the end is behind all that was
	// acknowledged before it was asked for (stale-read).
	End(ctx context.Context, client string) (int64, error)
}

// A Partitioned log has several partitions. The log itself is not asked for
// records, and the faults are those of all.
type Partitioned interface {
	// Partitions is how many there are, at least one and at most 1,000; they are
	// numbered from 0. It is the same for every run.
	Partitions() int

	// Partition is one of them, which keeps the promises of a [Log] for itself:
	// nothing is promised about the order of what is in different ones. It is
	// called once for each in a run, before all else.
	Partition(n int) Log
}

// A Settler waits, once all faults have ended, until the log has recovered and
// everything acknowledged can be read. A log that does not have the method waits
// in Read, or answers with errors for no longer than ten times [Options.Timeout],
// or needs no time.
type Settler interface {
	// Settle returns when the log has recovered, within ten times
	// [Options.Timeout]. An error after faults is a failure of the log (not-live).
	Settle(ctx context.Context) error
}
