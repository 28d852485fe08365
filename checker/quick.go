package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// The quick judge proves most of a history legal in one pass over its
// operations and a few over the offsets of the log, with a few dozen bytes an
// offset and nothing an operation. It holds no operation, so it can judge a
// history while it is read.
//
// What it accepts, the rules and the engines accept. What looks wrong to it, or
// is rare, it suspects: it notes the offsets, values and operations concerned,
// and the rules and the engines judge those alone (see section). Suspecting too
// much costs time and no more, so it may be simple. What cannot be told apart by
// offsets (transactions, say) it gives up on, and the whole history is judged.
//
// It is the linear engine: slots take the bounds on each send's instant as
// answers arrive, in any order.
type quick struct {
	config  histories.Config
	reads   model.Reads
	acksAll bool // the default of sends
	ordered bool // one producer's sends keep their order
	other   bool // system=other
	dense   bool // every offset holds a record
	tight   bool // and a known send explains it
	strict  bool // give up rather than suspect

	compacted bool

	gaveUp     bool
	rebalanced bool // a rebalance makes positions known that were not judged so far
	partitions map[string]*quickLog
	order      []*quickLog
	last       *quickLog // used last
	tracker    *tracker
	below      int64 // offsets below log starts
	exercised  Exercised
	polls      int
	ops        map[int]bool // operations that are suspect by themselves
	confessed  []histories.Mark
}

// A quickLog is one partition.
type quickLog struct {
	name      string
	first     int // index of its first operation
	slots     slotTable
	values    int64   // sent so far
	batch     int64   // the largest, at least 1
	floats    []float // sends that may or may not have taken effect
	clients   perProcess[consumer]
	holes     []hole // long ones
	keys      *keys  // where the log is compacted
	limit     int64  // nothing is known at or behind this offset
	scanned   bool
	scans     []scanEnd // the ends that complete scans told
	scanFrom  int64     // the highest offset at which a scan began
	start     int64     // the highest log start told
	startTold bool      // that any was
	lastTold  int64     // when the last operation that told one was called

	unexplained   []int64 // offsets that must hold something and that nobody read
	filling       bool    // they are suspect, with what could fill them
	suspect       bool
	suspectValues map[histories.Value]bool
	doubts        []histories.Record // values at offsets that are said to hold something else
}

// A float is a batch of unknown outcome.
type float struct {
	values  []histories.Value
	read    []histories.Value // of them, once it is placed
	call    int64
	offset  int64 // where it would be, None if nobody was told
	key     int32
	index   int32
	next    int32 // of the floats with the same value, the one called next, -1 if there is none
	placed  bool
	ordered bool // it counts among its producer's sends if it is where it was told
}

// A consumer is what is known of one process in one partition.
type consumer struct {
	told   int64 // the highest end it was told by ListOffsets
	toldBy int   // by the operation with that index
	sends  []sentTo
}

// A sentTo is where a producer was told that its send is.
type sentTo struct {
	index  int
	offset int64
}

func newQuick(c histories.Config, rebalances bool) *quick {
	q := &quick{config: c, reads: model.ReadsOf(c), acksAll: c.Get("acks") == "all",
		ordered:    c.Get(idemKey) == "true" || c.Get("max.in.flight.requests.per.connection") == "1",
		other:      c.Get("system") == "other",
		dense:      c.Get("offsets") == "dense",
		tracker:    newTracker(c, rebalances),
		partitions: map[string]*quickLog{}, ops: map[int]bool{}}
	q.tight = q.dense && retries(c) == "" && allowedByName(c, duplicate) == ""
	q.compacted = c.Get("cleanup.policy") == "compact"
	q.gaveUp = q.compacted && q.dense
	return q
}

// mark takes note of something beside the operations.
func (q *quick) mark(m *histories.Mark) {
	if Confesses(m) {
		q.gaveUp = q.gaveUp || q.strict
		q.confessed = append(q.confessed, *m)
		return
	}
	if m.Kind == histories.Nemesis {
		q.exercised.Faults++
	}
	if isRebalance(m) && !q.tracker.judged {
		q.gaveUp, q.rebalanced = true, true
	}
	q.tracker.mark(m)
}

