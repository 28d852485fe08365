package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// Windows are what is left to search where the linear engine cannot place every
// send. Sends with a known offset are walls, and between them lie gaps. Only a
// gap that a send without a known offset may be in is a window; everything else
// is settled here. docs/exactness.md argues that nothing is lost by that.
//
// Let t(h) be the instant at which the end of the log reaches h. Every interval
// and every read is a bound on it from below or from above. Inside a window the
// bounds become operations of one instant, and what lies between two windows
// becomes one operation.
type windows struct {
	log     *model.Log
	walls   []placed
	lower   bounds      // the end reaches the offset no earlier; later ones for higher offsets
	upper   bounds      // the end reaches the offset no later; earlier ones for lower offsets
	beyond  []*model.Op // reads that found nothing at or behind an offset and do not say where the log ends
	gaps    []gap
	values  map[histories.Value][]int // the gaps in which each value is known to be
	refused *conflict
}

// A gap is a stretch of offsets in which no send is known to be.
type gap struct {
	from, to         int64 // to is endless behind the last wall
	earliest, latest int64 // the end reaches from no earlier, and to no later
	held             int64 // the first offset of it that holds something, None if nothing has to
	open             bool  // a send without a known offset may be in it: it is a window
	joined           bool  // with the gap before: what happens in one matters in the other
}

// A roamer is a send without a known offset, and the gaps it may be in.
type roamer struct {
	op          *model.Op
	first, last int
}

const endless = int64(math.MaxInt64)

// divide cuts a log into independent parts that decide together: the history is
// legal if and only if every part is. It returns a conflict if it is not, for a
// reason that needs no search.
func divide(log *model.Log) ([]*model.Log, *conflict) {
	if bad := log.Contradicted(); bad != nil {
		return nil, &conflict{cause: disagrees, forces: bad}
	}
	l := &linear{log: log}
	l.place()
	w := &windows{log: log, walls: l.appends, values: map[histories.Value][]int{}, refused: l.refused}
	w.build()
	w.bound()
	w.findGaps()
	roamers := w.roam(append(l.floats, l.unplaced...))
	if w.refused != nil {
		return nil, w.refused
	}
	return w.parts(roamers), nil
}

func (w *windows) refuse(c conflict) {
	if w.refused == nil {
		w.refused = &c
	}
}

// build checks that the walls stand side by side.
func (w *windows) build() {
	for i := range w.walls {
		if i > 0 && w.walls[i].base < w.walls[i-1].end {
			w.refuse(conflict{cause: overlaps, offset: w.walls[i].base, forces: w.walls[i].op, forbids: w.walls[i-1].op})
		}
	}
}

// wall returns the wall that an offset lies in.
func (w *windows) wall(offset int64) *placed {
	i := sort.Search(len(w.walls), func(i int) bool { return w.walls[i].end > offset })
	if i < len(w.walls) && w.walls[i].base <= offset {
		return &w.walls[i]
	}
	return nil
}

// bound turns every interval and every read into bounds on single instants.
func (w *windows) bound() {
	for i := range w.walls {
		a := &w.walls[i]
		w.notBefore(a.base+1, a.op)
		if a.op.Must {
			w.notAfter(a.end, a.op)
		}
	}
	ops := w.log.Ops()
	for i := range ops {
		if ops[i].Kind == model.Read {
			w.boundRead(&ops[i])
		}
	}
	w.lower, w.upper = w.lower.tightest(1), w.upper.tightest(-1)
	slices.Reverse(w.upper)
	for _, u := range w.upper {
		if l := w.lower.upTo(u.offset); l != nil && l.time > u.time {
			w.refuse(conflict{offset: u.offset, forces: u.by, forbids: l.by})
		}
	}
}

// boundRead says that the log was there as far as the read saw it, and no
// further where the read was exact.
func (w *windows) boundRead(op *model.Op) {
	there := max(op.Reached(), 0)
	if op.Exact != histories.None {
		if a := w.wall(op.Exact); a != nil && a.base < op.Exact {
			w.refuse(conflict{cause: splits, offset: op.Exact, forces: a.op, forbids: op})
		}
		if there > op.Exact {
			w.refuse(conflict{cause: disagrees, forces: op})
		}
		if op.Exact < endless {
			w.notBefore(op.Exact+1, op)
		}
	}
	if op.Beyond != histories.None {
		w.nothingBehind(op, there)
	}
	w.notAfter(there, op)
}

