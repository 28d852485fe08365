package checker

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A section is the offsets of a partition that the quick judge suspects. The
// rules and the engines look at them alone, through the operations that say
// something about them; why they find there what they would find in the whole
// history is argued in docs/exactness.md.
type section struct {
	offsets   []int64 // sorted
	start     int64   // the highest log start told
	startTold bool
	lastTold  int64
	keys      *keys
	sends     map[string][]other      // those of each producer that are not about these offsets
	sent      map[histories.Value]int // how often the values of unknown outcome that were read were sent
}

// certain finds the sends of unknown outcome that certainly are in the log: a
// value was read that no other send can have put there.
func (s *section) certain(floats []float) map[int32]bool {
	certain := map[int32]bool{}
	for i := range floats {
		f := &floats[i]
		certain[f.index] = slices.ContainsFunc(f.read, func(v histories.Value) bool { return s.sent[v] == 1 })
	}
	return certain
}

// An other is a send outside a section.
type other struct {
	index   int32
	records int32 // of it that are in the log
	float   bool  // if it took effect
}

// settle keeps the records that certainly are in the log.
func (s *section) settle(floats []float) {
	certain := s.certain(floats)
	for _, sends := range s.sends {
		for i := range sends {
			if o := &sends[i]; o.float && !certain[o.index] {
				o.records = 0
			}
		}
	}
}

// others returns a producer's sends outside the section in their order.
func (s *section) others(producer string) []other {
	if s == nil {
		return nil
	}
	slices.SortFunc(s.sends[producer], func(a, b other) int { return cmp.Compare(a.index, b.index) })
	return s.sends[producer]
}

func (l *quickLog) section() *section {
	s := &section{start: l.start, startTold: l.startTold, lastTold: l.lastTold, keys: l.keys, sends: map[string][]other{}, sent: map[histories.Value]int{}}
	for i := range l.floats {
		for _, v := range l.floats[i].read {
			s.sent[v] = 0
		}
	}
	l.slots.where(0, l.slots.len(), suspect, func(o int64, _ *piece, _ int) bool {
		s.offsets = append(s.offsets, o)
		return true
	})
	return s
}

// before returns how many offsets of the section are below one.
func (s *section) before(offset int64) int64 {
	return int64(sort.Search(len(s.offsets), func(i int) bool { return s.offsets[i] >= offset }))
}

func (s *section) holds(offset int64) bool {
	_, ok := slices.BinarySearch(s.offsets, offset)
	return ok
}

// records returns those in the section.
func (s *section) records(records []histories.Record) []histories.Record {
	if s == nil {
		return records
	}
	var in []histories.Record
	for _, r := range records {
		if s.holds(r.Offset) {
			in = append(in, r)
		}
	}
	return in
}

// closed returns the number of an offset where the section has no room between its
// offsets. Below the log start there is room everywhere.
func (s *section) closed(offset int64) int64 {
	if offset <= s.start {
		return offset
	}
	return s.start + s.before(offset) - s.before(s.start)
}

// opened returns the offset of a number, and false for one behind the section.
func (s *section) opened(number int64) (int64, bool) {
	if number < s.start {
		return number, true
	}
	i := number - s.start + s.before(s.start)
	if i >= int64(len(s.offsets)) {
		return number, false
	}
	return s.offsets[i], true
}

// close numbers the offsets of the section without room between them. Where
// every offset holds a record, those outside would be missed.
func (s *section) close(ops []model.Op) []model.Op {
	closed := make([]model.Op, 0, len(ops))
	for _, op := range ops {
		if op.Offset != histories.None && !s.holds(op.Offset) {
			continue // nobody can have observed it
		}
		records, empty := op.Records, op.Empty
		op.Records, op.Empty = nil, nil
		for _, r := range records {
			op.Records = append(op.Records, histories.Record{Offset: s.closed(r.Offset), Value: r.Value})
		}
		for _, hole := range empty {
			if hole = (model.Span{From: s.closed(hole.From), To: s.closed(hole.To)}); hole.From < hole.To {
				op.Empty = append(op.Empty, hole)
			}
		}
		for _, offset := range []*int64{&op.Offset, &op.First, &op.Low, &op.Exact, &op.Beyond} {
			*offset = s.closed(*offset)
		}
		closed = append(closed, op)
	}
	return closed
}

