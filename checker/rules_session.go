package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

func places(n int) string {
	if n == 1 {
		return "one offset"
	}
	return strconv.Itoa(n) + " offsets"
}

// readBeforeSent finds records handed out before anybody sent them.
func readBeforeSent(p *partition) []Finding {
	var found []Finding
	for _, r := range p.reads {
		for _, rec := range r.op.Records {
			if s := p.firstSend(rec.Value); s != nil && r.op.Return < s.op.Call {
				found = append(found, proof([]*histories.Op{r.op, s.op}, "Record %s was handed to %s at offset %d before its send began",
					rec.Value, r.op.Process, rec.Offset).should(r.op, "held no record %s yet", rec.Value).naming(rec.Value))
				break
			}
		}
	}
	return found
}

// readAboveMark finds records above the mark of their own answer.
func readAboveMark(p *partition) []Finding {
	var found []Finding
	for _, r := range p.reads {
		mark, name := p.markOf(r.op)
		for _, rec := range r.op.Records {
			if mark != histories.None && rec.Offset >= mark {
				found = append(found, proof([]*histories.Op{r.op}, "Record %s was handed to %s at offset %d in an answer whose %s is %d",
					rec.Value, r.op.Process, rec.Offset, name, mark).should(r.op, "held only records below offset %d", mark).naming(rec.Value))
				break
			}
		}
	}
	return found
}

// markOf returns the mark below which an answer's records must be.
func (p *partition) markOf(o *histories.Op) (int64, string) {
	if o.LSO != histories.None && p.config.Get("isolation.level."+o.Process) == "read_committed" {
		return o.LSO, "last stable offset"
	}
	if o.Kind == histories.Scan {
		return o.End, "end"
	}
	return o.HW, "high watermark"
}

// firstSend returns the send of a value that began first, of those that may
// have taken effect.
func (p *partition) firstSend(v histories.Value) *send {
	for _, s := range p.sent[v] {
		if takesEffect(s) {
			return s // sends are in order of their calls
		}
	}
	return nil
}

// A told is an end that somebody was told, or an offset.
type told struct {
	op  *histories.Op
	end int64
}

// A highWater is the highest of what one process was told. Of operations that were
// called at one instant nobody knows which was called first, unless they would overlap,
// as sends may.
type highWater struct{ before, now told }

// highWaters are those of each process.
type highWaters map[string]*highWater

// add takes note of what a process was told next, and returns the highest that it
// was told by operations called before.
func (all highWaters) add(t told) told {
	w := all[t.op.Process]
	if w == nil {
		w = &highWater{}
		all[t.op.Process] = w
	}
	if w.now.op != nil && (w.now.op.Call < t.op.Call || t.op.Kind != histories.Send && t.op.Call < t.op.Return) {
		if w.before.op == nil || w.now.end >= w.before.end {
			w.before = w.now
		}
		w.now = told{}
	}
	if w.now.op == nil || t.end >= w.now.end {
		w.now = t
	}
	return w.before
}

// endsToldBack finds ends that ListOffsets told going back: for one client or,
// for systems other than Kafka, for anybody.
func endsToldBack(p *partition) []Finding {
	var found []Finding
	perClient := highWaters{}
	lists := p.highest(toldByList)
	for _, o := range p.ops {
		if toldByList(o) == histories.None {
			continue
		}
		before := perClient.add(told{o, o.Offset})
		if top := lists.before(o.Call); p.config.Get("system") == "other" && top.end > before.end {
			before = top
		}
		if before.op != nil && before.end > o.Offset {
			found = append(found, regressed(before, o, "later at %d, as %s was told", o.Offset, o.Process).
				should(o, "told an end of %d or more", before.end))
		}
	}
	return found
}

// endsProvenBack finds ends that were told and that the log did not keep: a
// complete scan ends below, or a write that began afterwards landed below.
func endsProvenBack(p *partition) []Finding {
	var found []Finding
	all := p.highest(toldAny)
	for _, o := range p.ops {
		if !(o.Kind == histories.Scan && o.Outcome == histories.OK && o.End != histories.None || model.Refuted(o)) {
			continue
		}
		end := max(o.End, 0)
		if before := all.before(o.Call); before.op != nil && before.end > end {
			found = append(found, regressed(before, o, "a later scan of the healed log ends at %d", end).
				should(o, "reached offset %d or more", before.end))
		}
	}
	all = p.highest(toldAny)
	for _, s := range p.sends {
		if s.base == histories.None {
			continue
		}
		if before := all.before(s.op.Call); before.op != nil && before.end > s.base {
			found = append(found, regressed(before, s.op, "record %s, sent afterwards, landed at offset %d", s.op.Values[0], s.base).
				should(s.op, "landed at offset %d or behind", before.end).
				where(p, p.at[place{s.base, s.op.Values[0]}]))
		}
	}
	return found
}

