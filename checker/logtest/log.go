package logtest

import (
	"context"
	"errors"
)

// A Log is one partition of a replicated log, as its clients see it. Its
// methods are called by several clients at once, unless the log is declared
// deterministic, and must return when their context ends. client names who
// asks: P1, C1, and so on. A log that keeps no state for its clients ignores it.
type Log interface {
	// Append adds one atomic batch of values behind all that is there, and
	// returns the offset of the first of them, or [NoOffset] if the log does
	// not tell. The others have the offsets behind that, one after the other:
	// offsets count records, not bytes. An error leaves open whether the batch is or will be in the
	// log, unless it is [ErrRefused]. No batch is empty.
	Append(ctx context.Context, client string, values []string) (offset int64, err error)

	// Read returns records from an offset on, in the order of their offsets:
	// as many as it likes, but at least one if there is one. Where there is
	// none it returns nothing, and does not wait for one.
	Read(ctx context.Context, client string, from int64) ([]Record, error)
}

// A Record is a value at its offset.
type Record struct {
	Offset int64
	Value  string
}

// NoOffset is the answer of a log that does not tell where it put a batch.
const NoOffset int64 = -1

// ErrRefused is for errors of [Log.Append] after which the batch is certainly
// not in the log and never will be. Wrap it. When in doubt, do not: a batch that
// was said to be refused and is read is a violation.
var ErrRefused = errors.New("refused")

// The abilities a log may have beside those of [Log]. Nodes are numbered from
// 1. A node has at most one fault at a time, and every fault is ended before
// the log is read to its end. Faults may strike while operations are under way.
type (
	// A Cluster has several nodes. A log that does not say has one.
	Cluster interface{ Nodes() int }

	// A Crasher kills a node's process and starts it again. What the process
	// had written to its disk survives, synced or not.
	Crasher interface {
		Crash(node int) error
		Restart(node int) error
	}

	// A PowerLoser takes the power from a node and starts it again. What was
	// not synced to its disk is gone. It strikes one node at a time, and a log
	// has this method only if it promises to survive that.
	PowerLoser interface {
		LosePower(node int) error
		Restart(node int) error
	}

	// An Isolator cuts a node off from the other nodes, and ends that.
	Isolator interface {
		Isolate(node int) error
		Reconnect(node int) error
	}

	// A Pauser stops a node where it stands, as a garbage collection does, and
	// lets it go on.
	Pauser interface {
		Pause(node int) error
		Resume(node int) error
	}

	// An EndTeller knows the end of the log: the offset behind the last record
	// that clients may read.
	EndTeller interface {
		End(ctx context.Context, client string) (int64, error)
	}

	// A Partitioned log has several partitions, numbered from 0. The log
	// itself is not asked for records, and the faults are those of all.
	Partitioned interface {
		Partitions() int
		Partition(n int) Log
	}

	// A Settler waits, once all faults have ended, until the log has recovered
	// and everything acknowledged can be read. A log that does not have the
	// method waits in Read, or answers with errors for no longer than
	// ten times [Options.Timeout], or needs no time.
	Settler interface {
		Settle(ctx context.Context) error
	}
)