// open gives a conflict the offset and the operations it has in the log.
func (s *section) open(c *conflict, ops []model.Op) {
	if c.cause == tooLate && c.offset > 0 {
		last, _ := s.opened(c.offset - 1)
		c.offset = last + 1
	} else if offset, ok := s.opened(c.offset); ok {
		c.offset = offset
	}
	c.forces, c.forbids = original(c.forces, ops), original(c.forbids, ops)
}

// original returns the operation that another one was made of.
func original(op *model.Op, ops []model.Op) *model.Op {
	if op == nil {
		return nil
	}
	i := slices.IndexFunc(ops, func(o model.Op) bool { return o.Source == op.Source && o.Kind == op.Kind })
	if i < 0 {
		return op
	}
	return &ops[i]
}

// sectioned is the number of operations from which on it pays to look at sections
// of a history that the quick judge does not accept.
const sectioned = 10_000

// never is more operations than any history has.
const never = math.MaxInt

// A replay hands a history to a sink, again and again.
type replay struct {
	to      func(histories.Sink) bool // false if it could not be handed over to the end
	inOrder bool                      // in the order of calls; else operations come as they are completed
}

// judgeSuspects judges a history by the quick judge and, where that suspects
// something, by the rules and the engines. It reports false if the whole
// history has to be judged: for sections do not pay in one of fewer operations
// than that, or cannot do.
func judgeSuspects(ctx context.Context, again replay, opts Options, least int) (*Result, histories.Header, bool) {
	s := &quickSink{strict: least == never, inOrder: again.inOrder}
	defer func() {
		if s.quick != nil {
			s.pieces.free()
		}
	}()
	whole := again.to(s)
	if !whole && s.quick != nil && s.rebalanced {
		s.rebalances = true
		whole = again.to(s)
	}
	if !whole {
		return nil, s.header, false
	}
	q := s.quick
	q.begin()
	if q.gaveUp || !q.clean() && q.exercised.Operations < least {
		return nil, s.header, false
	}
	j := emptyJudge(q.config, opts)
	if !q.clean() {
		k := &keeper{quick: q, rebalances: s.rebalances, budget: opts.Memory}
		switch whole := again.to(k); {
		case k.heavy != "":
			return tooHeavy(q.config, q.exercised, k.heavy), s.header, true
		case !whole:
			return nil, s.header, false
		}
		j.partitions = k.partitions()
	}
	return q.conclude(ctx, j), s.header, true
}

// begin settles every partition, in the order in which they are first used.
func (q *quick) begin() {
	slices.SortFunc(q.order, func(a, b *quickLog) int { return cmp.Compare(a.first, b.first) })
	for _, l := range q.order {
		if !q.gaveUp {
			q.settle(l)
		}
	}
}

// clean reports whether nothing is suspect.
func (q *quick) clean() bool {
	return !slices.ContainsFunc(q.order, func(l *quickLog) bool { return l.suspect })
}

// conclude puts together what the quick judge knows and what the rules find in
// the partitions that it suspects.
func (q *quick) conclude(ctx context.Context, j *judge) *Result {
	j.marks, j.ending, j.stake = q.confessed, q.ending, q.stake
	j.result.Exercised = q.exercised
	j.result.Exercised.Partitions, j.result.Exercised.Rules = len(q.order), len(rules)
	j.assume(q.config)
	j.notePositions(q.config, q.tracker.judged, q.polls)
	j.applyRules()
	if j.search(ctx); len(j.partitions) < len(q.order) {
		j.used(Linear)
	}
	if j.atStake(q.exercised.Reads > 0) {
		parts := map[string]*partition{}
		for _, p := range j.partitions {
			parts[p.name] = p
		}
		for _, l := range q.order {
			u := l.unseen()
			if p := parts[l.name]; p != nil {
				j.noteRetained(p)
				j.noteUnkeyed(p)
				u.add(p.unseen())
			}
			j.noteUnseen(l.name, u)
		}
	}
	j.conclude()
	return &j.result
}

