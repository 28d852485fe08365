// Package histories holds what the clients of a replicated log observed: who
// asked what, when, and what came back, together with the faults and the
// client-side events that explain it.
//
// A history has two encodings with the same content. The notation (.hist, one
// whole operation a line) is for people; the events (.jsonl, one invocation or
// completion a line) are for machines. [Parse] and [Read] recognise either by
// its content. A [History] is well formed by construction: whatever made it,
// it has passed the same validation, so a checker never meets an operation
// that returned before it was called.
package histories

import (
	"slices"
	"strings"
)

// A Kind is what a client asked for.
type Kind uint8

// The kinds of operations, in the vocabulary of Kafka and of Jepsen's Kafka
// workload.
const (
	Send          Kind = iota // append one atomic batch
	Fetch                     // one raw response at an explicit position
	Poll                      // what a consumer was handed from its own position
	Scan                      // the whole log after all faults are healed; complete by definition
	List                      // ListOffsets
	Assign                    // sets a consumer's position
	Subscribe                 // joins a group; the position comes from a rebalance
	Seek                      // moves a consumer's position
	CommitOffset              // consumer group offset
	DeleteRecords             // moves the log start
	Begin                     // begins a transaction
	Commit                    // commits a transaction
	Abort                     // aborts a transaction
)

var kindNames = [...]string{"send", "fetch", "poll", "scan", "list", "assign", "subscribe", "seek",
	"commit-offset", "delete-records", "begin", "commit", "abort"}

func (k Kind) String() string { return kindNames[k] }

// ParseKind returns the kind with that name in the format.
func ParseKind(name string) (Kind, bool) {
	i := slices.Index(kindNames[:], name)
	return Kind(max(i, 0)), i >= 0
}

// An Outcome is what a client knows about its operation.
type Outcome uint8

// The outcomes. Open is not an answer: the client was still waiting when the
// history ended, which is as good as [Info].
const (
	Open Outcome = iota // never completed
	OK                  // it happened, with the given result
	Fail                // it certainly did not happen and never will
	Info                // nobody knows: it may have happened, may still happen later, or never
)

var outcomeNames = [...]string{"open", "ok", "fail", "info"}

func (o Outcome) String() string { return outcomeNames[o] }

// None stands for a number the history does not state: no offset was told, no
// mark was reported. Offsets and times are never negative.
const None int64 = -1

// A Record is one message at its offset.
type Record struct {
	Offset int64
	Value  Value
}

// An Op is one operation on one partition and what its client learned.
//
// Fields that an operation's kind does not use are zero, or [None] for numbers. Those
// that most operations have come first, for whoever goes through millions.
type Op struct {
	// What happened, when, and how it ended.
	Kind      Kind
	Outcome   Outcome
	plain     bool  // see Plain
	process   int32 // see ProcessNumber
	partition int32 // see PartitionNumber
	Call      int64 // time of the invocation
	Return    int64 // time of the completion; None while Open
	Index     int   // place among all operations and marks, by time of invocation

	// What was asked and what came back most often.
	Offset  int64    // Send: offset of the batch's first record; List: the answer
	HW      int64    // high watermark reported with the answer (exclusive)
	Start   int64    // log start reported with the answer
	LSO     int64    // last stable offset reported with the answer (exclusive)
	From    int64    // Fetch, Assign: the position asked for
	Values  []Value  // Send: the batch
	Records []Record // Fetch, Poll, Scan

	// Who, where, and what is stated less often.
	Process string // who asked
	On      string // topic/partition, "t/0" unless the history says otherwise
	At      string // List: "latest", "earliest" or "ts"
	Acks    string // Send: "all", "1", "0", or "" for the history's default
	Tx      string // transaction, "" for none
	Code    string // error code, Kafka's protocol name where there is one
	Key     string // Send: the records' key as it is written in the notation, "" for none
	Max     int64  // Fetch: at most so many records
	TS      int64  // Send: the record's timestamp; List ts: the timestamp looked up
	To      int64  // Seek, CommitOffset, DeleteRecords: the offset in the request
	End     int64  // Scan: the end of the log (exclusive)

	Line       int // line of the invocation in the file, 0 if there is none
	ReturnLine int // line of the completion; equals Line in the notation
}

