// Package model is the sequential truth: one partition of a replicated log as
// an append-only sequence of committed records, and what each answer a client
// got says about it.
//
// A partition is an object of its own, so histories are judged partition by
// partition (P-compositionality; Herlihy and Wing, Linearizability, 1990).
//
// Committed records never move and never change. So what reads and
// acknowledgements say about values holds at every time: an offset has one
// value for ever, or the history is impossible. [Compile] settles that part
// once, before any search. What is left for the search is time alone: when did
// the end of the log pass each offset. That is why a [State] is a few
// integers, whatever the length of the log.
package model

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// Reads is what a read promises (see "What reads promise" in the history
// format).
type Reads uint8

const (
	// Committed reads return a correct, possibly short and possibly stale
	// piece of the committed log.
	Committed Reads = iota
	// Linearizable reads are exact at one instant between call and return.
	Linearizable
)

// ReadsOf returns the promise a header states.
func ReadsOf(c histories.Config) Reads {
	if c.Get("reads") == "linearizable" {
		return Linearizable
	}
	return Committed
}

// A Kind is what an operation does to the log: it appends or it reads.
type Kind uint8

// The kinds of operations the model knows. Everything a client does that says
// nothing about the log has none; no client does a Stretch: it stands for
// appends that are certain.
const (
	Append Kind = iota
	Read
	Stretch
)

// An Op is one client operation reduced to what it says about the log.
// Numbers that are not stated are [histories.None].
type Op struct {
	Kind         Kind
	Source       *histories.Op // for descriptions
	Call, Return int64         // Return is None where the client never knew

	// Append.
	Must   bool              // acknowledged by all of the ISR: it took effect in its interval
	Values []histories.Value // the batch
	Offset int64             // where the first record is, if it took effect
	Twins  int               // sends of unknown outcome that may change places without anybody noticing have the same number; 0 has none
	Before int               // how many of them go first

	// Stretch, from Offset.
	To int64 // the end behind it

	// Read.
	Records []histories.Record // committed records, in order of offsets
	First   int64              // the lowest offset of all records the answer had
	Empty   []Span             // offsets below the last record (or the end) that held nothing
	Low     int64              // the end had reached Low
	Exact   int64              // the end was exactly that
	Most    int64              // the end had not passed Most
	Beyond  int64              // no record was at or behind that offset
}

// uncertain reports whether the operation is a send that may have no effect.
func (op *Op) uncertain() bool { return op.Kind == Append && !op.Must }

// A Span is the offsets From <= offset < To.
type Span struct{ From, To int64 }

// newOp returns an operation that says nothing yet.
func newOp(kind Kind, o *histories.Op) Op {
	return Op{Kind: kind, Source: o, Call: o.Call, Return: o.Return, Offset: histories.None,
		To: histories.None, First: histories.None, Low: histories.None, Exact: histories.None, Most: histories.None, Beyond: histories.None}
}

// Uncertain returns a send of these values, called when another was, that may
// take effect at any later instant or never.
func Uncertain(o *histories.Op, values ...histories.Value) Op {
	op := newOp(Append, o)
	op.Return, op.Values = histories.None, values
	return op
}

// Translate reduces an operation to what it says about the log. It reports
// false for an operation that says nothing: a refused send, a failed read, a
// change of position.
//
// position is the offset at which the read was asked to begin, if it is known:
// records between it and the first one returned would have been returned too.
func Translate(o *histories.Op, c histories.Config, position int64) (Op, bool) {
	op := newOp(Read, o)
	switch {
	case o.Kind == histories.Send && o.Outcome != histories.Fail:
		op.Kind, op.Values, op.Offset = Append, o.Values, o.Offset
		op.Must = o.Outcome == histories.OK && AcksOf(o, c) == "all"
		if !op.Must {
			op.Return = histories.None
		}
		return op, true
	case o.Kind == histories.List && o.Outcome == histories.OK && o.At == "latest":
		op.tellEnd(o.Offset, ReadsOf(c))
		return op, true
	case o.Outcome == histories.OK && (o.Kind == histories.List && o.At == "earliest" || o.Kind == histories.DeleteRecords):
		op.Low = max(o.Start, 0) // a log ends no earlier than it starts
		if o.Kind == histories.List {
			op.Low = o.Offset
		}
		return op, true
	case Refuted(o):
		op.Exact = 0
		return op, true
	case o.IsRead() && o.Outcome == histories.OK:
		if op.Records = inOrder(o.Records); len(op.Records) > 0 {
			op.First = op.Records[0].Offset
		}
		op.Empty = holes(o, op.Records, position)
		op.tellEnd(o.HW, ReadsOf(c))
		op.Low = max(op.Low, o.Start)
		if o.Kind == histories.Scan {
			op.Exact = o.End
		}
		if len(o.Records) == 0 && ReadsOf(c) == Linearizable && o.Kind != histories.Scan && position != histories.None {
			op.tellEmpty(position)
		}
		return op, true
	}
	return Op{}, false
}

// AcksOf returns the acknowledgement a send asked for.
func AcksOf(o *histories.Op, c histories.Config) string {
	if o.Acks != "" {
		return o.Acks
	}
	return c.Get("acks")
}

// Refuted reports whether the operation is a scan that was definitely refused
// because the log does not exist. After all faults are healed that is an empty
// log.
func Refuted(o *histories.Op) bool {
	if o.Kind != histories.Scan || o.Outcome != histories.Fail {
		return false
	}
	switch o.Code {
	case "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "NO_SUCH_STREAM":
		return true
	}
	return false
}

// tellEnd records an end that was told to a client. A mark is never ahead of
// the log; how far it may be behind is what the promise says.
func (op *Op) tellEnd(end int64, reads Reads) {
	if reads == Linearizable {
		op.Exact = end
		return
	}
	op.Low = end
}

// tellEmpty records that nothing was at or behind an offset. What the end had
// passed by then stays empty, and where the end is known that is all.
func (op *Op) tellEmpty(offset int64) {
	if end := max(op.Exact, op.Low); offset < end {
		op.Empty = append(op.Empty, Span{offset, end})
	}
	if op.Exact == histories.None {
		op.Beyond = offset
	}
}

// Reached is the end that the log had come to by what a read says: by the end that was
// told and by its records. It is None if it says nothing of that.
func (op *Op) Reached() int64 {
	reached := max(op.Low, op.Exact)
	for _, r := range op.Records {
		reached = max(reached, r.Offset+1)
	}
	return reached
}

// holes returns the offsets that an answer passed over: those behind the asked
// position (or the first record) and before the last record or the scan's end. One
// that speaks for more than that says up to where in To; none in a file does.
func holes(o *histories.Op, records []histories.Record, position int64) []Span {
	var spans []Span
	next := position
	add := func(to int64) {
		if next != histories.None && next < to {
			spans = append(spans, Span{next, to})
		}
	}
	for _, r := range records {
		add(r.Offset)
		next = max(next, r.Offset+1)
	}
	if o.Kind == histories.Scan && o.End != histories.None {
		add(o.End)
	}
	add(o.To)
	return spans
}

// inOrder returns records in the order of their offsets. An answer in another
// order breaks what its client was promised, and says the same about the log.
func inOrder(records []histories.Record) []histories.Record {
	byOffset := func(a, b histories.Record) int { return cmp.Compare(a.Offset, b.Offset) }
	if !slices.IsSortedFunc(records, byOffset) {
		records = slices.Clone(records)
		slices.SortStableFunc(records, byOffset)
	}
	return records
}