// A quickSink lets the quick judge see a history.
type quickSink struct {
	*quick
	header     histories.Header
	rebalances bool
	strict     bool
	inOrder    bool
}

func (s *quickSink) Header(h histories.Header) bool {
	s.quick, s.header = newQuick(h.Config, s.rebalances), h
	if s.quick.strict = s.strict; s.inOrder {
		s.pipeline = 1
	}
	return !s.gaveUp
}

func (s *quickSink) Op(o *histories.Op, process int) bool {
	s.op(o, process)
	return !s.gaveUp
}

func (s *quickSink) Ops(ops []histories.Op) bool {
	s.all(ops)
	return !s.gaveUp
}

func (s *quickSink) Mark(m *histories.Mark) bool {
	s.mark(m)
	return !s.gaveUp
}

// A keeper keeps the operations that have to do with what the quick judge
// suspects.
type keeper struct {
	*quick
	rebalances bool
	budget     int64
	weight     weight // of what is kept
	heavy      string // why no more is kept, "" if there is room
	tracker    *tracker
	kept       map[string][]*histories.Op
	sections   map[*quickLog]*section
	at         map[*histories.Op]int64
	back       []setBack
}

// A setBack is a regression, until the operation that set the position is known.
type setBack struct {
	poll  *histories.Op
	setBy int
	floor int64
}

func (k *keeper) Header(h histories.Header) bool {
	k.tracker = newTracker(h.Config, k.rebalances)
	k.sections = map[*quickLog]*section{}
	k.kept, k.at, k.back = map[string][]*histories.Op{}, map[*histories.Op]int64{}, nil
	return true
}

func (k *keeper) Mark(m *histories.Mark) bool {
	k.tracker.mark(m)
	return true
}

func (k *keeper) Op(o *histories.Op, process int) bool {
	from, setBy, floor := k.tracker.op(o, process)
	l := k.log(o.On)
	if !l.suspect {
		return true
	}
	if o.Kind == histories.Send {
		k.section(l).count(o)
	}
	if !k.ops[o.Index] && !k.concerns(l, o, from) {
		if o.Kind == histories.Send {
			k.leave(l, o)
		}
		return true
	}
	k.weight.ops++
	k.weight.records += int64(len(o.Values)+len(o.Records)/16) + l.suspectRecords(o)
	if k.heavy = k.weight.exceeds(k.budget, "what looks wrong in the history"); k.heavy != "" {
		return false
	}
	mine := *o
	mine.Values, mine.Records = slices.Clone(o.Values), slices.Clone(o.Records)
	k.kept[o.On] = append(k.kept[o.On], &mine)
	if o.Kind == histories.Poll && o.Outcome == histories.OK && from != histories.None {
		k.at[&mine] = from
	}
	if floor != histories.None {
		k.back = append(k.back, setBack{&mine, setBy, floor})
	}
	return true
}

// section returns the section of a partition.
func (k *keeper) section(l *quickLog) *section {
	s := k.sections[l]
	if s == nil {
		s = l.section()
		k.sections[l] = s
	}
	return s
}

// count counts what is sent of the values that may have been sent twice.
func (s *section) count(o *histories.Op) {
	for _, v := range o.Values {
		if n, ok := s.sent[v]; ok {
			s.sent[v] = n + 1
		}
	}
}

// leave counts a send outside the section.
func (k *keeper) leave(l *quickLog, o *histories.Op) {
	if o.Outcome == histories.Fail {
		k.section(l).add(o, 0, false)
		return
	}
	k.section(l).add(o, len(o.Values), !k.acknowledged(o))
}

func (s *section) add(o *histories.Op, records int, float bool) {
	s.sends[o.Process] = append(s.sends[o.Process], other{int32(o.Index), int32(records), float})
}

// acknowledged reports whether a send is acknowledged by all of the ISR.
func (q *quick) acknowledged(o *histories.Op) bool {
	return o.Outcome == histories.OK && (o.Acks == "all" || o.Acks == "" && q.acksAll)
}

