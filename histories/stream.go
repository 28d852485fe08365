package histories

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
)

// A Sink takes in a history while it is read, in memory that does not depend
// on its length. What it is given is valid only during the call.
type Sink interface {
	// Header comes first. It reports false to end the reading.
	Header(h Header) bool
	// Op is a complete operation of the process with that number, in order of
	// completions; operations that never completed come last. It reports false
	// to end the reading. Index counts invocations and marks.
	Op(o *Op, process int) bool
	// Mark is a mark. It reports false to end the reading.
	Mark(m *Mark) bool
}

// ErrWhole says that a history cannot be judged while it is read, and has to be
// read as a whole: because its sink ended the reading, because it is no file of
// events, or because something in it, be it allowed or an error, needs the
// whole to tell.
var ErrWhole = errors.New("the history has to be read as a whole")

// Stream reads a file of events, packed or not, and hands everything to the
// sink. It uses all cores for reading and keeps the order. A file that is
// handed over to the end without an error is one that [Read] accepts. Any other
// error than [ErrWhole] is about the input.
func Stream(name string, r io.Reader, sink Sink) error { return Limit(0).Stream(name, r, sink) }

// Stream is the function of that name within another limit.
func (l Limit) Stream(name string, r io.Reader, sink Sink) error {
	u, err := l.Unpack(name, r)
	if err != nil {
		return ErrWhole
	}
	header, err := streamHeader(name, u)
	if err != nil {
		return ErrWhole
	}
	if !sink.Header(header) {
		return ErrWhole
	}
	p := &blockReader{name: name, r: u, line: 2}
	blocks := p.start()
	s := &streaming{sink: sink, numbers: map[string]int{}}
	ok := true
	for b := range blocks {
		<-b.ready
		ok = ok && b.err == nil && s.block(&b.block)
		if !ok {
			p.stop.Do(func() { close(p.stopped) })
		}
		p.free(b)
	}
	switch {
	case ok && errors.Is(p.err, ErrTooLong): // there is no reading more of it
		return &Error{File: name, Line: p.line, Column: 1, Msg: p.err.Error(), cause: p.err}
	case !ok || p.err != nil || !s.rest():
		return ErrWhole
	}
	return nil
}

// streamHeader reads the first line.
func streamHeader(name string, r *bufio.Reader) (Header, error) {
	e := &EventReader{name: name, lines: lineReader{name: name, r: r}, words: map[string]string{}}
	text, err := e.lines.next()
	if err != nil {
		return Header{}, err
	}
	c := newCursor(name, 1, text)
	c.words = e.words
	c.spaces()
	h := c.jsonHeader()
	return h, c.err
}

// A blockReader cuts a file into blocks of whole lines and has them scanned.
type blockReader struct {
	name    string
	r       *bufio.Reader
	line    int
	err     error // read only when the blocks have ended
	spare   sync.Pool
	stopped chan struct{}
	stop    sync.Once
}

// A pendingBlock is a block that somebody scans.
type pendingBlock struct {
	block
	ready chan struct{}
}

// blockSize is how much a block holds, unless a line is longer.
const blockSize = 1 << 18

// start reads blocks, has as many scanned at a time as there are cores, and
// returns them in order.
func (p *blockReader) start() <-chan *pendingBlock {
	p.stopped = make(chan struct{})
	workers := runtime.GOMAXPROCS(0)
	ordered, work := make(chan *pendingBlock, 2*workers), make(chan *pendingBlock, 2*workers)
	for range workers {
		go func() {
			for b := range work {
				b.scan(p.name)
				close(b.ready)
			}
		}()
	}
	go func() {
		defer close(ordered)
		defer close(work)
		var tail []byte
		for {
			b := p.next(&tail)
			if b == nil {
				return
			}
			select {
			case <-p.stopped:
				return
			case ordered <- b:
				work <- b
			}
		}
	}()
	return ordered
}

func (p *blockReader) free(b *pendingBlock) { p.spare.Put(b) }