func regressed(before told, now *histories.Op, format string, args ...any) Finding {
	return proof([]*histories.Op{before.op, now}, "The log ended at %d, as %s was told, and "+format,
		append([]any{before.end, before.op.Process}, args...)...)
}

// highest finds the highest end told before a time. It is asked with times
// that never go back, so each answer is looked at once.
type highest struct {
	byReturn []told
	top      told
}

// highest prepares the ends that answers told, by the time they came back.
func (p *partition) highest(tells func(*histories.Op) int64) *highest { return highestOf(p.ops, tells) }

func highestOf(ops []*histories.Op, tells func(*histories.Op) int64) *highest {
	h := &highest{}
	for _, o := range ops {
		if end := tells(o); end != histories.None {
			h.byReturn = append(h.byReturn, told{o, end})
		}
	}
	slices.SortStableFunc(h.byReturn, func(a, b told) int { return cmp.Compare(a.op.Return, b.op.Return) })
	return h
}

// before returns the highest end told before a time; its op is nil if none was.
func (h *highest) before(call int64) told {
	for len(h.byReturn) > 0 && h.byReturn[0].op.Return < call {
		if t := h.byReturn[0]; h.top.op == nil || t.end > h.top.end {
			h.top = t
		}
		h.byReturn = h.byReturn[1:]
	}
	return h.top
}

// toldByList is the end a ListOffsets answer told.
func toldByList(o *histories.Op) int64 {
	if o.Kind == histories.List && o.At == "latest" && o.Outcome == histories.OK {
		return o.Offset
	}
	return histories.None
}

// toldAny is the end that any answer told as a number. A log ends no earlier
// than it starts.
func toldAny(o *histories.Op) int64 {
	switch {
	case o.Outcome != histories.OK:
		return histories.None
	case o.IsRead():
		return max(o.HW, o.End, o.Start)
	case o.Kind == histories.List && o.At == "earliest":
		return o.Offset
	case o.Kind == histories.DeleteRecords:
		return o.Start
	}
	return toldByList(o)
}

// shown is the end that an answer's records or an acknowledgement imply.
func (p *partition) shown(o *histories.Op) int64 {
	end := histories.None
	if o.IsRead() && o.Outcome == histories.OK {
		end = endOf(o.Records)
	}
	if promises(o, p.config) && o.Offset != histories.None {
		end = o.Offset + int64(len(o.Values))
	}
	return end
}

// exactEnd is the end that a linearizable answer says the log had.
func exactEnd(o *histories.Op) int64 {
	if o.IsRead() && o.Outcome == histories.OK {
		return max(o.HW, o.End)
	}
	return toldByList(o)
}

// staleReads compares what exact reads say about the end with what was known
// of it before they began. An empty answer says besides, or only, that no record is
// at or behind its position: the end may be further on where offsets are sparse.
func staleReads(p *partition) []Finding {
	if model.ReadsOf(p.config) != model.Linearizable {
		return nil
	}
	var found []Finding
	records := p.highest(p.shown)
	ends := p.highest(func(o *histories.Op) int64 { return max(p.shown(o), toldAny(o)) })
	for _, o := range p.ops {
		end, at := exactEnd(o), p.emptyAt(o)
		before, record := ends.before(o.Call), records.before(o.Call)
		if end == histories.None {
			end, before = at, record
		}
		switch {
		case end != histories.None && before.op != nil && before.end > end:
			found = append(found, proof([]*histories.Op{before.op, o}, "The log had reached offset %d before the read of %s began, which saw it end at %d",
				before.end, o.Process, end).should(o, "seen the log end at %d or later", before.end).at(p, o))
		case at != histories.None && record.op != nil && record.end > at && !p.compacted():
			found = append(found, proof([]*histories.Op{record.op, o}, "There was a record at offset %d before the read of %s began, which held nothing at offset %d or behind",
				record.end-1, o.Process, at).should(o, "held what is at offset %d", record.end-1).around(record.end-1).at(p, o))
		}
	}
	return found
}

// emptyAt returns the position at which a read found nothing: the log start, if
// it was asked for what had been deleted.
func (p *partition) emptyAt(o *histories.Op) int64 {
	if r := p.readOf[o]; r != nil && r.position != histories.None && len(o.Records) == 0 && o.Kind != histories.Scan {
		return max(r.position, p.start)
	}
	return histories.None
}

