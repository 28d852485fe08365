package model

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
)

// A Log is everything a history says about one partition that does not depend
// on time, and the operations that are left to be ordered.
type Log struct {
	dense  bool  // every offset holds a record that clients can see
	again  bool  // a send may land more than once
	tight  bool  // and a send that is known explains it
	start  int64 // offsets below are out of scope: the log start had moved there
	slots  []histories.Record
	empty  []Span                   // offsets known to hold nothing, sorted and merged
	ends   []int64                  // where the log ended at some instant, sorted: no batch lies across
	limit  int64                    // nothing is known at or behind this offset
	unsent map[histories.Value]bool // values of slots that nobody sent
	ops    []Op
	bad    []bool // bad[i]: what ops[i] says contradicts something said elsewhere
	from   Point  // how the log begins
}

// Options says how offsets of a partition are to be read.
type Options struct {
	Dense bool  // offsets=dense
	Again bool  // a send may land again and again: a retry may, without idempotence
	Part  bool  // there are other sends than those among the operations
	Start int64 // the highest log start told to anybody
}

// Compile gathers what the operations of one partition say about values and
// drops the operations that cannot matter. The operations are the log's from then
// on. It drops:
//
//   - a send that nobody knows the outcome of and nobody observed, where
//     offsets may be sparse: its effect, if any, is invisible;
//   - the same where offsets are dense and every offset below the highest one
//     known is explained without it, or may be explained by a retry;
//   - a send acknowledged below acks=all that no read returned.
func Compile(ops []Op, opt Options) *Log {
	l := &Log{dense: opt.Dense, tight: opt.Dense && !opt.Again, again: opt.Again, start: max(opt.Start, 0), ops: ops, bad: make([]bool, len(ops))}
	l.gatherSlots()
	l.gatherUnsent()
	l.gatherEmpty()
	l.findContradictions()
	if l.dense && l.again && !opt.Part {
		l.findUnsent()
	}
	l.dropInvisible()
	return l
}

// gatherSlots collects the records whose offsets are known: from reads, and
// from acknowledgements that promise something. The first to speak of an
// offset is kept; who differs is found by findContradictions.
func (l *Log) gatherSlots() {
	n, top := 0, int64(-1)
	for r := range l.told {
		n, top = n+1, max(top, r.Offset)
	}
	if top < 2*int64(n) {
		l.slots = firstAtEach(l.told, top+1)
	} else {
		l.slots = firstByOffset(slices.AppendSeq(make([]histories.Record, 0, n), l.told))
	}
	for i := range l.ops {
		op := &l.ops[i]
		if op.Exact != histories.None {
			l.ends = append(l.ends, op.Exact)
		}
		l.limit = max(l.limit, op.Low, op.Exact)
	}
	slices.Sort(l.ends)
	l.ends = slices.Compact(l.ends)
	l.limit = max(l.limit, top+1)
}

// gatherUnsent finds the values of slots that nobody sent. Most slots hold what
// a send says that it put there: only the others have to be looked for.
func (l *Log) gatherUnsent() {
	sent := make([]bool, len(l.slots))
	for i := range l.ops {
		op := &l.ops[i]
		for j, v := range op.Values {
			if op.Offset == histories.None {
				break
			}
			if s, ok := l.index(op.Offset + int64(j)); ok && l.slots[s].Value == v {
				sent[s] = true
			}
		}
	}
	if !slices.Contains(sent, false) {
		return
	}
	l.unsent = map[histories.Value]bool{}
	for i, s := range l.slots {
		if !sent[i] {
			l.unsent[s.Value] = true
		}
	}
	for i := range l.ops {
		for _, v := range l.ops[i].Values {
			delete(l.unsent, v)
		}
	}
}

// told yields the records whose offsets operations tell, in the order of the
// operations.
func (l *Log) told(yield func(histories.Record) bool) {
	for i := range l.ops {
		op := &l.ops[i]
		for _, r := range op.Records {
			if !yield(r) {
				return
			}
		}
		if op.Kind != Append || !op.Must || op.Offset == histories.None {
			continue
		}
		for j, v := range op.Values {
			if !yield(histories.Record{Offset: op.Offset + int64(j), Value: v}) {
				return
			}
		}
	}
}

// firstByOffset sorts records and keeps the first of each offset.
func firstByOffset(records []histories.Record) []histories.Record {
	slices.SortStableFunc(records, func(a, b histories.Record) int { return cmp.Compare(a.Offset, b.Offset) })
	return slices.CompactFunc(records, func(a, b histories.Record) bool { return a.Offset == b.Offset })
}

// firstAtEach is the same of records below an offset, without comparing them: where
// most offsets hold one that many answers have, sorting is most of the work.
func firstAtEach(records iter.Seq[histories.Record], below int64) []histories.Record {
	table := make([]histories.Record, below)
	for i := range table {
		table[i].Offset = histories.None
	}
	for r := range records {
		if table[r.Offset].Offset == histories.None {
			table[r.Offset] = r
		}
	}
	return slices.DeleteFunc(table, func(r histories.Record) bool { return r.Offset == histories.None })
}

// inScope cuts off what an answer says about offsets that had been deleted.
// The log start moves behind whole prefixes: an answer that has a record below
// the highest start told was given before it moved that far.
func (l *Log) inScope(op *Op, s Span) (Span, bool) {
	start := l.start
	if op.First != histories.None {
		start = min(start, op.First)
	}
	s.From = max(s.From, start)
	return s, s.From < s.To
}