// op takes note of a complete operation of the process with that number. One
// process's operations come in the order of its calls, except that pipelined
// sends come in any.
func (q *quick) op(o *histories.Op, process int) {
	q.exercised.Operations++
	l := q.log(o.On)
	l.first = min(l.first, o.Index)
	ok := o.Outcome == histories.OK
	if o.Tx != "" || o.Kind >= histories.Begin {
		q.gaveUp = true
		return
	}
	q.tellStart(l, o)
	switch o.Kind {
	case histories.Send:
		q.send(l, o, process)
	case histories.List:
		if ok {
			q.list(l, o, process)
		}
	case histories.Fetch, histories.Poll, histories.Scan:
		q.read(l, o, process)
	case histories.DeleteRecords:
	default:
		q.tracker.op(o, process)
	}
}

func (q *quick) log(name string) *quickLog {
	if q.last != nil && q.last.name == name {
		return q.last
	}
	l := q.partitions[name]
	if l == nil {
		l = &quickLog{name: name, first: math.MaxInt, batch: 1, lastTold: histories.None, suspectValues: map[histories.Value]bool{}}
		if q.compacted {
			l.keys = newKeys()
		}
		q.partitions[name] = l
		q.order = append(q.order, l)
	}
	q.last = l
	return l
}

func (l *quickLog) client(process int) *consumer { return l.clients.at(process) }

// reach makes room for the offsets below end. Offsets far beyond each other and
// what was sent are no log this judge knows.
func (q *quick) reach(l *quickLog, end int64) bool {
	if end <= l.slots.len {
		return true
	}
	if end > l.start+1<<12+1<<10*l.values || l.slots.used > 1<<10+2*int(l.values) {
		q.gaveUp = true
		return false
	}
	l.slots.grow(end)
	return true
}

func (q *quick) send(l *quickLog, o *histories.Op, process int) {
	q.exercised.Sends++
	n := int64(len(o.Values))
	q.exercised.Values += int(n)
	l.values += n
	l.batch = max(l.batch, n)
	all := o.Acks == "all" || o.Acks == "" && q.acksAll
	switch {
	case o.Outcome == histories.Fail:
		if l.keys != nil {
			l.keys.refused = append(l.keys.refused, o.Values...)
		}
		return
	case o.Outcome != histories.OK || !all:
		f := float{values: slices.Clone(o.Values), call: o.Call, offset: o.Offset, key: l.keys.id(o.Key), index: int32(o.Index), ordered: q.ordered && o.Outcome == histories.OK}
		if l.floats = append(l.floats, f); f.ordered {
			q.gaveUp = q.gaveUp || o.Offset == histories.None
			q.inOrder(l, l.client(process), sentTo{o.Index, o.Offset})
		}
		return
	}
	q.exercised.Acknowledged++
	if o.Offset == histories.None {
		q.gaveUp = true
		return
	}
	if !q.reach(l, o.Offset+n) {
		return
	}
	if q.ordered {
		q.inOrder(l, l.client(process), sentTo{o.Index, o.Offset})
	}
	for i, v := range o.Values {
		offset := o.Offset + int64(i)
		s := l.slots.at(offset)
		if !q.put(s, v, o.Call, i > 0, int32(o.Index)) {
			q.doubt(l, offset, v)
			s.call = max(s.call, o.Call)
		}
		s.deadline = min(s.deadline, o.Return)
	}
	l.limit = max(l.limit, o.Offset+n)
	l.setKeys(l.keys.id(o.Key), o.Offset, n)
}

// pipeline is how many sends of one producer may be under way for their order
// to be known.
const pipeline = 64

// inOrder compares where a producer's send is with its other sends. Of
// pipelined ones the completions may come in any order.
func (q *quick) inOrder(l *quickLog, c *consumer, s sentTo) {
	i := len(c.sends)
	for i > 0 && c.sends[i-1].index > s.index {
		i--
	}
	if i == 0 && len(c.sends) == pipeline {
		q.gaveUp = true
		return
	}
	// Whatever is between the two offsets has to do with it.
	if i > 0 && c.sends[i-1].offset > s.offset {
		q.suspectRange(l, s.offset, c.sends[i-1].offset+1)
		s.offset = c.sends[i-1].offset
	}
	for j := i; j < len(c.sends) && c.sends[j].offset < s.offset; j++ {
		q.suspectRange(l, c.sends[j].offset, s.offset+1)
		c.sends[j].offset = s.offset
	}
	if len(c.sends) == pipeline {
		copy(c.sends, c.sends[1:i])
		c.sends[i-1] = s
		return
	}
	c.sends = slices.Insert(c.sends, i, s)
}

