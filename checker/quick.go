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
	exact   bool // reads are linearizable
	acksAll bool // the default of sends
	ordered bool // one producer's sends keep their order
	other   bool // system=other
	dense   bool // every offset holds a record
	tight   bool // and a known send explains it
	strict  bool // give up rather than suspect

	pipeline int // how many sends of one producer may be under way for their order to be known

	compacted bool

	ending     ending
	stake      stake
	gaveUp     bool
	rebalanced bool // a rebalance makes positions known that were not judged so far
	partitions map[string]*quickLog
	order      []*quickLog
	pieces     pieceMaker
	numbered   []*quickLog // those of known partitions of a history in memory, by their numbers

	last      *quickLog // used last
	tracker   *tracker
	below     int64 // offsets below log starts
	exercised Exercised
	polls     int
	ops       map[int]bool // operations that are suspect by themselves
	confessed []histories.Mark
}

// A quickLog is one partition.
type quickLog struct {
	name      string
	first     int // index of its first operation
	slots     slotTable
	values    int64   // sent so far
	called    int64   // when the first send was that may have happened
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
	displaced     []displaced
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
	told   int64    // the highest end it was told by ListOffsets
	toldBy int      // by the operation with that index
	sends  []sentTo // the last ones, of which the last pipeline count
}

// A sentTo is where a producer was told that its send is.
type sentTo struct {
	index  int
	offset int64
}

func newQuick(c histories.Config, rebalances bool) *quick {
	q := &quick{config: c, exact: model.ReadsOf(c) == model.Linearizable, acksAll: c.Get("acks") == "all",
		ordered:    c.Get(idemKey) == "true" || c.Get("max.in.flight.requests.per.connection") == "1",
		other:      c.Get("system") == "other",
		dense:      c.Get("offsets") == "dense",
		tracker:    newTracker(c, rebalances),
		pipeline:   mostPipelined,
		ending:     endingOf(c),
		partitions: map[string]*quickLog{}, ops: map[int]bool{}}
	q.tight = q.dense && !mayRepeat(c)
	q.compacted = c.Get("cleanup.policy") == "compact"
	q.gaveUp = q.compacted && q.dense
	return q
}

// mark takes note of something beside the operations.
func (q *quick) mark(m *histories.Mark) {
	q.ending.mark(m)
	if Confesses(m) {
		q.gaveUp = q.gaveUp || q.strict
		q.confessed = append(q.confessed, *m)
		return
	}
	if isFault(m) {
		q.exercised.Faults++
	}
	if isRebalance(m) && !q.tracker.judged {
		q.gaveUp, q.rebalanced = true, true
	}
	q.tracker.mark(m)
	q.gaveUp = q.gaveUp || q.tracker.late
}

// op takes note of a complete operation of the process with that number. One
// process's operations come in the order of its calls, except that pipelined
// sends come in any.
func (q *quick) op(o *histories.Op, process int) {
	q.exercised.Operations++
	q.stake.op(o)
	l := q.log(o.On)
	l.first = min(l.first, o.Index)
	ok := o.Outcome == histories.OK
	if o.Tx != "" || o.Kind >= histories.Begin {
		q.gaveUp = true
		return
	}
	if o.Start != histories.None || o.Kind == histories.List && o.At == "earliest" || o.Kind == histories.DeleteRecords {
		q.tellStart(l, o)
	}
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
		q.follow(o, process)
	}
}

// follow asks where an operation leaves its consumer.
func (q *quick) follow(o *histories.Op, process int) step {
	s := q.tracker.op(o, process)
	q.gaveUp = q.gaveUp || q.tracker.late
	return s
}