func (l *Log) gatherEmpty() {
	for i := range l.ops {
		if b := &l.ops[i].Beyond; *b != histories.None {
			*b = max(*b, l.start)
		}
		for _, s := range l.ops[i].Empty {
			if s, ok := l.inScope(&l.ops[i], s); ok {
				l.empty = append(l.empty, s)
			}
		}
	}
	slices.SortFunc(l.empty, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	merged := l.empty[:0]
	for _, s := range l.empty {
		if n := len(merged); n > 0 && s.From <= merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, s.To)
			continue
		}
		merged = append(merged, s)
	}
	l.empty = merged
}

// findContradictions marks the operations no log can agree with, whatever the
// order: two values at one offset, a hole where a record is, a hole where
// offsets are dense, a record nobody sent, an end before the log start told with it.
func (l *Log) findContradictions() {
	for i := range l.ops {
		op := &l.ops[i]
		for _, r := range op.Records {
			if s, ok := l.slot(r.Offset); !ok || s.Value != r.Value || l.unsent[r.Value] {
				l.bad[i] = true
			}
		}
		if op.Kind == Append && op.Must && op.Offset != histories.None && !l.fits(op.Values, op.Offset) {
			l.bad[i] = true
		}
		if op.Exact != histories.None && op.Exact < op.Low {
			l.bad[i] = true
		}
		for _, s := range op.Empty {
			if s, ok := l.inScope(op, s); ok && (l.dense || l.next(s.From).Offset < s.To) {
				l.bad[i] = true
			}
		}
	}
}

// findUnsent marks the operations that know of a record, at the log start or behind,
// from before the first send. A send may land as often as it likes where retries make
// copies, and so explain any offset, but not before it was called.
func (l *Log) findUnsent() {
	first := endless
	for i := range l.ops {
		if l.ops[i].Kind == Append {
			first = min(first, l.ops[i].Call)
		}
	}
	for i := range l.ops {
		op := &l.ops[i]
		if op.Kind != Read || op.Return >= first {
			continue
		}
		l.bad[i] = l.bad[i] || op.Reached() > l.start
	}
}

// dropInvisible removes uncertain sends whose effect nobody can have seen.
func (l *Log) dropInvisible() {
	var seen map[histories.Value]bool // of the values that uncertain sends have
	for i := range l.ops {
		if !l.ops[i].uncertain() {
			continue
		}
		if seen == nil {
			seen = map[histories.Value]bool{}
		}
		for _, v := range l.ops[i].Values {
			seen[v] = false
		}
	}
	if seen == nil {
		return
	}
	for _, s := range l.slots {
		if _, ok := seen[s.Value]; ok {
			seen[s.Value] = true
		}
	}
	room := l.tight && l.unexplained()
	kept, bad := l.ops[:0], l.bad[:0]
	for i, op := range l.ops {
		if op.uncertain() {
			observed := slices.ContainsFunc(op.Values, func(v histories.Value) bool { return seen[v] })
			if !observed && !room {
				continue
			}
		}
		kept, bad = append(kept, op), append(bad, l.bad[i])
	}
	l.ops, l.bad = kept, bad
}

// unexplained reports whether an offset below the limit has no known record.
func (l *Log) unexplained() bool {
	inScope := len(l.slots) - l.search(l.start)
	return int64(inScope) < l.limit-l.start
}

// search returns the index of the first slot at or behind an offset.
func (l *Log) search(offset int64) int {
	if len(l.slots) > 0 { // side by side, as a rule
		if i := offset - l.slots[0].Offset; i >= 0 && i < int64(len(l.slots)) && l.slots[i].Offset == offset {
			return int(i)
		}
	}
	return sort.Search(len(l.slots), func(i int) bool { return l.slots[i].Offset >= offset })
}

// index returns the index of the slot of an offset, and false if nothing is known
// to be there.
func (l *Log) index(offset int64) (int, bool) {
	i := l.search(offset)
	return i, i < len(l.slots) && l.slots[i].Offset == offset
}

// slot returns the known record at an offset.
func (l *Log) slot(offset int64) (histories.Record, bool) {
	if i, ok := l.index(offset); ok {
		return l.slots[i], true
	}
	return histories.Record{}, false
}

// next returns the first known record at or behind an offset; its offset is
// endless if there is none.
func (l *Log) next(offset int64) histories.Record {
	if i := l.search(offset); i < len(l.slots) {
		return l.slots[i]
	}
	return histories.Record{Offset: endless}
}

const endless = int64(math.MaxInt64)

// emptyUntil returns the first offset at or behind the given one that is not
// known to hold nothing.
func (l *Log) emptyUntil(offset int64) int64 {
	i := sort.Search(len(l.empty), func(i int) bool { return l.empty[i].To > offset })
	if i < len(l.empty) && l.empty[i].From <= offset {
		return l.empty[i].To
	}
	return offset
}

// cut returns the first told end inside a batch of n records at an offset. The
// log would not have ended there.
func (l *Log) cut(offset, n int64) (int64, bool) {
	i := sort.Search(len(l.ends), func(i int) bool { return l.ends[i] > offset })
	if i < len(l.ends) && l.ends[i]-offset < n {
		return l.ends[i], true
	}
	return 0, false
}

// fits reports whether nothing known speaks against these records at these
// offsets.
func (l *Log) fits(values []histories.Value, offset int64) bool {
	for i, v := range values {
		at := offset + int64(i)
		if s, ok := l.slot(at); ok && s.Value != v || l.emptyUntil(at) != at {
			return false
		}
	}
	return true
}

// lands reports whether the records may be appended there: they fit, and nobody
// was told that the log ended among them.
func (l *Log) lands(values []histories.Value, offset int64) bool {
	_, cut := l.cut(offset, int64(len(values)))
	return !cut && l.fits(values, offset)
}

// skips reports whether the end may move from one offset to another without an
// append that clients can see.
func (l *Log) skips(from, to int64) bool {
	if l.next(from).Offset < to {
		return false
	}
	return !l.tight || from >= to || to <= l.start
}