// NewOp returns an operation of that kind with every number not stated, on
// partition t/0.
func NewOp(process string, kind Kind) Op {
	return Op{Process: process, Kind: kind, On: DefaultPartition, Return: None, From: None, Max: None,
		TS: None, To: None, Offset: None, HW: None, LSO: None, Start: None, End: None}
}

// DefaultPartition is the partition of operations that do not name one.
const DefaultPartition = "t/0"

// ProcessNumber is the number of the operation's process among those of its
// history, from 0, in the order in which they are first named. It is 0 until the
// operation is part of one.
func (o *Op) ProcessNumber() int { return int(o.process) }

// PartitionNumber is that of the operation's partition, likewise.
func (o *Op) PartitionNumber() int { return int(o.partition) }

// Plain reports whether the operation is part of a history and, as most of a large
// one are, a send, a fetch or a list latest that completed with ok and of which
// neither acks nor a key, a transaction or an error code is stated.
func (o *Op) Plain() bool { return o.plain }

// IsRead reports whether the operation answers with records.
func (o *Op) IsRead() bool { return o.Kind == Fetch || o.Kind == Poll || o.Kind == Scan }

// A MarkKind says what a mark is.
type MarkKind uint8

// The marks. All but Nemesis and Note are client-side events that explain why
// a consumer's position jumps.
const (
	Nemesis  MarkKind = iota // a fault or its end, in words
	Reset                    // an out-of-range or client-side reset of the position
	Revoked                  // a rebalance took the partition away
	Assigned                 // a rebalance assigned the partition at an offset
	Crash                    // the consumer's state is gone
	Note                     // for people; explains nothing to the checker
)

var markNames = [...]string{"nemesis", "reset", "revoked", "assigned", "crash", "note"}

func (k MarkKind) String() string { return markNames[k] }

// A Mark is something that happened beside the operations.
type Mark struct {
	Time    int64
	Kind    MarkKind
	Process string // the client; "" for Nemesis
	On      string // the partition, or "" for every partition of the client
	To      string // Reset: "latest", "earliest", or "" for an offset
	Offset  int64  // Reset to an offset, Assigned; None otherwise
	Text    string // Nemesis, Note

	Index int // place among all operations and marks, by time
	Line  int // line in the file, 0 if there is none
}

// EndOf begins the text of a nemesis mark that says that a fault is over. The
// rest is that of the mark with which the fault began.
const EndOf = "end of "

// Ends returns the fault that a mark says is over.
func (m *Mark) Ends() (fault string, ok bool) {
	fault, ok = strings.CutPrefix(m.Text, EndOf)
	return fault, ok && m.Kind == Nemesis
}

// A Header says how the system and its clients were configured, what verdict
// the file documents, and where it came from.
type Header struct {
	Config   Config
	Expect   Expect
	Note     string // provenance, in words; may have several lines
	Schedule string // the schedule that caused the history, as whole lines of text; "" if there is none

	layout       []string // order of header lines and comments, nil for the canonical order
	scheduleLine int      // see ScheduleLine
}

// ScheduleLine is the line of the file on which the first line of the schedule
// stands; 0 if it does not stand in lines of its own, as in events.
func (h *Header) ScheduleLine() int { return h.scheduleLine }

// A History is complete, well formed and immutable. It is safe to share.
type History struct {
	name     string
	header   Header
	ops      []Op
	marks    []Mark
	comments []comment
}

// A comment is a whole line of commentary (or a blank line) before the item
// with that index.
type comment struct {
	index int
	text  string
}

// Name is the file the history was read from, or what its maker called it.
func (h *History) Name() string { return h.name }

// Header returns the header.
func (h *History) Header() Header { return h.header }

// Config returns the settings stated in the header.
func (h *History) Config() Config { return h.header.Config }

// Ops returns the operations in order of their invocation. The caller must not
// modify them.
func (h *History) Ops() []Op { return h.ops }

// Marks returns nemesis and client events in order of time. The caller must
// not modify them.
func (h *History) Marks() []Mark { return h.marks }
