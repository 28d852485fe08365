package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A cursor is one consumer's position in one partition, as far as its history
// tells.
type cursor struct {
	next  int64         // where the next poll begins, None if that is not known
	floor int64         // no later poll may begin below
	last  *histories.Op // what set the position
}

// A regression is a poll that begins below its consumer's position.
type regression struct {
	poll, last *histories.Op
	floor      int64
}

// positions follows every consumer through the history. It returns where each
// poll was to begin, where that is known, and the polls that went back.
func positions(h *histories.History) (map[*histories.Op]int64, []regression) {
	w := &walker{config: h.Config(), cursors: map[cursorKey]*cursor{}, at: map[*histories.Op]int64{}}
	w.rebalances = recordsRebalances(h)
	ops, marks := h.Ops(), h.Marks()
	for len(ops) > 0 || len(marks) > 0 {
		if len(ops) == 0 || len(marks) > 0 && marks[0].Index < ops[0].Index {
			w.mark(&marks[0])
			marks = marks[1:]
			continue
		}
		w.op(&ops[0])
		ops = ops[1:]
	}
	return w.at, w.back
}

// recordsRebalances reports whether the history says when partitions moved
// between the members of a group.
func recordsRebalances(h *histories.History) bool {
	return slices.ContainsFunc(h.Marks(), func(m histories.Mark) bool {
		return m.Kind == histories.Revoked || m.Kind == histories.Assigned
	})
}

type cursorKey struct{ process, on string }

type walker struct {
	config     histories.Config
	rebalances bool
	cursors    map[cursorKey]*cursor
	order      []cursorKey
	at         map[*histories.Op]int64
	back       []regression
}

func (w *walker) cursor(process, on string) *cursor {
	k := cursorKey{process, on}
	c := w.cursors[k]
	if c == nil {
		c = &cursor{next: histories.None, floor: histories.None}
		w.cursors[k] = c
		w.order = append(w.order, k)
	}
	return c
}

// mark moves the positions that a client-side event explains.
func (w *walker) mark(m *histories.Mark) {
	if m.Kind == histories.Nemesis || m.Kind == histories.Note {
		return
	}
	policy, stated := w.config.Stated("auto.offset.reset")
	if m.Kind == histories.Reset && m.To != "" && stated && m.To != policy {
		return // the policy does not let the consumer jump there
	}
	to := histories.None
	if m.Kind == histories.Reset && m.To == "" || m.Kind == histories.Assigned {
		to = m.Offset
	}
	if m.On != "" {
		w.cursor(m.Process, m.On).set(to, nil)
		return
	}
	w.cursor(m.Process, histories.DefaultPartition)
	for _, k := range w.order {
		if k.process == m.Process {
			w.cursors[k].set(to, nil)
		}
	}
}

// set puts the position at an offset, or forgets it.
func (c *cursor) set(to int64, by *histories.Op) { c.next, c.floor, c.last = to, to, by }

func (w *walker) op(o *histories.Op) {
	switch o.Kind {
	case histories.Assign:
		w.move(o, o.From)
	case histories.Seek:
		w.move(o, o.To)
	case histories.Subscribe:
		w.move(o, histories.None)
	case histories.Poll:
		w.poll(o)
	case histories.Fetch:
		// A fetch out of range tells where its consumer stands.
		if c := w.cursor(o.Process, o.On); o.Code == "OFFSET_OUT_OF_RANGE" && c.next == histories.None {
			c.set(o.From, o)
		}
	}
}

// move sets the position if the operation certainly did, and forgets it if
// nobody knows.
func (w *walker) move(o *histories.Op, to int64) {
	switch o.Outcome {
	case histories.OK:
		w.cursor(o.Process, o.On).set(to, o)
	case histories.Fail:
	default:
		w.cursor(o.Process, o.On).set(histories.None, o)
	}
}

func (w *walker) poll(o *histories.Op) {
	c := w.cursor(o.Process, o.On)
	if w.config.Get("assignment") == "subscribe" && !w.rebalances {
		return // a rebalance nobody recorded could explain anything
	}
	if o.Outcome != histories.OK {
		if o.Outcome != histories.Fail {
			c.next = histories.None // records may have been consumed
		}
		return
	}
	if c.next != histories.None {
		w.at[o] = c.next
	}
	if len(o.Records) == 0 {
		return
	}
	if first := o.Records[0].Offset; first < c.floor {
		w.back = append(w.back, regression{poll: o, last: c.last, floor: c.floor})
	}
	end := o.Records[0].Offset
	for _, r := range o.Records {
		end = max(end, r.Offset)
	}
	c.set(end+1, o)
}
