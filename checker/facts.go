package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A partition is what a history says about one partition's log, arranged so
// that each rule is one pass over it.
type partition struct {
	name     string
	config   histories.Config
	ops      []*histories.Op // in order of invocation
	sends    []*send
	reads    []*read
	readOf   map[*histories.Op]*read
	lastScan *read                   // the complete scan that was called last, nil if there is none
	stands   map[*histories.Op]stand // where polls were to begin
	back     []regression            // polls that went back

	section   *section // the offsets that are judged, nil for all
	start     int64    // the highest log start told to anybody
	startTold bool
	lastTold  int64 // when the last operation that told a log start was called
	tellers   tellers
	scanned   int64 // when the last answered scan began, None if there is none

	sent    map[histories.Value][]*send
	records []*record         // distinct (offset, value) pairs, by offset
	at      map[place]*record // the same, by place
	places  map[histories.Value][]*record
	keys    *keys   // where the log is compacted
	unkeyed *record // the first that an answer lacks and whose key nobody tells, nil if there is none
	made    workshop
}

// A place is a value at an offset.
type place struct {
	offset int64
	value  histories.Value
}

// A send is one batch and where it is known to be.
type send struct {
	op     *histories.Op
	acked  bool // acknowledged with acks=all: it took effect in its interval
	acks   string
	base   int64 // offset of the first record if it is known, None otherwise
	copied bool  // what was read may be another landing of it than the acknowledged one
	bySaw  bool  // base is known from a read, not from the acknowledgement
	seen   int   // how many of its values were read
}

// A read is an answer with records or a complete scan, and the range of
// offsets it speaks for.
type read struct {
	op       *histories.Op
	position int64 // where it was asked to begin, None if that is not known
	from, to int64 // it speaks for from <= offset < to
	sorted   bool  // its records are in order of offsets
}

// A record is a value at an offset: somebody read it there, or an
// acknowledgement that counts put it there.
type record struct {
	place
	send    *send   // that put it there; nil if none is known
	seenBy  []*read // in order of invocation
	skipped []*read // answers that speak for the offset, lack the value, and are no proof of loss
	gone    *read   // the first answer that proves the record lost, nil if none does
	aside   bool    // excused: it does not count any more
}

// acked reports whether an acks=all acknowledgement says the record is there.
func (x *record) acked() bool { return x.send != nil && x.send.acked && !x.send.copied }

// lastSeen returns when the last answer that holds the record came back.
func (x *record) lastSeen() int64 {
	last := histories.None
	for _, r := range x.seenBy {
		last = max(last, r.op.Return)
	}
	return last
}

// newPartition arranges the operations of one partition. positions tells where
// polls were to begin. With a section, only what they say about its offsets
// counts.
func newPartition(name string, c histories.Config, ops []*histories.Op, positions map[*histories.Op]stand, w *section) *partition {
	values, reads := 0, 0
	for _, o := range ops {
		values += len(o.Values)
		if o.IsRead() {
			reads++
		}
	}
	p := &partition{name: name, section: w, scanned: histories.None, config: c, ops: ops, stands: positions, sent: make(map[histories.Value][]*send, values), readOf: make(map[*histories.Op]*read, reads),
		at: make(map[place]*record, values), places: make(map[histories.Value][]*record, values)}
	if p.lastTold = histories.None; w != nil {
		p.start, p.startTold, p.lastTold, p.tellers = w.start, w.startTold, w.lastTold, w.tellers
	}
	for _, o := range ops {
		p.noteStart(o)
		if o.Kind == histories.Send {
			p.addSend(o)
		}
	}
	for _, o := range ops {
		p.addRead(o, positions)
	}
	for _, s := range p.sends {
		p.locate(s)
	}
	slices.SortStableFunc(p.records, func(a, b *record) int { return cmp.Compare(a.offset, b.offset) })
	p.indexKeys()
	p.findMissing()
	p.explainTies()
	return p
}

// options are what the model assumes of the log.
func (p *partition) options() model.Options {
	return model.Options{Dense: p.config.Get("offsets") == "dense", Again: p.again(), Part: p.section != nil, Start: p.start}
}

func (p *partition) noteStart(o *histories.Op) {
	if p.section == nil {
		p.tellers.note(o)
	}
	if start := startTold(o); start != histories.None {
		p.start, p.startTold = max(p.start, start), true
	}
	if answered(o) != histories.None {
		p.lastTold = max(p.lastTold, o.Call)
	}
}

// startTold returns the highest log start that an operation tells of, None if it
// tells of none.
func startTold(o *histories.Op) int64 {
	if o.Kind == histories.DeleteRecords && o.Outcome != histories.Fail {
		return max(o.To, answered(o)) // it may have moved even if nobody knows
	}
	return answered(o)
}

// answered returns the log start in an operation's answer, which the log had
// reached then; None if there is none.
func answered(o *histories.Op) int64 {
	switch {
	case o.Outcome != histories.OK:
		return histories.None
	case o.Kind == histories.List && o.At == "earliest":
		return o.Offset
	}
	return o.Start
}

func (p *partition) addSend(o *histories.Op) {
	s := p.made.sends.new()
	*s = send{op: o, acks: model.AcksOf(o, p.config), base: histories.None}
	s.acked = o.Outcome == histories.OK && s.acks == "all"
	p.sends = append(p.sends, s)
	for _, v := range o.Values {
		p.sent[v] = with(p.sent[v], s, &p.made.sent)
	}
}

