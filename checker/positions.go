package checker

import (
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
	visitSteps(h, func(o *histories.Op, s step) {
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
func follow(h *histories.History, visit func(o *histories.Op, from int64, setBy int, floor int64)) {
	visitSteps(h, func(o *histories.Op, s step) { visit(o, s.from, s.setBy, s.floor) })
}

func visitSteps(h *histories.History, visit func(o *histories.Op, s step)) {
	t := newTracker(h.Config(), recordsRebalances(h.Marks()))
	for i := range h.Marks() {
		t.mark(&h.Marks()[i])
	}
	ops := h.Ops()
	for i := range ops {
		o := &ops[i]
		visit(o, t.op(o, o.ProcessNumber()))
	}
}

// opAt returns the operation with that index, nil if there is none.
func opAt(ops []histories.Op, index int) *histories.Op {
	i, ok := slices.BinarySearchFunc(ops, index, func(o histories.Op, index int) int { return o.Index - index })
	if !ok {
		return nil
	}
	return &ops[i]
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
// operations in order of their invocation, and each mark before the operations
// behind it.
type tracker struct {
	policy  string // auto.offset.reset, where it is stated
	stated  bool
	judged  bool // where polls begin says something
	logs    map[string]*track
	last    *track           // used last
	used    map[int][]*track // by each process
	pending map[string][]histories.Mark
}

// A track is one partition.
type track struct {
	name    string
	cursors perProcess[cursor] // by the number of their process
}

func newTracker(c histories.Config, rebalances bool) *tracker {
	t := &tracker{logs: map[string]*track{}, used: map[int][]*track{}, pending: map[string][]histories.Mark{}}
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

// cursor returns a process's position in a partition.
func (t *tracker) cursor(partition string, process int) *cursor {
	l := t.log(partition)
	c := l.cursors.at(process)
	if !c.known {
		*c = cursor{next: histories.None, floor: histories.None, last: -1, known: true}
		t.used[process] = append(t.used[process], l)
	}
	return c
}

// mark takes note of a client-side event. It moves positions before the next
// operation of its client that was called behind it.
func (t *tracker) mark(m *histories.Mark) {
	if m.Kind != histories.Nemesis && m.Kind != histories.Note {
		t.pending[m.Process] = append(t.pending[m.Process], *m)
	}
}

// apply moves the positions that an event explains.
func (t *tracker) apply(m *histories.Mark, process int) {
	if m.Kind == histories.Reset && m.To != "" && t.stated && m.To != t.policy {
		return // the policy does not let the consumer jump there
	}
	to := histories.None
	switch {
	case m.Kind == histories.Reset && m.To == "earliest":
		to = atStart
	case m.Kind == histories.Reset && m.To == "" || m.Kind == histories.Assigned:
		to = m.Offset
	}
	if m.On != "" {
		t.cursor(m.On, process).setByMark(to, m)
		return
	}
	t.cursor(histories.DefaultPartition, process)
	for _, l := range t.used[process] {
		l.cursors.at(process).setByMark(to, m)
	}
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
	if o.Kind == histories.Fetch && o.Code == "" && len(t.pending) == 0 { // as most are
		return step{from: histories.None, floor: histories.None}
	}
	return t.follow(o, process)
}

func (t *tracker) follow(o *histories.Op, process int) step {
	if len(t.pending) > 0 {
		t.catchUp(o, process)
	}
	s := step{from: histories.None, floor: histories.None}
	switch o.Kind {
	case histories.Assign:
		t.move(o, process, o.From)
		s.moves = o.Outcome == histories.OK
	case histories.Seek:
		t.move(o, process, o.To)
		s.moves = o.Outcome == histories.OK
	case histories.Subscribe:
		t.move(o, process, histories.None)
	case histories.Poll:
		if t.judged {
			return t.cursor(o.On, process).poll(o)
		}
		s.from, s.setBy = o.From, -1 // which a projection may say
	case histories.Fetch:
		// A fetch out of range tells where its consumer stands, unless that had
		// polled or sought and nobody knows where to.
		if o.Code == "OFFSET_OUT_OF_RANGE" {
			if c := t.cursor(o.On, process); c.next < 0 && !c.blind {
				c.set(o.From, o.Index)
				s.moves = true
			}
		}
	}
	return s
}

// catchUp applies the marks before an operation.
func (t *tracker) catchUp(o *histories.Op, process int) {
	marks, ok := t.pending[o.Process]
	if !ok {
		return
	}
	for len(marks) > 0 && marks[0].Index < o.Index {
		t.apply(&marks[0], process)
		marks = marks[1:]
	}
	if t.pending[o.Process] = marks; len(marks) == 0 {
		delete(t.pending, o.Process)
	}
}

// move sets the position if the operation certainly did, and forgets it if
// nobody knows.
func (t *tracker) move(o *histories.Op, process int, to int64) {
	switch o.Outcome {
	case histories.OK:
		t.cursor(o.On, process).set(to, o.Index)
	case histories.Fail:
	default:
		c := t.cursor(o.On, process)
		c.set(histories.None, o.Index)
		c.blind = true
	}
}

func (c *cursor) poll(o *histories.Op) step {
	s := step{from: histories.None, floor: histories.None, setBy: c.last, mark: c.mark}
	if o.Outcome != histories.OK {
		if o.Outcome != histories.Fail {
			c.next, c.blind = histories.None, true // records may have been consumed
		}
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