// nonmonotonicSends compares where one producer's writes are with the order it
// sent them in, where its settings promise one.
func nonmonotonicSends(p *partition) []Finding {
	if p.config.Get(idemKey) == "false" && p.config.Get("max.in.flight.requests.per.connection") != "1" {
		return nil
	}
	var found []Finding
	last := highWaters{}
	for _, s := range p.sends {
		if s.op.Outcome != histories.OK || s.base == histories.None || s.copied {
			continue
		}
		x := p.at[place{s.base, s.op.Values[0]}]
		if x.gone != nil {
			continue // it is nowhere
		}
		if before := last.add(told{s.op, s.base}); before.op != nil && s.base < before.end {
			found = append(found, proof([]*histories.Op{before.op, s.op}, "Record %s was sent by %s before record %s, and they are at offsets %d and %d",
				before.op.Values[0], s.op.Process, s.op.Values[0], before.end, s.base).should(s.op, "landed behind offset %d", before.end).
				where(p, p.at[place{before.end, before.op.Values[0]}], x))
		}
	}
	return found
}

func nonmonotonicPolls(p *partition) []Finding {
	var found []Finding
	for _, b := range p.back {
		r := b.poll.Records[0]
		found = append(found, proof(append([]*histories.Op{b.poll}, present(b.op)...), "Consumer %s was at position %d and was handed offset %d (record %s)",
			b.poll.Process, b.floor, r.Offset, r.Value).should(b.poll, "held only records at offset %d or behind", b.floor).naming(r.Value).after(b.mark))
	}
	return found
}

func pollSkips(p *partition) []Finding {
	return p.skips("skipped by", func(r *read, x *record) bool {
		return len(r.op.Records) == 0 || x.offset < r.op.Records[0].Offset || x.offset > r.op.Records[len(r.op.Records)-1].Offset
	})
}

// silentResets finds consumers that jump over records below the log start with
// no reset that their settings permit. Kafka answers a position below the log
// start with OFFSET_OUT_OF_RANGE: it never moves on by itself.
func silentResets(p *partition) []Finding {
	if p.compacted() || p.config.Get("system") != "kafka" {
		return nil
	}
	var found []Finding
	for _, r := range p.reads {
		if r.op.Kind != histories.Poll || r.position == histories.None || len(r.op.Records) == 0 {
			continue
		}
		first := r.op.Records[0].Offset
		if i := p.search(r.position); i < len(p.records) && p.records[i].offset < min(first, p.start) {
			x := p.records[i]
			found = append(found, proof([]*histories.Op{x.witness(), r.op}, "Record %s at offset %d was skipped by %s, which was at position %d and was handed offset %d, and no reset explains that",
				x.value, x.offset, r.op.Process, r.position, first).should(r.op, "failed with OFFSET_OUT_OF_RANGE, so that the consumer is reset").naming(x.value).
				from(p, r, x.offset).with(present(p.tellers.highest)...).where(p, x))
		}
	}
	return found
}

// seenAfter returns an answer that holds the record at the same time as another one
// lacks it, or later: the last one, if that is so late.
func (x *record) seenAfter(r *read) *histories.Op {
	last := x.seenBy[len(x.seenBy)-1].op
	if last.Return >= r.op.Call {
		return last
	}
	return x.lastAnswer().op
}

// stood says of a poll that passes over an offset before its first record where it
// was to begin.
func (r *read) stood(offset int64) string {
	if r.op.Kind != histories.Poll || len(r.op.Records) == 0 || offset >= lowest(r.op.Records) {
		return ""
	}
	return fmt.Sprintf(", which was at position %d and was handed offset %d", r.position, lowest(r.op.Records))
}

// positioned is the same, beside the name of its process.
func (r *read) positioned(offset int64) string {
	if r.stood(offset) == "" {
		return ""
	}
	return fmt.Sprintf(", at position %d,", r.position)
}

func intPollSkips(p *partition) []Finding {
	return p.skips("left out of an answer to", func(r *read, x *record) bool {
		return len(r.op.Records) > 0 && x.offset > r.op.Records[0].Offset && x.offset < r.op.Records[len(r.op.Records)-1].Offset
	})
}

// skips finds answers that pass over a record that others read at the same time
// or later.
func (p *partition) skips(how string, here func(*read, *record) bool) []Finding {
	var found []Finding
	for _, x := range p.records {
		for _, r := range x.skipped {
			if _, other := r.holdsAt(x.offset); other || !here(r, x) {
				continue
			}
			seen := x.seenAfter(r)
			found = append(found, proof([]*histories.Op{r.op, seen}, "Record %s at offset %d was %s %s%s, and it is there: %s read it",
				x.value, x.offset, how, r.op.Process, phrase(func() string { return r.stood(x.offset) }), seen.Process).
				should(r.op, "held record %s at offset %d", x.value, x.offset).naming(x.value).around(x.offset).from(p, r, x.offset).with(p.keyOf(x)...))
			break
		}
	}
	return found
}