// next returns the next block, nil at the end. tail is the begin of a line
// whose end was not read yet.
func (p *blockReader) next(tail *[]byte) *pendingBlock {
	b, _ := p.spare.Get().(*pendingBlock)
	if b == nil {
		b = &pendingBlock{}
	}
	b.ready = make(chan struct{})
	b.text = append(b.text[:0], *tail...)
	*tail = (*tail)[:0]
	for {
		old := len(b.text)
		b.text = slices.Grow(b.text, blockSize)
		n, err := io.ReadFull(p.r, b.text[old:old+blockSize])
		b.text = b.text[:old+n]
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !ended || len(b.text) > maxLine {
			p.err = cmp.Or(err, ErrWhole)
			return nil
		}
		cut := bytes.LastIndexByte(b.text[old:], '\n') + 1 // what was read before has no line's end
		switch {
		case ended:
			cut = len(b.text)
		case cut > 0:
			cut += old
		}
		if cut == 0 && !ended {
			continue // a line longer than a block
		}
		*tail = append(*tail, b.text[cut:]...)
		b.text = b.text[:cut]
		if len(b.text) == 0 {
			return nil
		}
		b.line = p.line
		p.line += bytes.Count(b.text, []byte("\n"))
		return b
	}
}

// A streaming puts scanned events together to operations.
type streaming struct {
	sink    Sink
	numbers map[string]int
	clients []streamClient
	on      string
	index   int
	called  int64 // time of the last invocation or mark
}

// A streamClient is one process.
type streamClient struct {
	name string
	open []openOp
	free int64 // the time of its last completion
}

type openOp struct {
	op Op
	id int64
}

func (s *streaming) block(b *block) bool {
	for i := range b.events {
		e := &b.events[i]
		if e.general != nil {
			if !s.general(b, e) {
				return false
			}
			continue
		}
		if e.typ == scannedInvoke && !s.invoke(b, e) || e.typ != scannedInvoke && !s.complete(b, e) {
			return false
		}
	}
	return true
}

// general takes an event that the scanner did not understand. Operations are
// brought into the scanner's form.
func (s *streaming) general(b *block, e *scanned) bool {
	g := e.general
	switch g.Type {
	case Commented:
		return true
	case Marked:
		g.Mark.Index = s.index
		s.index++
		in := g.Mark.Time >= s.called
		s.called = g.Mark.Time
		return in && s.sink.Mark(&g.Mark)
	}
	o := &g.Op
	*e = scanned{kind: o.Kind, said: g.said, time: max(o.Call, o.Return), id: g.ID, process: []byte(o.Process), line: e.line}
	if g.at[kOn] != 0 {
		e.on = []byte(o.On)
	}
	for i, w := range []string{o.Key, o.Acks, o.Tx, o.At, o.Code} {
		if w != "" {
			e.words[i] = []byte(w)
		}
	}
	e.numbers = [len(eventKeys)]int64{kFrom: o.From, kMax: o.Max, kTS: o.TS, kHW: o.HW, kLSO: o.LSO, kStart: o.Start, kEnd: o.End, kOffset: max(o.Offset, o.To)}
	e.values = [2]int{len(b.values), len(b.values) + len(o.Values)}
	b.values = append(b.values, o.Values...)
	e.records = [2]int{len(b.records), len(b.records) + len(o.Records)}
	b.records = append(b.records, o.Records...)
	if g.Type == Invoked {
		return s.invoke(b, e)
	}
	e.typ = map[Outcome]scannedType{OK: scannedOK, Fail: scannedFail, Info: scannedInfo}[o.Outcome]
	return s.complete(b, e)
}

// client returns the number of a process.
func (s *streaming) client(name []byte) int {
	if n, ok := s.numbers[string(name)]; ok {
		return n
	}
	n := len(s.clients)
	s.numbers[string(name)] = n
	s.clients = append(s.clients, streamClient{name: string(name), free: None})
	return n
}

// partition returns the name of a partition, "" if it is none.
func (s *streaming) partition(on []byte) string {
	if on == nil {
		return DefaultPartition
	}
	if s.on != string(on) {
		if checkPartition(string(on)) != nil {
			return ""
		}
		s.on = string(on)
	}
	return s.on
}

