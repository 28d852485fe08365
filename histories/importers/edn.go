package importers

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/isrcheck/isrcheck/histories"
)

// The reader of EDN (https://github.com/edn-format/edn) is our own because the
// library for Go, olympos.io/encoding/edn, tells no places, ends the program on
// deeply nested input, and refuses what Clojure prints into real recordings:
// ratios, ##Inf, #object[... 0x4f ...].

// A formKind is what a form of EDN is.
type formKind uint8

const (
	nothing  formKind = iota // nil
	integer                  // fits in 64 bits; text is its decimal digits
	text                     // a string
	keyword                  // without its colon
	atom                     // any other number, symbol, character: as it is written
	sequence                 // a vector, list or set
	mapping                  // keys and values in turn
)

var formNames = [...]string{"nil", "an integer", "a string", "a keyword", "a symbol or another number", "a vector", "a map"}

// A form is one value of EDN and where it stands. Tags are left out: what they
// mean is known only to who wrote them.
type form struct {
	kind      formKind
	text      string
	items     []form
	line, col int
}

// An ednReader reads forms one after another.
type ednReader struct {
	file      string
	r         *bufio.Reader
	line, col int // of the next byte
	words     map[string]string
	buf       []byte
}

// newEDN returns a reader of text that begins at that place of the file.
func newEDN(file string, r *bufio.Reader, line, col int) *ednReader {
	return &ednReader{file: file, r: r, line: line, col: col, words: map[string]string{}}
}

// deepest is how many forms may be nested. Stack traces have about ten levels.
const deepest = 500

func (e *ednReader) errorAt(line, col int, format string, args ...any) error {
	return &histories.Error{File: e.file, Line: line, Column: col, Msg: fmt.Sprintf(format, args...)}
}

func (e *ednReader) fail(format string, args ...any) error {
	return e.errorAt(e.line, e.col, format, args...)
}

// look returns the next byte and leaves it there; io.EOF is the end of the text.
func (e *ednReader) look() (byte, error) {
	b, err := e.r.Peek(1)
	switch {
	case err == nil:
		return b[0], nil
	case err == io.EOF:
		return 0, err
	}
	return 0, failed(e.file, e.line, err)
}

// byte takes the next byte.
func (e *ednReader) byte() (byte, error) {
	b, err := e.look()
	if err != nil {
		return 0, err
	}
	e.r.Discard(1)
	if e.col++; b == '\n' {
		e.line, e.col = e.line+1, 1
	}
	return b, nil
}

// discards reports whether what follows begins with #_.
func (e *ednReader) discards() bool {
	b, _ := e.r.Peek(2)
	return string(b) == "#_"
}

// skip moves over what separates forms: space, commas, comments, and forms that
// #_ discards. It returns the byte that begins the next form.
func (e *ednReader) skip(depth int) (byte, error) {
	for {
		b, err := e.look()
		switch {
		case err != nil:
			return 0, err
		case b == ' ' || b == ',' || b == '\n' || b == '\t' || b == '\r' || b == '\f':
			e.byte()
		case b == ';':
			for b != '\n' {
				if b, err = e.byte(); err != nil {
					return 0, err
				}
			}
		case b == '#' && e.discards():
			e.byte()
			e.byte()
			if _, err := e.form(depth + 1); err != nil {
				return 0, e.cutOff(err, "a form behind #_")
			}
		default:
			return b, nil
		}
	}
}

// cutOff says what is missing if the text ends where a form has begun.
func (e *ednReader) cutOff(err error, expected string) error {
	if err == io.EOF {
		return e.fail("the text ends within a form; expected %s (is the file cut off?)", expected)
	}
	return err
}

// next returns the next form at the top, io.EOF if there is none.
func (e *ednReader) next() (form, error) { return e.form(0) }

// form reads the next form. It returns io.EOF if the text ends before it.
func (e *ednReader) form(depth int) (form, error) {
	if depth > deepest {
		return form{}, e.fail("forms are nested more than %d deep", deepest)
	}
	b, err := e.skip(depth)
	if err != nil {
		return form{}, err
	}
	f := form{line: e.line, col: e.col}
	switch b {
	case '(', '[', '{':
		e.byte()
		if f.kind = sequence; b == '{' {
			f.kind = mapping
		}
		err = e.items(&f, b, depth)
		return f, err
	case ')', ']', '}':
		return f, e.fail("unexpected %c; expected a form", b)
	case '"':
		e.byte()
		f.kind = text
		f.text, err = e.string()
		return f, err
	case '\\':
		f.kind = atom
		f.text, err = e.character()
		return f, err
	case '#':
		e.byte()
		return e.dispatch(f, depth)
	}
	f.text, err = e.token()
	if err == nil && f.text == "" {
		return f, e.fail("unexpected control character %#02x; expected a form", b)
	}
	f.classify()
	return f, err
}

var closing = map[byte]byte{'(': ')', '[': ']', '{': '}'}

// items reads the items of a collection up to its end. It never returns io.EOF.
func (e *ednReader) items(f *form, open byte, depth int) error {
	end := closing[open]
	for {
		b, err := e.skip(depth + 1)
		if err != nil {
			return e.cutOff(err, fmt.Sprintf("%c for the %c in line %d", end, open, f.line))
		}
		if b == end {
			e.byte()
			break
		}
		item, err := e.form(depth + 1)
		if err != nil {
			return e.cutOff(err, "a form")
		}
		f.items = append(f.items, item)
	}
	if f.kind == mapping && len(f.items)%2 != 0 {
		return e.errorAt(f.line, f.col, "a key of this map has no value")
	}
	return nil
}