func (q *quick) log(name string) *quickLog {
	if q.last != nil && q.last.name == name {
		return q.last
	}
	l := q.partitions[name]
	if l == nil {
		l = &quickLog{name: name, first: math.MaxInt, called: math.MaxInt64, batch: 1, lastTold: histories.None, suspectValues: map[histories.Value]bool{}}
		l.slots.from = &q.pieces
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
	if end <= l.slots.len() {
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
	switch {
	case o.Outcome == histories.Fail:
		if l.keys != nil {
			l.keys.refused = append(l.keys.refused, o.Values...)
		}
		return
	case !q.acknowledged(o):
		l.called = min(l.called, o.Call)
		f := float{values: slices.Clone(o.Values), call: o.Call, offset: o.Offset, key: l.keys.id(o.Key), index: int32(o.Index), ordered: q.ordered && o.Outcome == histories.OK}
		if l.floats = append(l.floats, f); f.ordered {
			q.gaveUp = q.gaveUp || o.Offset == histories.None
			q.inOrder(l, l.client(process), sentTo{o.Index, o.Offset})
		}
		return
	}
	q.exercised.Acknowledged++
	l.called = min(l.called, o.Call)
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
		p, at := l.slots.at(offset)
		if !p.put(at, v, o.Call, i > 0, int32(o.Index)) {
			q.doubt(l, offset, v)
			l.displaced = append(l.displaced, displaced{v, sendBounds{o.Call, o.Return, offset, offset}})
			p.call[at] = max(p.call[at], o.Call)
		}
		p.deadline[at] = min(p.deadline[at], o.Return)
	}
	l.limit = max(l.limit, o.Offset+n)
	l.setKeys(l.keys.id(o.Key), o.Offset, n)
}

// mostPipelined is how many sends of one producer may be under way where they are
// told as they are completed.
const mostPipelined = 64

// inOrder compares where a producer's send is with its other sends. Of
// pipelined ones the completions may come in any order.
func (q *quick) inOrder(l *quickLog, c *consumer, s sentTo) {
	if q.pipeline == 1 && len(c.sends) == 1 && c.sends[0].index < s.index && c.sends[0].offset <= s.offset {
		c.sends[0] = s
		return
	}
	if len(c.sends) == 2*q.pipeline {
		c.sends = c.sends[:copy(c.sends, c.sends[q.pipeline:])]
	}
	i, first := len(c.sends), max(0, len(c.sends)-q.pipeline)
	for i > first && c.sends[i-1].index > s.index {
		i--
	}
	if i == first && len(c.sends) >= q.pipeline {
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
	if i == len(c.sends) {
		c.sends = append(c.sends, s)
		return
	}
	c.sends = slices.Insert(c.sends, i, s)
}

// put places a send's record. It reports false if something else is there.
func (p *piece) put(i int, v histories.Value, call int64, follows bool, index int32) bool {
	if p.sent.has(i) || p.held.has(i) && !p.is(i, v) {
		return false
	}
	p.set(i, v)
	p.index[i] = index
	p.call[i] = max(p.call[i], call)
	p.held.add(i)
	p.sent.add(i)
	if follows {
		p.follows.add(i)
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
	case q.other && !q.exact:
		q.gaveUp = true
	case o.Offset < c.told:
		q.suspectOps(c.toldBy, o.Index)
		l.suspect = true
	default:
		c.told, c.toldBy = o.Offset, o.Index
	}
	q.end(l, o, o.Offset, q.exact)
}

// mostBelow is how many offsets below log starts there is room for, in all
// partitions.
const mostBelow = 1 << 27

// tellStart takes note of a log start that may have been reached, and of one that
// was told: a log ends no earlier than it starts.
func (q *quick) tellStart(l *quickLog, o *histories.Op) {
	start, told := startTold(o), answered(o)
	if start != histories.None {
		if q.below += max(0, start-l.start); q.below > mostBelow || q.below < 0 {
			q.gaveUp = true
			return
		}
		l.start, l.startTold = max(l.start, start), true
	}
	if told != histories.None {
		l.lastTold = max(l.lastTold, o.Call)
		q.end(l, o, told, false)
	}
}

// end takes note of an end that was told. An exact answer says that no record at or
// behind it was there.
func (q *quick) end(l *quickLog, o *histories.Op, end int64, exact bool) {
	l.limit = max(l.limit, end)
	if !exact || end == math.MaxInt64 {
		if end > 0 && q.reach(l, end) {
			l.slots.notAfter(end-1, o.Return)
		}
		return
	}
	if !q.reach(l, end+1) {
		return
	}
	p, i := l.slots.at(end)
	p.call[i] = max(p.call[i], o.Call)
	p.boundary.add(i)
	if i > 0 {
		p.deadline[i-1] = min(p.deadline[i-1], o.Return)
	} else if end > 0 {
		l.slots.notAfter(end-1, o.Return)
	}
}

// endsBefore takes note that no record at or behind an offset was there at the
// read's instant. Behind the last offset of 64 bits none ever is.
func (q *quick) endsBefore(l *quickLog, o *histories.Op, offset int64) {
	if offset < math.MaxInt64 && q.reach(l, offset+1) {
		l.slots.notBefore(offset, o.Call)
	}
}