// position returns where a read was asked to begin, None if that is not known. Of
// polls it takes it from positions.
func (p *partition) position(o *histories.Op, positions map[*histories.Op]stand) int64 {
	from := histories.None
	switch o.Kind {
	case histories.Fetch:
		from = o.From
	case histories.Poll:
		if at, ok := positions[o]; ok {
			from = p.beginning(o, at.from)
		}
	case histories.Scan:
		return p.scanFrom(o)
	}
	if from != histories.None && len(o.Records) > 0 {
		from = min(from, lowest(o.Records))
	}
	return from
}

func (p *partition) addRead(o *histories.Op, positions map[*histories.Op]stand) {
	refuted := model.Refuted(o)
	if !refuted && !(o.IsRead() && o.Outcome == histories.OK) {
		return
	}
	r := p.made.reads.new()
	*r = read{op: o, position: p.position(o, positions)}
	if o.Kind == histories.Scan {
		p.scanned = max(p.scanned, o.Call)
	}
	r.from, r.to = r.position, r.position
	if r.from == histories.None && len(o.Records) > 0 {
		r.from = lowest(o.Records)
	}
	r.sorted = true
	for _, rec := range o.Records {
		r.sorted = r.sorted && rec.Offset >= r.to-1
		r.to = max(r.to, rec.Offset+1)
	}
	if o.Kind == histories.Scan && !refuted {
		r.to = max(r.to, o.End)
	}
	r.to = max(r.to, o.To)
	if r.from == histories.None {
		r.from, r.to = 0, 0
	}
	if o.Kind == histories.Scan && !refuted && (p.lastScan == nil || o.Call >= p.lastScan.op.Call) {
		p.lastScan = r
	}
	p.reads = append(p.reads, r)
	p.readOf[o] = r
	for _, rec := range o.Records {
		if p.section != nil && !p.section.holds(rec.Offset) {
			continue
		}
		x := p.record(place{rec.Offset, rec.Value})
		x.seenBy = append(x.seenBy, r)
	}
}

// lowest returns the lowest offset of an answer's records. An answer that is out
// of order says of the log what it says in order.
func lowest(records []histories.Record) int64 {
	low := records[0].Offset
	for _, r := range records[1:] {
		low = min(low, r.Offset)
	}
	return low
}

// endOf is the offset behind the last of an answer's records, None if it has none.
func endOf(records []histories.Record) int64 {
	end := histories.None
	for _, r := range records {
		end = max(end, r.Offset+1)
	}
	return end
}

// lowest is that of an answer of which it is known whether it is in order.
func (r *read) lowest() int64 {
	if r.sorted {
		return r.op.Records[0].Offset
	}
	return lowest(r.op.Records)
}

// beginning returns where a poll begins at the latest. Where it is at a log start
// that retention may have moved before anybody was told, that is not known.
func (p *partition) beginning(poll *histories.Op, at int64) int64 {
	switch {
	case at != atStart:
		return at
	case p.lastTold > poll.Return || p.config.Get("offsets") == "dense":
		return p.start
	}
	return histories.None
}

// startKnown reports whether retention has moved the log start no further than
// somebody was told.
func (p *partition) startKnown() bool { return p.startTold || p.config.Get("offsets") == "dense" }

func (p *partition) record(at place) *record {
	r, ok := p.at[at]
	if !ok {
		r = p.made.records.new()
		r.place = at
		p.at[at] = r
		p.records = append(p.records, r)
		p.places[at.value] = with(p.places[at.value], r, &p.made.places)
	}
	return r
}

// search returns the index of the first known record at or behind an offset.
func (p *partition) search(offset int64) int {
	return sort.Search(len(p.records), func(i int) bool { return p.records[i].offset >= offset })
}

func (r *read) holds(at place) bool {
	want := histories.Record{Offset: at.offset, Value: at.value}
	if !r.sorted {
		return slices.Contains(r.op.Records, want)
	}
	recs := r.op.Records
	i := sort.Search(len(recs), func(i int) bool { return recs[i].Offset >= at.offset })
	for ; i < len(recs) && recs[i].Offset == at.offset; i++ {
		if recs[i] == want {
			return true
		}
	}
	return false
}

// holdsAt returns the value the answer has at an offset.
func (r *read) holdsAt(offset int64) (histories.Value, bool) {
	recs := r.op.Records
	if r.sorted { // the first record that is not below it
		recs = recs[sort.Search(len(recs), func(i int) bool { return recs[i].Offset >= offset }):]
		recs = recs[:min(1, len(recs))]
	}
	for _, rec := range recs {
		if rec.Offset == offset {
			return rec.Value, true
		}
	}
	return histories.Value{}, false
}

// mayVanish reports whether compaction may have removed a record: another
// record of its key may be newer, or its key is not known.
func (p *partition) mayVanish(x *record) bool {
	return p.compacted() && (!x.keyed() || p.keys.replaced(p.keys.id(x.send.op.Key), x.offset))
}

// keyOf returns the send that tells the key of a record, where that matters.
func (p *partition) keyOf(x *record) []*histories.Op {
	if !p.compacted() || x.send == nil {
		return nil
	}
	return []*histories.Op{x.send.op}
}

// keyed reports whether a record's key is known.
func (x *record) keyed() bool { return x.send != nil && x.send.op.Key != "" }

func (p *partition) indexKeys() {
	if p.section != nil {
		p.keys = p.section.keys
		return
	}
	if !p.compacted() {
		return
	}
	p.keys = newKeys()
	for _, s := range p.sends {
		switch {
		case s.op.Outcome == histories.Fail:
		case s.base == histories.None:
			p.keys.place(p.keys.id(s.op.Key), histories.None)
		default:
			p.keys.place(p.keys.id(s.op.Key), s.base+int64(len(s.op.Values))-1)
		}
	}
}