// dispatch reads what begins with #.
func (e *ednReader) dispatch(f form, depth int) (form, error) {
	b, err := e.look()
	if err != nil {
		return f, e.cutOff(err, "a form behind #")
	}
	switch b {
	case '{':
		e.byte()
		f.kind = sequence
		err = e.items(&f, '{', depth)
		return f, err
	case '"': // a regular expression
		e.byte()
		f.kind = atom
		f.text, err = e.string()
		return f, err
	case '#', '\'':
		e.byte()
		f.kind = atom
		f.text, err = e.token()
		return f, err
	}
	if _, err = e.token(); err != nil { // the tag, or the namespace of a map's keys
		return f, err
	}
	tagged, err := e.form(depth + 1)
	return tagged, e.cutOff(err, "the form that this tag belongs to")
}

// string reads a string behind its opening quote.
func (e *ednReader) string() (string, error) {
	line, col := e.line, e.col-1
	e.buf = e.buf[:0]
	for {
		b, err := e.byte()
		if err == io.EOF {
			return "", e.errorAt(line, col, "expected a closing quote before the end of the text (is the file cut off?)")
		}
		if err != nil {
			return "", err
		}
		switch b {
		case '"':
			if !utf8.Valid(e.buf) {
				return "", e.errorAt(line, col, "this string is not valid UTF-8")
			}
			return e.share(), nil
		case '\\':
			if err := e.escape(); err != nil {
				return "", err
			}
		default:
			e.buf = append(e.buf, b)
		}
	}
}

const (
	escapes = `"\nrtbf/`
	escaped = "\"\\\n\r\t\b\f/"
)

// escape reads an escape of a string behind its backslash.
func (e *ednReader) escape() error {
	b, err := e.byte()
	if err != nil {
		return e.cutOff(err, "an escape")
	}
	if i := strings.IndexByte(escapes, b); i >= 0 {
		e.buf = append(e.buf, escaped[i])
		return nil
	}
	if b == 'u' {
		digits, _ := e.r.Peek(4)
		if n, err := strconv.ParseUint(string(digits), 16, 16); err == nil && len(digits) == 4 {
			for range digits {
				e.byte()
			}
			e.buf = utf8.AppendRune(e.buf, rune(n))
			return nil
		}
		return e.fail(`expected four hexadecimal digits behind \u`)
	}
	return e.errorAt(e.line, e.col-2, `expected an escape (\" \\ \n \r \t \b \f \uXXXX)`)
}

// character reads \a, \newline, \(.
func (e *ednReader) character() (string, error) {
	e.byte()
	r, _, err := e.r.ReadRune()
	if err != nil || r == utf8.RuneError || r <= ' ' {
		return "", e.fail(`expected a character behind \`)
	}
	e.col += utf8.RuneLen(r)
	rest, err := e.token()
	return `\` + string(r) + rest, err
}

// token reads up to what ends a symbol, keyword or number.
func (e *ednReader) token() (string, error) {
	line, col := e.line, e.col
	e.buf = e.buf[:0]
	for {
		b, err := e.look()
		if err == io.EOF || err == nil && (b <= ' ' || strings.IndexByte(`,()[]{}";`, b) >= 0) {
			break
		}
		if err != nil {
			return "", err
		}
		e.byte()
		e.buf = append(e.buf, b)
	}
	if !utf8.Valid(e.buf) {
		return "", e.errorAt(line, col, "this is not valid UTF-8")
	}
	return e.share(), nil
}

// share returns what was read as a string, the same one for short ones met
// before: recordings repeat their keywords.
func (e *ednReader) share() string {
	if s, ok := e.words[string(e.buf)]; ok {
		return s
	}
	s := string(e.buf)
	if len(s) < 32 && len(e.words) < 1<<12 {
		e.words[s] = s
	}
	return s
}

// classify says what a token is.
func (f *form) classify() {
	switch {
	case f.text == "nil":
		f.kind = nothing
	case len(f.text) > 1 && f.text[0] == ':':
		f.kind, f.text = keyword, f.text[1:]
	default:
		f.kind = atom
		if n, err := strconv.ParseInt(strings.TrimSuffix(f.text, "N"), 10, 64); err == nil {
			f.kind, f.text = integer, strconv.FormatInt(n, 10)
		}
	}
}

// int returns the integer, if the form is one that fits in 64 bits.
func (f *form) int() (int64, bool) {
	n, err := strconv.ParseInt(f.text, 10, 64)
	return n, f.kind == integer && err == nil
}

// get returns the value of a keyword in a map, nil if there is none.
func (f *form) get(key string) *form {
	if f.kind != mapping {
		return nil
	}
	for i := 0; i < len(f.items); i += 2 {
		if k := &f.items[i]; k.kind == keyword && k.text == key {
			return &f.items[i+1]
		}
	}
	return nil
}

// String returns the form as EDN, on one line.
func (f *form) String() string {
	var b strings.Builder
	f.print(&b)
	return b.String()
}

func (f *form) print(b *strings.Builder) {
	switch f.kind {
	case nothing:
		b.WriteString("nil")
	case text:
		b.WriteString(strconv.Quote(f.text))
	case keyword:
		b.WriteString(":" + f.text)
	case sequence, mapping:
		ends := "[]"
		if f.kind == mapping {
			ends = "{}"
		}
		b.WriteByte(ends[0])
		for i := range f.items {
			if i > 0 {
				b.WriteByte(' ')
			}
			f.items[i].print(b)
		}
		b.WriteByte(ends[1])
	default:
		b.WriteString(f.text)
	}
}

// equal reports whether two forms are the same value.
func (f *form) equal(g *form) bool {
	if f.kind != g.kind || f.text != g.text || len(f.items) != len(g.items) {
		return false
	}
	for i := range f.items {
		if !f.items[i].equal(&g.items[i]) {
			return false
		}
	}
	return true
}