func (s *streaming) invoke(b *block, e *scanned) bool {
	c := &s.clients[s.client(e.process)]
	on := s.partition(e.on)
	if on == "" || e.time < s.called || e.time < c.free || !c.mayBegin(e) {
		return false
	}
	s.called = e.time
	if len(c.open) < cap(c.open) {
		c.open = c.open[:len(c.open)+1]
	} else {
		c.open = append(c.open, openOp{})
	}
	p := &c.open[len(c.open)-1]
	p.id = e.id
	o := &p.op
	values := o.Values[:0]
	*o = NewOp(c.name, e.kind)
	o.Values = append(values, b.values[e.values[0]:e.values[1]]...)
	o.On, o.Call, o.Index, o.Line = on, e.time, s.index, e.line
	o.From, o.Max, o.TS = e.numbers[kFrom], e.numbers[kMax], e.numbers[kTS]
	if e.said&fTo != 0 {
		o.To = e.numbers[kOffset]
	}
	o.Key, o.Acks, o.Tx, o.At = string(e.words[wordKey]), word(e.words[wordAcks]), string(e.words[wordTx]), word(e.words[wordAt])
	s.index++
	return true
}

// word returns a string that is one of a few without copying it.
func word(w []byte) string {
	switch string(w) {
	case "":
		return ""
	case "all":
		return "all"
	case "latest":
		return "latest"
	case "earliest":
		return "earliest"
	case "1":
		return "1"
	}
	return string(w)
}

// mayBegin reports whether the process may call this operation now for sure:
// it is idle, or it sends what its ids tell apart.
func (c *streamClient) mayBegin(e *scanned) bool {
	for i := range c.open {
		if e.kind != Send || c.open[i].op.Kind != Send || e.id == None || c.open[i].id == None || c.open[i].id == e.id {
			return false
		}
	}
	return true
}

func (s *streaming) complete(b *block, e *scanned) bool {
	n := s.client(e.process)
	c := &s.clients[n]
	i := slices.IndexFunc(c.open, func(p openOp) bool { return e.id == None || p.id == e.id })
	if i < 0 || e.id == None && len(c.open) > 1 {
		return false
	}
	p := &c.open[i]
	o := &p.op
	if o.Kind != e.kind || e.time < o.Call || !s.repeats(b, e, o) {
		return false
	}
	o.Outcome = [...]Outcome{scannedOK: OK, scannedFail: Fail, scannedInfo: Info}[e.typ]
	o.Return, o.ReturnLine = e.time, e.line
	if e.said&fOffset != 0 {
		o.Offset = e.numbers[kOffset]
	}
	o.HW, o.LSO, o.Start, o.End = e.numbers[kHW], e.numbers[kLSO], e.numbers[kStart], e.numbers[kEnd]
	o.Code = string(e.words[wordCode])
	o.Records = b.records[e.records[0]:e.records[1]]
	c.free = max(c.free, e.time)
	ok := s.sink.Op(o, n)
	c.open[i], c.open[len(c.open)-1] = c.open[len(c.open)-1], c.open[i]
	c.open = c.open[:len(c.open)-1]
	return ok
}

// repeats reports whether what a completion says of its invocation is true.
func (s *streaming) repeats(b *block, e *scanned, o *Op) bool {
	same := func(k int, n int64) bool { return e.numbers[k] == None || e.numbers[k] == n }
	says := func(w int, text string) bool { return e.words[w] == nil || string(e.words[w]) == text }
	switch {
	case e.on != nil && string(e.on) != o.On,
		e.said&fValues != 0 && !slices.Equal(b.values[e.values[0]:e.values[1]], o.Values),
		e.said&fTo != 0 && e.numbers[kOffset] != o.To:
		return false
	}
	return same(kFrom, o.From) && same(kMax, o.Max) && same(kTS, o.TS) &&
		says(wordKey, o.Key) && says(wordAcks, o.Acks) && says(wordTx, o.Tx) && says(wordAt, o.At)
}

// rest hands over the operations that never completed.
func (s *streaming) rest() bool {
	for n := range s.clients {
		for i := range s.clients[n].open {
			o := &s.clients[n].open[i].op
			o.Records = nil
			if !s.sink.Op(o, n) {
				return false
			}
		}
	}
	return true
}
