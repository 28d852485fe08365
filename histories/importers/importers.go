// Package importers reads what other tools recorded as histories: Jepsen's
// Kafka workload, Maelstrom's, s2-verification's, and porcupine's logs of a
// key-value store.
//
// An importer says no more than the recording does, so that the judgement of
// what it made raises no false alarm. What the format of histories cannot say
// is counted and listed, never left out in silence.
package importers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A Source is a kind of recording.
type Source struct {
	Name string
	Says string // what its recordings are, in a few words

	// recognises reports whether a recording begins like that. The head may end
	// anywhere.
	recognises func(head []byte) bool
	read       func(in *input) (*made, error)
}

// Sources is the table of them. Where several recognise a recording, the first
// one does.
var Sources = []Source{
	maelstrom,
	porcupineKV,
	jepsen,
	s2,
}

// An input is a recording under way.
type input struct {
	name   string
	r      *bufio.Reader // unpacked
	config histories.Config

	transactions bool // see Options
}

// What an importer made of a recording.
type made struct {
	config histories.Config // what the source is known to promise
	ops    []histories.Op
	marks  []histories.Mark
	lost   tally
}

// A Recording is a history that was made of a recording.
type Recording struct {
	*histories.History
	Source       string   // its name in [Sources]; "" for a history in its own format
	Untranslated []string // what of it the history does not say
}

// Lookup returns the source of that name.
func Lookup(name string) (*Source, bool) {
	i := slices.IndexFunc(Sources, func(s Source) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &Sources[i], true
}

// Names are the names of all sources.
func Names() []string {
	var names []string
	for _, s := range Sources {
		names = append(names, s.Name)
	}
	return names
}

// Options says how to read a recording.
type Options struct {
	Limit  histories.Limit
	From   *Source          // nil for the one that recognises it
	Config histories.Config // settings of the recorded system, which go before what the source is known for

	// Transactions says that all operations of Jepsen are transactions: not only a
	// txn, but a send and a poll as well.
	Transactions bool
}

// headSize is how much of a recording is looked at to recognise it.
const headSize = 1 << 16

// Read reads a recording, or a history in one of its own encodings, packed or
// not. The content decides what it is. Errors are those of [histories.Read].
func Read(name string, r io.Reader, opts Options) (*Recording, error) {
	in := bufio.NewReaderSize(r, headSize)
	source := opts.From
	head, _ := in.Peek(headSize) // what cannot be read will be told by the reader
	head = unpacked(head)
	if source == nil {
		source = recognise(head)
	}
	if err := notText(name, head, source != nil); err != nil {
		return nil, err
	}
	if source == nil {
		h, err := opts.Limit.Read(name, in)
		return &Recording{History: h}, err
	}
	u, err := opts.Limit.Unpack(name, in)
	if err != nil {
		return nil, err
	}
	return source.recording(&input{name: name, r: u, config: opts.Config, transactions: opts.Transactions})
}

// ReadFile reads a recording from a file, as [Read] does.
func ReadFile(path string, opts Options) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f, opts)
}

// MayBeHistory reports whether a file begins neither like a recording of any
// source nor like what is no text. What is wrong with others is told by [ReadFile].
func MayBeHistory(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, _ := io.ReadFull(f, head)
	head = unpacked(head[:n])
	return recognise(head) == nil && notText(path, head, false) == nil
}

// unpacked returns the beginning of a text that begins like that, packed or not;
// none, if it cannot be unpacked.
func unpacked(head []byte) []byte {
	u, err := histories.Limit(math.MaxInt64).Unpack("", bytes.NewReader(head))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(io.LimitReader(u, headSize)) // up to where the head ends
	return bytes.TrimPrefix(plain, bom)
}

// recognise returns the source of a recording that begins like that, nil if no
// source knows it.
func recognise(head []byte) *Source {
	for i := range Sources {
		if Sources[i].recognises(head) {
			return &Sources[i]
		}
	}
	return nil
}

var bom = []byte("\xef\xbb\xbf")

// recording makes a history of what was read.
func (s *Source) recording(in *input) (*Recording, error) {
	if head, _ := in.r.Peek(len(bom)); bytes.Equal(head, bom) {
		in.r.Discard(len(bom))
	}
	m, err := s.read(in)
	if err != nil {
		return nil, err
	}
	lost := m.lost.list()
	config := slices.Clone(in.config)
	for _, setting := range m.config {
		if _, stated := config.Stated(setting.Key); !stated {
			config = append(config, setting)
		}
	}
	note := []string{"source=" + s.Name}
	for _, l := range lost {
		note = append(note, "not translated: "+l)
	}
	h, err := histories.New(in.name, histories.Header{Config: config, Note: strings.Join(note, "\n")}, m.ops, append(m.marks, m.unjudged()...))
	if err != nil {
		return nil, err
	}
	return &Recording{History: h, Source: s.Name, Untranslated: lost}, nil
}