// nothingBehind bounds the first wall behind a read that found nothing.
func (w *windows) nothingBehind(op *model.Op, there int64) {
	w.beyond = append(w.beyond, op)
	i := sort.Search(len(w.walls), func(i int) bool { return w.walls[i].end > op.Beyond })
	if i == len(w.walls) {
		return
	}
	if w.walls[i].base < there {
		w.refuse(conflict{cause: disagrees, forces: op})
	}
	w.notBefore(w.walls[i].base+1, op)
}

// notBefore says that the end does not reach an offset before a call.
func (w *windows) notBefore(offset int64, by *model.Op) {
	w.lower = append(w.lower, bound{offset, by.Call, by})
}

// notAfter says that the end reaches an offset by a return.
func (w *windows) notAfter(offset int64, by *model.Op) {
	if offset > 0 {
		w.upper = append(w.upper, bound{offset, by.Return, by})
	}
}

// findGaps lists what lies between the walls.
func (w *windows) findGaps() {
	from, known := int64(0), w.log.Known()
	for i := 0; i <= len(w.walls); i++ {
		to, next := endless, endless
		if i < len(w.walls) {
			to, next = w.walls[i].base, w.walls[i].end
		}
		if from < to {
			g := gap{from: from, to: to, earliest: w.earliest(from), latest: w.latest(to), held: histories.None}
			if o := max(from, w.log.Start()); w.log.Tight() && o < min(to, w.log.Limit()) {
				g.held = o
			}
			for j := firstAt(known, from); j < len(known) && known[j].Offset < to; j++ {
				if g.held == histories.None {
					g.held = known[j].Offset
				}
				w.values[known[j].Value] = append(w.values[known[j].Value], len(w.gaps))
			}
			w.gaps = append(w.gaps, g)
		}
		from = next
	}
}

// firstAt returns the index of the first record at or behind an offset.
func firstAt(records []histories.Record, offset int64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].Offset >= offset })
}

// earliest returns the instant before which the end cannot have reached an
// offset.
func (w *windows) earliest(offset int64) int64 {
	if b := w.lower.upTo(offset); b != nil {
		return b.time
	}
	return math.MinInt64
}

// latest returns the instant by which the end had reached an offset.
func (w *windows) latest(offset int64) int64 {
	if i := w.upper.from(offset); i < len(w.upper) {
		return w.upper[i].time
	}
	return math.MaxInt64
}

// roam finds the gaps that sends without a known offset may be in, and joins
// those that one of them may choose between.
func (w *windows) roam(ops []*model.Op) []roamer {
	reach := make([]int, len(w.gaps)) // reach[i]: the last gap that a roamer of gap i may be in
	var out []roamer
	for _, op := range ops {
		r := w.roamer(op)
		if r.first > r.last {
			if op.Must {
				w.refuse(conflict{cause: disagrees, forces: op})
			}
			continue
		}
		out = append(out, r)
		reach[r.first] = max(reach[r.first], r.last)
	}
	far, before := -1, -1
	for i := range w.gaps {
		g := &w.gaps[i]
		switch {
		case !g.open && g.held != histories.None:
			w.refuse(conflict{cause: unexplained, offset: g.held})
		case g.open:
			g.joined = before >= 0 && (far >= i || w.gaps[before].latest > g.earliest)
			before = i
		}
		far = max(far, reach[i])
	}
	return out
}

// roamer opens the gaps that a send may be in: where a value of it is known to
// be, where it has to be somewhere, and where something has to be.
func (w *windows) roamer(op *model.Op) roamer {
	r := roamer{op: op, first: len(w.gaps), last: -1}
	may := func(i int) {
		if g := &w.gaps[i]; g.admits(op) {
			g.open, r.first, r.last = true, min(r.first, i), max(r.last, i)
		}
	}
	for _, v := range op.Values {
		for _, i := range w.values[v] {
			may(i)
		}
	}
	if op.Must || w.log.Tight() {
		i := sort.Search(len(w.gaps), func(i int) bool { return w.gaps[i].latest >= op.Call })
		for ; i < len(w.gaps) && (!op.Must || w.gaps[i].earliest <= op.Return); i++ {
			if op.Must || w.gaps[i].held != histories.None {
				may(i)
			}
		}
	}
	return r
}

// admits reports whether there is room and time for a send.
func (g *gap) admits(op *model.Op) bool {
	n := int64(len(op.Values))
	if op.Offset != histories.None && (op.Offset < g.from || op.Offset > g.to-n) {
		return false
	}
	return g.from <= g.to-n && op.Call <= g.latest && (!op.Must || g.earliest <= op.Return)
}

