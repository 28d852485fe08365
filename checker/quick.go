package checker

import (
	"cmp"
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// The quick judge proves most histories legal in one pass over their
// operations and one over the offsets of the log, with a few dozen bytes an
// offset and nothing an operation. It holds no operation, so it can judge a
// history while it is read.
//
// It accepts only what the rules and the engines accept, and gives up on
// everything else: on whatever looks wrong, and on whatever is rare (markers,
// holes, a log start, transactions). What it gives up on is judged again from
// the beginning, and only then is there a finding. So it may be simple.
//
// It is the linear engine where every offset up to the highest one known holds
// a record: slots take the bounds on each send's instant as answers arrive, in
// any order.
type quick struct {
	config    histories.Config
	reads     model.Reads
	acksAll   bool // the default of sends
	ordered   bool // one producer's sends keep their order
	other     bool // system=other
	tight     bool // every offset is explained by a known send
	positions bool // polls are judged by their consumer's position

	gaveUp     bool
	partitions map[string]*quickLog
	order      []*quickLog
	last       *quickLog // used last
	exercised  Exercised
	polls      int
}

// A quickLog is one partition.
type quickLog struct {
	name    string
	slots   slotTable
	values  int64      // sent so far
	floats  []float    // sends that may or may not have taken effect
	clients []consumer // by the number of their process
	limit   int64      // every offset below must hold a record
	scanned bool
}

// A float is a batch of unknown outcome.
type float struct {
	values []histories.Value
	call   int64
	offset int64 // where it would be, None if nobody was told
	index  int32
	placed bool
}

// A consumer is what is known of one process in one partition.
type consumer struct {
	next int64 // where its next poll begins, None if that is not known
	told int64 // the end it was told last
	base int64 // of its last send
	sent int   // the place of that send in the history
}

func newQuick(c histories.Config) *quick {
	q := &quick{config: c, reads: model.ReadsOf(c), acksAll: c.Get("acks") == "all",
		ordered:    c.Get(idemKey) == "true" || c.Get("max.in.flight.requests.per.connection") == "1",
		other:      c.Get("system") == "other",
		tight:      c.Get("offsets") == "dense" && retries(c) == "",
		positions:  c.Get("assignment") != "subscribe",
		partitions: map[string]*quickLog{}}
	q.gaveUp = c.Get("cleanup.policy") == "compact"
	return q
}

// mark takes note of something beside the operations.
func (q *quick) mark(m *histories.Mark) {
	switch {
	case Confesses(m), m.Kind != histories.Nemesis && m.Kind != histories.Note:
		q.gaveUp = true
	case m.Kind == histories.Nemesis:
		q.exercised.Faults++
	}
}

// op takes note of a complete operation of the process with that number. One
// process's operations come in the order of its calls.
func (q *quick) op(o *histories.Op, process int) {
	q.exercised.Operations++
	if o.Kind == histories.Poll {
		q.polls++
	}
	l := q.log(o.On)
	ok := o.Outcome == histories.OK
	switch {
	case o.Tx != "" || o.Start > 0:
		q.gaveUp = true
	case o.Kind == histories.Send:
		q.send(l, o, process)
	case !ok:
		q.gaveUp = q.gaveUp || o.Outcome != histories.Fail || model.Refuted(o) || o.Code == "OFFSET_OUT_OF_RANGE" ||
			o.Kind == histories.DeleteRecords
	case o.Kind == histories.List:
		q.list(l, o, process)
	case o.IsRead():
		q.read(l, o, process)
	case o.Kind == histories.Assign:
		l.client(process).next = o.From
	case o.Kind == histories.Seek:
		l.client(process).next = o.To
	case o.Kind != histories.CommitOffset:
		q.gaveUp = true
	}
}

func (q *quick) log(name string) *quickLog {
	if q.last != nil && q.last.name == name {
		return q.last
	}
	l := q.partitions[name]
	if l == nil {
		l = &quickLog{name: name}
		q.partitions[name] = l
		q.order = append(q.order, l)
	}
	q.last = l
	return l
}

func (l *quickLog) client(process int) *consumer {
	for len(l.clients) <= process {
		l.clients = append(l.clients, consumer{next: histories.None})
	}
	return &l.clients[process]
}

// reach makes room for the offsets below end. An offset far beyond what was
// sent so far is no log this judge knows.
func (q *quick) reach(l *quickLog, end int64) bool {
	if end > 2*l.values+4096 {
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
	all := o.Acks == "all" || o.Acks == "" && q.acksAll
	switch {
	case o.Outcome == histories.Fail:
		return
	case o.Outcome != histories.OK || !all:
		q.gaveUp = q.gaveUp || q.ordered && o.Outcome == histories.OK
		l.floats = append(l.floats, float{values: slices.Clone(o.Values), call: o.Call, offset: o.Offset, index: int32(o.Index)})
		return
	case o.Offset == histories.None:
		q.gaveUp = true
		return
	}
	q.exercised.Acknowledged++
	if q.ordered {
		// Of pipelined sends the completions may come in another order.
		c := l.client(process)
		q.gaveUp = q.gaveUp || o.Offset < c.base || o.Index < c.sent
		c.base, c.sent = o.Offset, o.Index
	}
	if !q.reach(l, o.Offset+n) {
		return
	}
	for i, v := range o.Values {
		s := l.slots.at(o.Offset + int64(i))
		q.put(s, v, o.Call, i > 0, int32(o.Index))
		s.deadline = min(s.deadline, o.Return)
	}
	l.limit = max(l.limit, o.Offset+n)
}

// put places a send's record.
func (q *quick) put(s *slot, v histories.Value, call int64, follows bool, index int32) {
	if s.flags&slotSent != 0 || s.flags&slotHeld != 0 && s.value != v {
		q.gaveUp = true
		return
	}
	s.value, s.index = v, index
	s.call = max(s.call, call)
	s.flags |= slotHeld | slotSent
	if follows {
		s.flags |= slotFollows
	}
}

func (q *quick) list(l *quickLog, o *histories.Op, process int) {
	q.exercised.Reads++
	switch {
	case o.At == "earliest":
		q.gaveUp = q.gaveUp || o.Offset != 0
		return
	case o.At != "latest":
		return
	}
	c := l.client(process)
	q.gaveUp = q.gaveUp || o.Offset < c.told || q.other && q.reads == model.Committed
	c.told = o.Offset
	q.end(l, o, o.Offset, q.reads == model.Linearizable)
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
// read's instant.
func (q *quick) endsBefore(l *quickLog, o *histories.Op, offset int64, flag uint8) {
	if q.reach(l, offset+1) {
		s := l.slots.at(offset)
		s.call = max(s.call, o.Call)
		s.flags |= flag
	}
}

func (q *quick) read(l *quickLog, o *histories.Op, process int) {
	q.exercised.Reads++
	q.exercised.Records += len(o.Records)
	from := q.position(l, o, process)
	mark := o.HW
	if o.Kind == histories.Scan {
		q.exercised.Scans++
		l.scanned = true
		mark = o.End
	}
	n := int64(len(o.Records))
	if n == 0 {
		q.empty(l, o, from, mark)
		return
	}
	first := o.Records[0].Offset
	last := first + n - 1
	if from != histories.None && from != first || mark != histories.None && last >= mark || o.LSO != histories.None && last >= o.LSO ||
		o.Kind == histories.Scan && mark != histories.None && mark != last+1 {
		q.gaveUp = true
		return
	}
	if !q.reach(l, last+1) {
		return
	}
	for i := range o.Records {
		s, r := l.slots.at(first+int64(i)), &o.Records[i]
		if r.Offset != first+int64(i) || s.flags&slotHeld != 0 && s.value != r.Value {
			q.gaveUp = true
			return
		}
		s.value = r.Value
		s.flags |= slotHeld | slotSeen
	}
	s := l.slots.at(last)
	s.deadline = min(s.deadline, o.Return)
	l.limit = max(l.limit, last+1)
	if mark != histories.None {
		q.end(l, o, mark, q.reads == model.Linearizable || o.Kind == histories.Scan)
	}
	if o.Kind == histories.Poll && q.positions {
		l.client(process).next = last + 1
	}
}

// position returns where a read was to begin, None if that is not known.
func (q *quick) position(l *quickLog, o *histories.Op, process int) int64 {
	switch o.Kind {
	case histories.Fetch:
		return o.From
	case histories.Scan:
		return 0
	}
	if q.positions {
		return l.client(process).next
	}
	return histories.None
}

func (q *quick) empty(l *quickLog, o *histories.Op, from, mark int64) {
	linearizable := q.reads == model.Linearizable
	switch {
	case mark > 0 && (o.Kind == histories.Scan || linearizable && from != histories.None && mark > from):
		q.gaveUp = true
		return
	case mark != histories.None:
		q.end(l, o, mark, linearizable || o.Kind == histories.Scan)
	}
	if linearizable && from != histories.None && o.Kind != histories.Scan {
		q.endsBefore(l, o, from, 0)
	}
}

// conclude reports whether the history is legal, with its result.
func (q *quick) conclude() (*Result, bool) {
	for _, l := range q.order {
		if q.gaveUp || !q.settle(l) || !l.schedule() {
			return nil, false
		}
	}
	if q.gaveUp {
		return nil, false
	}
	j := &judge{}
	j.result.Exercised = q.exercised
	j.result.Exercised.Partitions, j.result.Exercised.Rules = len(q.order), len(rules)
	j.assume(q.config)
	j.notePositions(q.config, false, q.polls)
	if e := q.exercised; !j.atStake(e.Reads > 0) {
		j.conclude()
		return &j.result, true
	}
	for _, l := range q.order {
		u := l.unseen()
		if u.n > 0 && l.scanned {
			return nil, false // it depends on when the scans were
		}
		j.noteUnseen(l.name, u)
	}
	j.result.Engine = string(Linear)
	j.conclude()
	return &j.result, true
}

// settle places the sends of unknown outcome whose values were read.
func (q *quick) settle(l *quickLog) bool {
	var byValue map[histories.Value]int
	for i := range l.floats {
		f := &l.floats[i]
		if f.offset != histories.None {
			q.settleAt(l, f)
			continue
		}
		if byValue == nil {
			byValue = make(map[histories.Value]int, len(l.floats))
		}
		for _, v := range f.values {
			if _, twice := byValue[v]; twice {
				return false
			}
			byValue[v] = i
		}
	}
	var unexplained []int64
	for o := int64(0); o < l.limit && !q.gaveUp; o++ {
		s := l.slots.at(o)
		if s.flags&slotSent != 0 {
			continue
		}
		if s.flags&slotHeld == 0 {
			unexplained = append(unexplained, o)
			continue
		}
		i, ok := byValue[s.value]
		if !ok || l.floats[i].values[0] != s.value {
			return false
		}
		delete(byValue, s.value)
		q.place(l, &l.floats[i], o)
	}
	return !q.gaveUp && (!q.tight || q.fill(l, unexplained))
}

// fill explains offsets that must hold something and that nobody read, by
// sends of unknown outcome that nobody saw, the one called earliest first (see
// linear).
func (q *quick) fill(l *quickLog, offsets []int64) bool {
	if len(offsets) == 0 {
		return true
	}
	var spare []*float
	for i := range l.floats {
		f := &l.floats[i]
		switch {
		case f.placed:
		case len(f.values) > 1 || f.offset != histories.None:
			return false
		default:
			spare = append(spare, f)
		}
	}
	slices.SortStableFunc(spare, func(a, b *float) int { return cmp.Compare(a.call, b.call) })
	if len(spare) < len(offsets) {
		return false
	}
	for i, o := range offsets {
		s := l.slots.at(o)
		s.call = max(s.call, spare[i].call)
		s.flags |= slotSent | slotSeen
	}
	return true
}

// settleAt places a batch that is at a told offset or nowhere.
func (q *quick) settleAt(l *quickLog, f *float) {
	if f.offset >= l.slots.len {
		return
	}
	if s := l.slots.at(f.offset); s.flags&slotHeld != 0 && s.flags&slotSent == 0 && s.value == f.values[0] {
		q.place(l, f, f.offset)
	}
}

func (q *quick) place(l *quickLog, f *float, offset int64) {
	if offset+int64(len(f.values)) > l.slots.len {
		q.gaveUp = true
		return
	}
	f.placed = true
	for i, v := range f.values {
		s := l.slots.at(offset + int64(i))
		if s.flags&slotHeld == 0 {
			q.gaveUp = true
			return
		}
		q.put(s, v, f.call, i > 0, f.index)
		s.flags |= slotSeen // whoever saw one record of a batch proves the others
	}
}

// schedule lets each batch take effect as early as it may.
func (l *quickLog) schedule() bool {
	now := int64(math.MinInt64)
	for i := int64(0); i < l.limit; {
		s := l.slots.at(i)
		now = max(now, s.call)
		deadline := s.deadline
		for i++; i < l.limit && l.slots.at(i).flags&slotFollows != 0; i++ {
			s := l.slots.at(i)
			if s.flags&slotBoundary != 0 {
				return false
			}
			now, deadline = max(now, s.call), min(deadline, s.deadline)
		}
		if now > deadline {
			return false
		}
	}
	return true
}

// unseen finds the acknowledged values that nobody read.
func (l *quickLog) unseen() unseen {
	u := unseen{unscanned: true}
	index := int32(math.MaxInt32)
	for i := range l.slots.len {
		if s := l.slots.at(i); s.flags&slotSent != 0 && s.flags&slotSeen == 0 {
			u.n++
			if s.index < index {
				index, u.first = s.index, s.value
			}
		}
	}
	return u
}
