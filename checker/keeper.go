package checker

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

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

// leave counts a send outside the section.
func (k *keeper) leave(l *quickLog, o *histories.Op) {
	if o.Outcome == histories.Fail {
		k.section(l).add(o, 0, false)
		return
	}
	k.section(l).add(o, len(o.Values), !k.acknowledged(o))
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