// parts returns one log for each group of windows.
func (w *windows) parts(roamers []roamer) []*model.Log {
	slices.SortStableFunc(roamers, func(a, b roamer) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.op.Call, b.op.Call))
	})
	var certain []histories.Record
	for i := range w.walls {
		for j, v := range w.walls[i].op.Values {
			certain = append(certain, histories.Record{Offset: w.walls[i].base + int64(j), Value: v})
		}
	}
	settled := w.log.Settle(certain)
	var out []*model.Log
	for i := 0; i < len(w.gaps); {
		if !w.gaps[i].open {
			i++
			continue
		}
		group := []gap{w.gaps[i]}
		for i++; i < len(w.gaps) && (!w.gaps[i].open || w.gaps[i].joined); i++ {
			if w.gaps[i].open {
				group = append(group, w.gaps[i])
			}
		}
		var ops []model.Op
		for len(roamers) > 0 && roamers[0].first < i {
			ops = append(ops, *roamers[0].op)
			roamers = roamers[1:]
		}
		out = append(out, settled.Window(group[0].from, w.part(group, ops)))
	}
	return out
}

// part returns the operations that decide a group of windows.
func (w *windows) part(group []gap, ops []model.Op) []model.Op {
	begin := group[0].earliest
	for i := range ops {
		ops[i].Call = max(ops[i].Call, begin)
	}
	ops = w.twins(group, ops)
	for i, g := range group {
		for j := w.lower.from(g.from + 1); j < len(w.lower) && w.lower[j].offset <= g.to; j++ {
			ops = append(ops, model.Moment(w.lower[j].time, histories.None, w.lower[j].offset-1))
		}
		for j := w.upper.from(g.from + 1); j < len(w.upper) && w.upper[j].offset < g.to; j++ {
			ops = append(ops, model.Moment(w.upper[j].time, w.upper[j].offset, histories.None))
		}
		for _, b := range w.beyond {
			if g.from <= b.Beyond && b.Beyond < g.to && b.Return >= begin {
				read := *b
				read.Call = max(b.Call, begin)
				ops = append(ops, read)
			}
		}
		if g.to == endless {
			continue
		}
		ops = append(ops, model.Moment(g.latest, g.to, histories.None))
		// A wall stands at the end, or a send could be taken for it.
		next := w.wall(g.to).end
		if i+1 < len(group) {
			next = group[i+1].from
		}
		ops = append(ops, model.Certain(g.to, next, w.earliest(next), w.latest(next)))
	}
	return ops
}

// twins lets sends of unknown outcome that nobody can tell apart take effect in
// the order of their calls only, and leaves out those that there is no room for.
func (w *windows) twins(group []gap, ops []model.Op) []model.Op {
	slices.SortStableFunc(ops, func(a, b model.Op) int { return cmp.Compare(a.Call, b.Call) })
	alike := map[kind]int{}
	for i := range ops {
		if k, ok := w.kind(&ops[i]); ok {
			alike[k]++
		}
	}
	numbers, counts := map[kind]int{}, []int{0}
	kept := ops[:0]
	for _, op := range ops {
		k, ok := w.kind(&op)
		if !ok || alike[k] == 1 {
			kept = append(kept, op)
			continue
		}
		if numbers[k] == 0 {
			numbers[k] = len(counts)
			counts = append(counts, 0)
		}
		op.Twins = numbers[k]
		op.Before = counts[op.Twins]
		if k.values == "" && op.Before >= w.room(group, int64(k.size)) {
			continue
		}
		counts[op.Twins]++
		kept = append(kept, op)
	}
	return kept
}

// A kind is sends of unknown outcome that nobody can tell apart: batches of one
// size that nobody read, or batches of the same values.
type kind struct {
	size   int
	values string
}

func (w *windows) kind(op *model.Op) (kind, bool) {
	if op.Must || op.Offset != histories.None {
		return kind{}, false
	}
	k := kind{size: len(op.Values)}
	if slices.ContainsFunc(op.Values, func(v histories.Value) bool { return len(w.values[v]) > 0 }) {
		k.values = fmt.Sprint(op.Values)
	}
	return k, true
}

// room returns how many batches of n records the windows can hold below the
// offset behind which nothing is known.
func (w *windows) room(group []gap, n int64) int {
	room := int64(0)
	for _, g := range group {
		if size := min(g.to, w.log.Limit()) - g.from; size > 0 {
			room += (size-1)/n + 1
		}
	}
	return int(room)
}
