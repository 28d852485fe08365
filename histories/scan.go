package histories

import "bytes"

// The scanner reads the events that programs write: any order of keys, no
// escapes, whole numbers below 10^18. It is several times as fast as the
// general decoder and knows its limits: a line it does not understand to the
// last byte, it leaves to the general decoder, which accepts or rejects it.

// A scanned is an event as the scanner sees it. Its strings lie in the block it
// was read from, its values and records in the block's arenas.
type scanned struct {
	typ     scannedType
	kind    Kind
	said    field
	time    int64
	id      int64
	numbers [len(eventKeys)]int64 // by key; None where the line does not state it
	process []byte
	on      []byte // nil where the line does not state it
	words   [5][]byte
	values  [2]int // in the block's values
	records [2]int // in the block's records
	line    int
	general *Event // the same by the general decoder, where the scanner gave up
}

type scannedType uint8

const (
	scannedInvoke scannedType = iota
	scannedOK
	scannedFail
	scannedInfo
)

// The words of a scanned event.
const (
	wordKey = iota
	wordAcks
	wordTx
	wordAt
	wordCode
)

// A block is some whole lines of a file, and what they say.
type block struct {
	text    []byte
	line    int // number of its first line
	events  []scanned
	values  []Value
	records []Record
	err     error
}

// scan reads all lines of the block. Lines that the scanner gives up on are
// read by the general decoder.
func (b *block) scan(name string) {
	b.events, b.values, b.records, b.err = b.events[:0], b.values[:0], b.records[:0], nil
	rest, line := b.text, b.line
	for ; len(rest) > 0 && b.err == nil; line++ {
		var text []byte
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			text, rest = rest[:i], rest[i+1:]
		} else {
			text, rest = rest, nil
		}
		b.events = append(b.events, scanned{})
		e := &b.events[len(b.events)-1]
		e.line = line
		s := scanner{block: b, e: e, text: text}
		if !s.event() {
			b.general(name, e, text)
		}
	}
}

// general reads a line by the general decoder.
func (b *block) general(name string, e *scanned, text []byte) {
	c := newCursor(name, e.line, bytes.TrimSuffix(text, []byte("\r")))
	c.words = map[string]string{}
	if c.spaces(); c.err == nil && c.done() {
		b.events = b.events[:len(b.events)-1] // a blank line
		return
	}
	event := c.event()
	b.err = c.err
	*e = scanned{general: &event, line: e.line}
}

// A scanner is at some place of one line.
type scanner struct {
	*block
	e    *scanned
	text []byte
	pos  int
	typ  []byte
	f    []byte
	seen uint32 // keys met, by number
}

// event reads the line, and reports false if it is not sure of everything.
func (s *scanner) event() bool {
	for i := range s.e.numbers {
		s.e.numbers[i] = None
	}
	if !s.take('{') {
		return false
	}
	for {
		key, ok := s.str()
		if !ok || !s.take(':') {
			return false
		}
		k := keyNumber(key)
		if k < 0 || s.seen&(1<<k) != 0 || !s.member(k) {
			return false
		}
		s.seen |= 1 << k
		s.e.said |= keyFields[k]
		if s.take(',') {
			continue
		}
		return s.take('}') && s.ended() && s.interpret()
	}
}

// ended reports whether nothing but the end of a Windows line is left.
func (s *scanner) ended() bool {
	rest := s.text[s.pos:]
	return len(rest) == 0 || len(rest) == 1 && rest[0] == '\r'
}

func (s *scanner) spaces() {
	for s.pos < len(s.text) && s.text[s.pos] == ' ' {
		s.pos++
	}
}

// take passes over a byte and the spaces before it.
func (s *scanner) take(c byte) bool {
	s.spaces()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// str reads a string of plain ASCII without escapes.
func (s *scanner) str() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.pos
	for i := start; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return s.text[start:i], true
		case c < ' ' || c == '\\' || c >= 0x7f:
			return nil, false
		}
	}
	return nil, false
}

// natural reads a number of at most 18 digits.
func (s *scanner) natural() (int64, bool) {
	s.spaces()
	start, n := s.pos, int64(0)
	i := start
	for ; i < len(s.text) && s.text[i]-'0' < 10; i++ {
		n = n*10 + int64(s.text[i]-'0')
	}
	digits := i - start
	if digits == 0 || digits > 18 || digits > 1 && s.text[start] == '0' || i == len(s.text) {
		return 0, false
	}
	switch s.text[i] {
	case '.', 'e', 'E':
		return 0, false
	}
	s.pos = i
	return n, true
}

// value reads an integer or a string.
func (s *scanner) value() (Value, bool) {
	if s.take('"') {
		s.pos--
		text, ok := s.str()
		if !ok {
			return Value{}, false
		}
		return String(string(text)), true
	}
	if s.take('-') {
		spaced := s.pos < len(s.text) && s.text[s.pos] == ' '
		n, ok := s.natural()
		return Int(-n), ok && n != 0 && !spaced
	}
	n, ok := s.natural()
	return Int(n), ok
}