// put places a send's record. It reports false if something else is there.
func (q *quick) put(s *slot, v histories.Value, call int64, follows bool, index int32) bool {
	if s.flags&slotSent != 0 || s.flags&slotHeld != 0 && s.value != v {
		return false
	}
	s.value, s.index = v, index
	s.call = max(s.call, call)
	s.flags |= slotHeld | slotSent
	if follows {
		s.flags |= slotFollows
	}
	return true
}

func (q *quick) list(l *quickLog, o *histories.Op, process int) {
	q.exercised.Reads++
	if o.At != "latest" {
		return
	}
	c := l.client(process)
	switch {
	case q.other && q.reads == model.Committed:
		q.gaveUp = true
	case o.Offset < c.told:
		q.suspectOps(c.toldBy, o.Index)
		l.suspect = true
	default:
		c.told, c.toldBy = o.Offset, o.Index
	}
	q.end(l, o, o.Offset, q.reads == model.Linearizable)
}

// mostBelow is how many offsets below log starts there is room for, in all
// partitions.
const mostBelow = 1 << 27

// tellStart takes note of a log start that may have been reached, and of one that
// was told: a log ends no earlier than it starts.
func (q *quick) tellStart(l *quickLog, o *histories.Op) {
	start, told := startTold(o), answered(o)
	if start != histories.None {
		q.below += max(0, start-l.start)
		l.start, l.startTold = max(l.start, start), true
		q.gaveUp = q.gaveUp || q.below > mostBelow
	}
	if told != histories.None {
		l.lastTold = max(l.lastTold, o.Call)
		q.end(l, o, told, false)
	}
}

// end takes note of an end that was told.
func (q *quick) end(l *quickLog, o *histories.Op, end int64, exact bool) {
	if end > 0 && q.reach(l, end) {
		s := l.slots.at(end - 1)
		s.deadline = min(s.deadline, o.Return)
	}
	if l.limit = max(l.limit, end); exact {
		q.endsBefore(l, o, end, slotBoundary)
	}
}

// endsBefore takes note that no record at or behind an offset was there at the
// read's instant. Behind the last offset of 64 bits none ever is.
func (q *quick) endsBefore(l *quickLog, o *histories.Op, offset int64, flag uint8) {
	if offset < math.MaxInt64 && q.reach(l, offset+1) {
		s := l.slots.at(offset)
		s.call = max(s.call, o.Call)
		s.flags |= flag
	}
}

func (q *quick) read(l *quickLog, o *histories.Op, process int) {
	from, setBy, floor := q.tracker.op(o, process)
	sure := from != atStart && o.Kind == histories.Poll // a consumer does not jump over what is deleted
	if from == atStart {
		from = 0
	}
	if o.Kind == histories.Poll {
		q.polls++
	}
	if o.Outcome != histories.OK {
		q.gaveUp = q.gaveUp || model.Refuted(o)
		return
	}
	q.exercised.Reads++
	q.exercised.Records += len(o.Records)
	if floor != histories.None {
		q.suspectOps(setBy, o.Index)
		l.suspect = true
	}
	mark, exact := o.HW, q.reads == model.Linearizable
	switch o.Kind {
	case histories.Fetch:
		from = o.From
	case histories.Scan:
		from, mark, exact = q.scan(l, o), o.End, true
	}
	if exact && mark != histories.None && mark < o.Start {
		q.suspectOps(o.Index)
		q.suspectRange(l, mark, o.Start)
	}
	if len(o.Records) == 0 {
		q.empty(l, o, from, mark, exact)
		return
	}
	first, last, ok := q.records(l, o, from, sure)
	if !ok {
		return
	}
	if mark != histories.None && last >= mark || o.LSO != histories.None && last >= o.LSO {
		q.suspectOps(o.Index)
		q.suspectRange(l, first, last+1)
	}
	if o.Kind == histories.Scan && mark > last+1 {
		q.pass(l, last+1, mark, slotPassed)
	}
	if mark != histories.None {
		q.end(l, o, mark, exact)
	}
}