// unjudged are the notes that keep a history from being ok where an answer was
// left out that may have shown what is wrong.
func (m *made) unjudged() []histories.Mark {
	var notes []histories.Mark
	end := int64(0)
	for i := range m.ops {
		end = max(end, m.ops[i].Call, m.ops[i].Return)
	}
	for _, kind := range m.lost.kinds {
		if l := m.lost.seen[kind]; l.answers {
			notes = append(notes, histories.Mark{Time: end, Kind: histories.Note, Process: "importer", Text: histories.Unjudged + l.says(kind), Offset: histories.None, Line: l.line})
		}
	}
	return notes
}

// failed is the error of a read that failed.
func failed(file string, line int, err error) error {
	return fmt.Errorf("%s:%d: %w", file, line, err)
}

// lineCutOff is the error of a last line that lacks its line break. The tools
// end every line with one, and what such a line says may be half of a word: the
// :net of :net-timeout is another error.
func lineCutOff(file string, line, col int) error {
	return &histories.Error{File: file, Line: line, Column: col, Msg: "expected a line break before the end of the text; the file may have been cut off in this line"}
}

// nothingOf is the error of a recording in which nothing can be translated.
func nothingOf(file string, what string, lost *tally) error {
	return &histories.Error{File: file, Line: 1, Column: 1, Msg: fmt.Sprintf("expected %s; there is nothing of the kind%s", what, lost.inBrackets())}
}

// A tally counts what could not be translated, by kind.
type tally struct {
	kinds []string
	seen  map[string]*lost
}

type lost struct {
	n, line int
	answers bool // what clients were told of the log
}

// addAnswer counts an answer that may have shown what is wrong.
func (t *tally) addAnswer(line int, kind string, args ...any) {
	t.add(line, kind, args...).answers = true
}

// add counts one of a kind, which is said of the first line where it occurs.
func (t *tally) add(line int, kind string, args ...any) *lost {
	kind = fmt.Sprintf(kind, args...)
	if t.seen == nil {
		t.seen = map[string]*lost{}
	}
	l := t.seen[kind]
	if l == nil {
		if len(t.kinds) == mostKinds {
			kind = "of further kinds"
			if l = t.seen[kind]; l != nil {
				l.n++
				return l
			}
		}
		l = &lost{line: line}
		t.seen[kind] = l
		t.kinds = append(t.kinds, kind)
	}
	l.n++
	return l
}

// mostKinds bounds a list that hostile input could make long.
const mostKinds = 50

// list says what was not translated, a sentence a kind.
func (t *tally) list() []string {
	var out []string
	for _, kind := range t.kinds {
		out = append(out, t.seen[kind].says(kind))
	}
	return out
}

// says is a sentence about a kind.
func (l *lost) says(kind string) string {
	if l.n == 1 {
		return fmt.Sprintf("%s (line %d)", kind, l.line)
	}
	return fmt.Sprintf("%s (%d times, first in line %d)", kind, l.n, l.line)
}

func (t *tally) inBrackets() string {
	if len(t.kinds) == 0 {
		return ""
	}
	return " (" + strings.Join(t.list(), "; ") + ")"
}

// A clock gives events times that increase with their order in the file, which
// is the order in which they happened: the one they state, where it does.
type clock struct{ now int64 }

var errTime = errors.New("the time does not fit in 64 bits")

// at returns the time of the next event, which states a time, or None.
func (c *clock) at(stated int64) (int64, error) {
	if c.now == math.MaxInt64 {
		return 0, errTime
	}
	c.now = max(stated, c.now+1)
	return c.now, nil
}

// reserve returns an instant behind the last event and before the next one, so many
// behind the last.
func (c *clock) reserve(n int64) int64 {
	c.now += min(n, math.MaxInt64-c.now)
	return c.now
}

// clip shortens text from a recording so that a line stays readable, and quotes
// what is not plain text.
func clip(s string) string {
	const limit = 80
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "..."
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return fmt.Sprintf("%+q", s)
		}
	}
	return strings.Trim(s, " \t")
}