// concerns reports whether an operation says something about a suspect offset
// or value.
func (q *quick) concerns(l *quickLog, o *histories.Op, from int64) bool {
	switch o.Kind {
	case histories.Send:
		if q.acknowledged(o) {
			return l.suspects(o.Offset, o.Offset+int64(len(o.Values)))
		}
		return slices.ContainsFunc(o.Values, func(v histories.Value) bool { return l.suspectValues[v] })
	case histories.List:
		return o.Outcome == histories.OK && (o.At == "latest" || o.At == "earliest") && l.suspects(o.Offset-1, o.Offset+1)
	case histories.DeleteRecords:
		return o.Outcome == histories.OK && o.Start != histories.None && l.suspects(o.Start-1, o.Start+1)
	case histories.Scan:
		return o.Outcome == histories.OK
	case histories.Fetch, histories.Poll:
		if o.Outcome != histories.OK {
			return false
		}
		if o.Kind == histories.Fetch {
			from = o.From
		}
		return l.suspectsRead(o, from)
	}
	return false
}

// suspectRecords counts the records of an answer at suspect offsets.
func (l *quickLog) suspectRecords(o *histories.Op) (n int64) {
	for _, r := range o.Records {
		if p, i := l.slots.at(r.Offset); p.suspect.has(i) {
			n++
		}
	}
	return n
}

func (l *quickLog) suspects(from, to int64) bool {
	found := false
	l.slots.where(from, to, suspect, func(int64, *piece, int) bool {
		found = true
		return false
	})
	return found
}

// suspectsRead reports whether an answer that was asked for from an offset on
// holds, passes over or tells an end at a suspect offset.
func (l *quickLog) suspectsRead(o *histories.Op, from int64) bool {
	if o.HW != histories.None && l.suspects(o.HW-1, o.HW+1) || o.Start > 0 && l.suspects(o.Start-1, o.Start+1) {
		return true
	}
	if from == atStart {
		from = 0
	}
	n := len(o.Records)
	if n == 0 {
		return from != histories.None && l.suspects(from, max(from+1, l.start+1, o.HW))
	}
	first, last := o.Records[0].Offset, o.Records[n-1].Offset
	if from == histories.None {
		from = first
	}
	return l.suspects(min(from, first, last), max(first, last)+1)
}

// partitions arranges what was kept, in the order in which partitions are
// first used.
func (k *keeper) partitions() []*partition {
	var out []*partition
	for _, l := range k.order {
		if !l.suspect {
			continue
		}
		ops := k.kept[l.name]
		slices.SortFunc(ops, func(a, b *histories.Op) int { return cmp.Compare(a.Index, b.Index) })
		p := newPartition(l.name, k.config, ops, k.at, k.section(l))
		p.section.settle(l.floats)
		for _, b := range k.back {
			if b.poll.On == l.name {
				p.back = append(p.back, regression{b.poll, find(ops, b.setBy), b.floor})
			}
		}
		slices.SortFunc(p.back, func(a, b regression) int { return cmp.Compare(a.poll.Index, b.poll.Index) })
		out = append(out, p)
	}
	return out
}

// find returns the operation with that index, nil if there is none.
func find(ops []*histories.Op, index int) *histories.Op {
	i, ok := slices.BinarySearchFunc(ops, index, func(o *histories.Op, index int) int { return cmp.Compare(o.Index, index) })
	if !ok {
		return nil
	}
	return ops[i]
}

// handOver hands a history in memory to a sink, in order.
func handOver(h *histories.History) replay {
	return replay{inOrder: true, to: func(sink histories.Sink) bool {
		if !sink.Header(h.Header()) {
			return false
		}
		ops := h.Ops()
		for i := range h.Marks() {
			m := &h.Marks()[i]
			n := m.Index - i - (len(h.Ops()) - len(ops)) // operations before it
			if !handOps(ops[:n], sink) || !sink.Mark(m) {
				return false
			}
			ops = ops[n:]
		}
		return handOps(ops, sink)
	}}
}

// An opsSink takes operations that come in order one behind the other at once.
type opsSink interface {
	Ops([]histories.Op) bool
}

func handOps(ops []histories.Op, sink histories.Sink) bool {
	if s, ok := sink.(opsSink); ok {
		return s.Ops(ops)
	}
	for i := range ops {
		if !sink.Op(&ops[i], ops[i].ProcessNumber()) {
			return false
		}
	}
	return true
}
