package checker

import (
	"math"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A cursor is one consumer's position in one partition, as far as its history
// tells.
type cursor struct {
	next  int64           // where the next poll begins, None if that is not known
	floor int64           // no later poll may begin below
	last  int             // index of the operation or mark that set the position, -1 if none did
	mark  *histories.Mark // that mark, nil if it was an operation
	known bool            // the consumer was in this partition before
	blind bool            // the position is not known because an answer was lost
	op    int             // index of the operation that used or set the position last
	call  int64           // when that was called, None if there was none
	until int64           // when the last such operation had ended
	out   int64           // when the fetch was called that told the position, None if none did
}

// atStart is the position of a consumer that was reset to the log start, of
// which all that is known is that it is no higher than what anybody is told of it
// later.
const atStart = histories.None - 1

// A regression is a poll that begins below its consumer's position.
type regression struct {
	poll  *histories.Op
	floor int64
	mover
}

// A mover is the operation or the mark that set a consumer's position; both are
// nil if none did.
type mover struct {
	op   *histories.Op
	mark *histories.Mark
}

// A stand is where a poll was to begin.
type stand struct {
	from int64
	mover
}

// positions follows every consumer through the history. It returns where each
// poll was to begin, where that is known, and the polls that went back.
func positions(h *histories.History) (map[*histories.Op]stand, []regression) {
	at, back := map[*histories.Op]stand{}, []regression(nil)
	follow(h, func(o *histories.Op, s step) {
		if o.Kind == histories.Poll && o.Outcome == histories.OK && s.from != histories.None {
			at[o] = stand{s.from, mover{opAt(h.Ops(), s.setBy), s.mark}}
		}
		if s.floor != histories.None {
			back = append(back, regression{o, s.floor, mover{opAt(h.Ops(), s.setBy), s.mark}})
		}
	})
	return at, back
}

// follow visits the operations of a history with what a tracker says of them.
func follow(h *histories.History, visit func(o *histories.Op, s step)) {
	t := newTracker(h.Config(), recordsRebalances(h.Marks()))
	for i := range h.Marks() {
		t.mark(&h.Marks()[i])
	}
	ops := h.Ops()
	steps := make([]step, len(ops))
	for i := range ops {
		if steps[i] = t.op(&ops[i], ops[i].ProcessNumber()); t.tied < 0 {
			continue
		}
		if tied, ok := indexed(ops, t.tied); ok { // it may have come after this one
			steps[tied].from, steps[tied].floor = histories.None, histories.None
		}
	}
	for i, step := range steps {
		visit(&ops[i], step)
	}
}

// opAt returns the operation with that index, nil if there is none.
func opAt(ops []histories.Op, index int) *histories.Op {
	i, ok := indexed(ops, index)
	if !ok {
		return nil
	}
	return &ops[i]
}

// indexed finds the operation with that index.
func indexed(ops []histories.Op, index int) (i int, ok bool) {
	return slices.BinarySearchFunc(ops, index, func(o histories.Op, index int) int { return o.Index - index })
}

// recordsRebalances reports whether the history says when partitions moved
// between the members of a group.
func recordsRebalances(marks []histories.Mark) bool {
	return slices.ContainsFunc(marks, func(m histories.Mark) bool { return isRebalance(&m) })
}

func isRebalance(m *histories.Mark) bool {
	return m.Kind == histories.Revoked || m.Kind == histories.Assigned
}

// A tracker follows consumers through a history. Of one process it is given
// operations in order of their invocation, and each mark before the operations that
// end later.
type tracker struct {
	policy  string // auto.offset.reset, where it is stated
	stated  bool
	judged  bool // where polls begin says something
	logs    map[string]*track
	last    *track           // used last
	used    map[int][]*track // by each process
	numbers map[string]int   // of the processes that are in one
	pending map[string][]histories.Mark
	tied    int  // the operation before the last one that was called at the same instant, -1 if none was
	late    bool // a mark or an operation came that one before it should have been judged by
}

// A track is one partition.
type track struct {
	name    string
	cursors perProcess[cursor] // by the number of their process
}

func newTracker(c histories.Config, rebalances bool) *tracker {
	t := &tracker{logs: map[string]*track{}, used: map[int][]*track{}, numbers: map[string]int{}, pending: map[string][]histories.Mark{}}
	t.policy, t.stated = c.Stated("auto.offset.reset")
	// A rebalance nobody recorded could explain any position.
	t.judged = c.Get("assignment") != "subscribe" || rebalances
	return t
}

func (t *tracker) log(name string) *track {
	if t.last != nil && t.last.name == name {
		return t.last
	}
	l := t.logs[name]
	if l == nil {
		l = &track{name: name}
		t.logs[name] = l
	}
	t.last = l
	return l
}

// cursor returns the position in a partition of a process, by its name and number.
func (t *tracker) cursor(partition, name string, process int) *cursor {
	l := t.log(partition)
	c := l.cursors.at(process)
	if !c.known {
		*c = cursor{next: histories.None, floor: histories.None, last: -1, known: true, call: histories.None, until: histories.None, out: histories.None}
		t.used[process] = append(t.used[process], l)
		t.numbers[name] = process
	}
	return c
}

// mark takes note of a client-side event.
func (t *tracker) mark(m *histories.Mark) {
	if m.Kind == histories.Nemesis || m.Kind == histories.Note {
		return
	}
	t.pending[m.Process] = append(t.pending[m.Process], *m)
	if process, ok := t.numbers[m.Process]; ok {
		for _, l := range t.used[process] {
			t.late = t.late || m.Time <= l.cursors.at(process).until
		}
	}
}

// apply moves the positions that an event explains, and reports whether it may have
// moved that in one partition.
func (t *tracker) apply(m *histories.Mark, process int, partition string) bool {
	if m.Kind == histories.Reset && m.To != "" && t.stated && m.To != t.policy {
		return false // the policy does not let the consumer jump there
	}
	to := histories.None
	switch {
	case m.Kind == histories.Reset && m.To == "earliest":
		to = atStart
	case m.Kind == histories.Reset && m.To == "" || m.Kind == histories.Assigned:
		to = m.Offset
	}
	if m.On != "" {
		t.cursor(m.On, m.Process, process).setByMark(to, m)
		return m.On == partition
	}
	t.cursor(histories.DefaultPartition, m.Process, process)
	for _, l := range t.used[process] {
		l.cursors.at(process).setByMark(to, m)
	}
	return true
}

// set puts the position at an offset, or forgets it.
func (c *cursor) set(to int64, by int) {
	c.next, c.floor, c.last, c.mark, c.blind = to, to, by, nil, false
}

func (c *cursor) setByMark(to int64, m *histories.Mark) {
	c.set(to, m.Index)
	mine := *m
	c.mark = &mine
}

// A step is what an operation is for its process's position.
type step struct {
	from  int64           // where a poll was to begin, None if that is not known
	floor int64           // the position below which a poll begins, None if it does not
	setBy int             // index of the operation or mark that had set the position
	mark  *histories.Mark // that mark, nil if it was an operation
	moves bool            // it sets the position itself
}

// op follows an operation.
func (t *tracker) op(o *histories.Op, process int) step {
	t.tied = -1
	s := step{from: histories.None, floor: histories.None}
	out := o.Kind == histories.Fetch && o.Code == "OFFSET_OUT_OF_RANGE"
	switch {
	case o.Kind == histories.Poll && !t.judged:
		s.from, s.setBy = o.From, -1 // which a projection may say
		return s
	case !moves(o.Kind) && !out:
		return s
	}
	c := t.cursor(o.On, o.Process, process)
	during := t.catchUp(o, process)
	s.setBy, s.mark = c.last, c.mark
	if out {
		s.moves = !during && c.outOfRange(o)
		return s
	}
	if o.Outcome == histories.Fail {
		return s
	}
	if c.call == o.Call && overAt(o) == o.Call { // as the one before was, or they would overlap
		during, t.late, t.tied = true, true, c.op
	}
	if c.out == o.Call { // it may have been told behind this one
		c.set(histories.None, o.Index)
	}
	c.op, c.call, c.until, c.out = o.Index, o.Call, overAt(o), histories.None
	if during { // nobody knows what came first
		c.set(histories.None, o.Index)
		c.blind = true
		return s
	}
	if o.Kind == histories.Poll {
		return c.poll(o)
	}
	s.moves = c.move(o)
	return s
}

// moves reports whether operations of a kind may set a consumer's position.
func moves(k histories.Kind) bool {
	return k == histories.Assign || k == histories.Seek || k == histories.Subscribe || k == histories.Poll
}

// overAt is when an operation is certainly over.
func overAt(o *histories.Op) int64 {
	if o.Outcome == histories.Open {
		return math.MaxInt64
	}
	return o.Return
}

// catchUp applies the marks of an operation's client up to its end. It reports
// whether one of them may have moved the position while the operation was under way,
// be it in its first or last instant.
func (t *tracker) catchUp(o *histories.Op, process int) (during bool) {
	marks, ok := t.pending[o.Process]
	if !ok {
		return false
	}
	for len(marks) > 0 && marks[0].Time <= overAt(o) {
		moved := t.apply(&marks[0], process, o.On)
		during = during || moved && marks[0].Time >= o.Call
		marks = marks[1:]
	}
	if t.pending[o.Process] = marks; len(marks) == 0 {
		delete(t.pending, o.Process)
	}
	return during
}

// outOfRange follows a fetch out of range, which tells where its consumer stands,
// unless that had polled or sought and nobody knows where to. It reports whether it
// does.
func (c *cursor) outOfRange(o *histories.Op) bool {
	if c.out == o.Call && c.next != o.From { // two at one instant disagree
		c.set(histories.None, o.Index)
		c.blind = true
		return false
	}
	tells := c.next < 0 && !c.blind
	if tells {
		c.set(o.From, o.Index)
		c.out = o.Call
	}
	return tells
}

// move follows an operation that sets the position, and forgets it if nobody knows
// whether it did. It reports whether the position is known now.
func (c *cursor) move(o *histories.Op) bool {
	to := histories.None
	switch o.Kind {
	case histories.Assign:
		to = o.From
	case histories.Seek:
		to = o.To
	}
	if o.Outcome == histories.OK {
		c.set(to, o.Index)
		return o.Kind != histories.Subscribe
	}
	c.set(histories.None, o.Index)
	c.blind = true
	return false
}

func (c *cursor) poll(o *histories.Op) step {
	s := step{from: histories.None, floor: histories.None, setBy: c.last, mark: c.mark}
	if o.Outcome != histories.OK {
		c.next, c.blind = histories.None, true // records may have been consumed
		return s
	}
	s.from = c.next
	if len(o.Records) > 0 && o.Records[0].Offset < c.floor {
		s.floor = c.floor
	} else if s.from == histories.None && o.From != histories.None { // which a projection may say
		s.from, s.setBy, s.mark = o.From, -1, nil
	}
	if end := max(o.To, endOf(o.Records)); end != histories.None {
		c.set(end, o.Index)
		s.moves = true
	}
	return s
}