// literal reads an integer or a string, and returns it as it is written, which is
// how the notation writes it.
func (s *scanner) literal() ([]byte, bool) {
	s.spaces()
	start := s.pos
	_, ok := s.value()
	return s.text[start:s.pos], ok
}

// keyNumber returns the number of a key, or -1.
func keyNumber(key []byte) int {
	switch string(key) {
	case "index":
		return kIndex
	case "time":
		return kTime
	case "process":
		return kProcess
	case "type":
		return kType
	case "f":
		return kF
	case "on":
		return kOn
	case "values":
		return kValues
	case "offset":
		return kOffset
	case "records":
		return kRecords
	case "from":
		return kFrom
	case "hw":
		return kHW
	case "at":
		return kAt
	case "end":
		return kEnd
	case "id":
		return kID
	}
	for k, name := range eventKeys {
		if k != kComment && name == string(key) {
			return k
		}
	}
	return -1
}

// member reads the value of a key.
func (s *scanner) member(k int) (ok bool) {
	e := s.e
	switch k {
	case kTime:
		e.time, ok = s.natural()
	case kProcess:
		e.process, ok = s.str()
	case kType:
		s.typ, ok = s.str()
	case kF:
		s.f, ok = s.str()
	case kOn:
		e.on, ok = s.str()
	case kValues:
		return s.batch()
	case kRecords:
		return s.answer()
	case kKey:
		e.words[wordKey], ok = s.literal()
	case kAcks:
		e.words[wordAcks], ok = s.str()
	case kTx:
		e.words[wordTx], ok = s.str()
	case kAt:
		e.words[wordAt], ok = s.str()
	case kCode:
		e.words[wordCode], ok = s.str()
	default:
		e.numbers[k], ok = s.natural()
	}
	return ok
}

// batch reads [value,...], not empty.
func (s *scanner) batch() bool {
	s.e.values[0] = len(s.values)
	if !s.take('[') {
		return false
	}
	for {
		v, ok := s.value()
		if !ok {
			return false
		}
		s.values = append(s.values, v)
		if s.take(',') {
			continue
		}
		s.e.values[1] = len(s.values)
		return s.take(']')
	}
}

// answer reads [[offset,value],...].
func (s *scanner) answer() bool {
	s.e.records = [2]int{len(s.records), len(s.records)}
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		if !s.take('[') {
			return false
		}
		offset, ok := s.natural()
		if !ok || !s.take(',') {
			return false
		}
		v, ok := s.value()
		if !ok || !s.take(']') {
			return false
		}
		s.records = append(s.records, Record{offset, v})
		if s.take(',') {
			continue
		}
		s.e.records[1] = len(s.records)
		return s.take(']')
	}
}

// interpret decides what the line is about, and reports false for marks and
// for whatever does not have just the fields it should.
func (s *scanner) interpret() bool {
	const needed = 1<<kTime | 1<<kProcess | 1<<kType | 1<<kF
	e := s.e
	if s.seen&needed != needed {
		return false
	}
	switch string(e.process) {
	case "", "nemesis", "client":
		return false
	}
	kind, ok := kindOf(s.f)
	if !ok || !s.wordsFit() {
		return false
	}
	e.kind, e.id = kind, e.numbers[kID]
	if s.seen&(1<<kOffset) != 0 {
		if e.said |= fOffset; kind.args()&fTo != 0 {
			e.said ^= fOffset | fTo
		}
	}
	switch string(s.typ) {
	case "invoke":
		return shapes[kind].asks&^e.said == 0 && e.said&^kind.args() == 0
	case "ok":
		e.typ = scannedOK
		return shapes[kind].answers&^e.said == 0 && s.completes(OK)
	case "fail":
		e.typ = scannedFail
		return s.completes(Fail)
	case "info":
		e.typ = scannedInfo
		return s.completes(Info)
	}
	return false
}

func (s *scanner) completes(o Outcome) bool {
	return s.e.said&^(s.e.kind.args()|s.e.kind.results(o)) == 0
}

// wordsFit reports whether words that may be only one of a few are.
func (s *scanner) wordsFit() bool {
	w := &s.e.words
	for i, word := range w {
		if word != nil && len(word) == 0 {
			return false
		}
		switch {
		case word == nil:
		case i == wordAcks && string(word) != "all" && string(word) != "1" && string(word) != "0":
			return false
		case i == wordAt && string(word) != "latest" && string(word) != "earliest":
			return false
		}
	}
	return w[wordAt] == nil || s.e.numbers[kTS] == None
}

func kindOf(f []byte) (Kind, bool) {
	switch string(f) {
	case "send":
		return Send, true
	case "fetch":
		return Fetch, true
	case "poll":
		return Poll, true
	case "list":
		return List, true
	}
	return ParseKind(string(f))
}
