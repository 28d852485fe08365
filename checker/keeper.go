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
	at         map[*histories.Op]stand
	back       []regression
	movers     map[client]*histories.Op // what set the position of each last
}

// A client is a process in a partition.
type client struct {
	log     *quickLog
	process int
}

func (k *keeper) Header(h histories.Header) bool {
	k.tracker = newTracker(h.Config, k.rebalances)
	k.sections = map[*quickLog]*section{}
	k.kept, k.at, k.back = map[string][]*histories.Op{}, map[*histories.Op]stand{}, nil
	k.movers = map[client]*histories.Op{}
	return true
}

func (k *keeper) Mark(m *histories.Mark) bool {
	k.tracker.mark(m)
	return true
}

func (k *keeper) Op(o *histories.Op, process int) bool {
	step := k.tracker.op(o, process)
	l := k.log(o.On)
	if !l.suspect {
		return true
	}
	k.section(l).tellers.copy(o)
	before := k.movers[client{l, process}] // and so before the operation itself
	if step.moves {
		defer func() { k.movers[client{l, process}] = copied(before, o) }()
	}
	if o.Kind == histories.Send {
		k.section(l).count(o)
	}
	if !k.ops[o.Index] && !k.concerns(l, o, step.from) {
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
	mine := copied(nil, o)
	k.kept[o.On] = append(k.kept[o.On], mine)
	if by := (mover{mark: step.mark}); o.Kind == histories.Poll && o.Outcome == histories.OK {
		if before != nil && before.Index == step.setBy {
			by.op = copied(nil, before)
		}
		if step.from != histories.None {
			k.at[mine] = stand{step.from, by}
		}
		if step.floor != histories.None {
			k.back = append(k.back, regression{mine, step.floor, by})
		}
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
		return from != histories.None && l.suspects(from, max(from+1, l.start+1, o.HW, o.To))
	}
	first, last := o.Records[0].Offset, o.Records[n-1].Offset
	if from == histories.None {
		from = first
	}
	return l.suspects(min(from, first, last), max(first+1, last+1, o.To))
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
				p.back = append(p.back, b)
			}
		}
		slices.SortFunc(p.back, func(a, b regression) int { return cmp.Compare(a.poll.Index, b.poll.Index) })
		out = append(out, p)
	}
	return out
}