// A scanEnd is where a complete scan says that the log ended, and when it began.
type scanEnd struct{ end, call int64 }

// scan takes note of a complete scan and returns where it began.
func (q *quick) scan(l *quickLog, o *histories.Op) int64 {
	q.exercised.Scans++
	l.scanned = true
	if o.End != histories.None {
		l.scans = append(l.scans, scanEnd{o.End, o.Call})
	}
	switch {
	case q.dense:
		return 0
	case len(o.Records) > 0:
		from := lowest(o.Records)
		l.scanFrom = max(l.scanFrom, from)
		return from
	}
	l.scanFrom = max(l.scanFrom, o.End)
	return histories.None
}

// records takes note of an answer's records and of what it passes over: before the
// first of them for sure, or unless that was deleted. It returns the first and the
// last offset that it holds.
func (q *quick) records(l *quickLog, o *histories.Op, from int64, sure bool) (first, last int64, ok bool) {
	first, last = o.Records[0].Offset, o.Records[len(o.Records)-1].Offset
	if !q.reach(l, max(first, last)+1) {
		return first, last, false
	}
	next := first
	if flag := uint8(slotBefore); from != histories.None && from < first {
		if sure {
			flag = slotPassed
		}
		q.pass(l, from, first, flag)
	}
	for i := range o.Records {
		r := &o.Records[i]
		if r.Offset < next || r.Offset > last {
			return q.unsorted(l, o, from)
		}
		if r.Offset > next {
			q.pass(l, next, r.Offset, slotPassed)
		}
		q.hold(l, r)
		next = r.Offset + 1
	}
	s := l.slots.at(last)
	s.deadline = min(s.deadline, o.Return)
	l.limit = max(l.limit, last+1)
	return first, last, true
}

// hold takes note of a record that somebody read.
func (q *quick) hold(l *quickLog, r *histories.Record) {
	s := l.slots.at(r.Offset)
	if s.flags&slotHeld == 0 {
		s.value = r.Value
	} else if s.value != r.Value {
		q.doubt(l, r.Offset, r.Value)
	}
	s.flags |= slotHeld | slotSeen
}

// unsorted takes note of an answer whose records are in no order.
func (q *quick) unsorted(l *quickLog, o *histories.Op, from int64) (first, last int64, ok bool) {
	first, last = o.Records[0].Offset, o.Records[0].Offset
	for _, r := range o.Records {
		first, last = min(first, r.Offset), max(last, r.Offset)
	}
	if !q.reach(l, last+1) {
		return first, last, false
	}
	for i := range o.Records {
		q.hold(l, &o.Records[i])
		s := l.slots.at(o.Records[i].Offset)
		s.deadline = min(s.deadline, o.Return)
	}
	if l.limit = max(l.limit, last+1); from != histories.None {
		first = min(first, from)
	}
	q.suspectOps(o.Index)
	q.suspectRange(l, first, last+1)
	return first, last, true
}

// longHole is how many offsets are noted one by one when an answer passes over
// them.
const longHole = 64

// A hole is offsets at which an answer that speaks for them has nothing.
type hole struct {
	model.Span
	flag uint8
}

// pass takes note that an answer that speaks for these offsets has nothing there.
func (q *quick) pass(l *quickLog, from, to int64, flag uint8) {
	if to-from > longHole {
		l.holes = append(l.holes, hole{model.Span{From: from, To: to}, flag})
		return
	}
	if q.reach(l, to) {
		for o := from; o < to; o++ {
			l.slots.at(o).flags |= flag
		}
	}
}

// empty takes note of an answer without records.
func (q *quick) empty(l *quickLog, o *histories.Op, from, mark int64, exact bool) {
	if mark != histories.None {
		q.end(l, o, mark, exact)
	}
	switch {
	case o.Kind == histories.Scan:
		if from != histories.None && mark > from {
			q.pass(l, from, mark, slotBefore)
		}
	case exact && from != histories.None && mark > from:
		q.pass(l, from, mark, slotBefore)
	case exact && from != histories.None:
		if q.endsBefore(l, o, from, 0); o.Start > 0 && q.reach(l, o.Start+1) {
			l.slots.at(o.Start).flags |= slotBoundary // of a batch across it all or nothing was there
		}
	}
}
