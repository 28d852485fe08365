package importers

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/isrcheck/isrcheck/histories"
)

// The reader of EDN (https://github.com/edn-format/edn) is our own because the
// library for Go, olympos.io/encoding/edn, tells no places, ends the program on
// deeply nested input, and refuses what Clojure prints into real recordings:
// ratios, ##Inf, #object[... 0x4f ...].

// An ednReader reads forms one after another.
type ednReader struct {
	file      string
	r         *bufio.Reader
	ahead     []byte // what r has and is not taken yet
	taken     int    // bytes before it that r still has
	line, col int    // of the first byte of it
	words     map[string]string
	buf       []byte
	stack     []form // items of the collections that are not closed yet
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
	if len(e.ahead) == 0 {
		if err := e.fill(1); err != nil {
			return 0, err
		}
	}
	return e.ahead[0], nil
}

// fill looks further ahead, at so many bytes at least.
func (e *ednReader) fill(n int) error {
	e.r.Discard(e.taken)
	e.taken = 0
	if _, err := e.r.Peek(n); err == io.EOF {
		return err
	} else if err != nil {
		return failed(e.file, e.line, err)
	}
	e.ahead, _ = e.r.Peek(e.r.Buffered())
	return nil
}

// take moves over bytes that were looked at, none of which ends a line.
func (e *ednReader) take(n int) {
	e.ahead = e.ahead[n:]
	e.taken += n
	e.col += n
}

// byte takes the next byte.
func (e *ednReader) byte() (byte, error) {
	b, err := e.look()
	if err != nil {
		return 0, err
	}
	if e.take(1); b == '\n' {
		e.line, e.col = e.line+1, 1
	}
	return b, nil
}

// discards reports whether what follows begins with #_.
func (e *ednReader) discards() bool {
	return (len(e.ahead) > 1 || e.fill(2) == nil) && e.ahead[1] == '_'
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
	end, base := closing[open], len(e.stack)
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
		e.stack = append(e.stack, item)
	}
	f.items = slices.Clone(e.stack[base:])
	e.stack = e.stack[:base]
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

// tagged reports whether what follows begins with a tag.
func (e *ednReader) tagged() bool {
	return (len(e.ahead) > 1 || e.fill(2) == nil) && unicode.IsLetter(rune(e.ahead[1]))
}

// tag takes a tag, and returns the byte that begins the form that it belongs to.
func (e *ednReader) tag() (byte, error) {
	e.byte()
	if _, err := e.token(); err != nil {
		return 0, err
	}
	b, err := e.skip(0)
	return b, e.cutOff(err, "the form that this tag belongs to")
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
	line, col := e.line, e.col-1 // behind a line break the backslash is not in this line
	b, err := e.byte()
	if err != nil {
		return e.cutOff(err, "an escape")
	}
	if i := strings.IndexByte(escapes, b); i >= 0 {
		e.buf = append(e.buf, escaped[i])
		return nil
	}
	if b == 'u' {
		if len(e.ahead) < 4 {
			e.fill(4)
		}
		digits := string(e.ahead[:min(4, len(e.ahead))])
		if n, err := strconv.ParseUint(digits, 16, 16); err == nil && len(digits) == 4 {
			e.take(4)
			e.buf = utf8.AppendRune(e.buf, rune(n))
			return nil
		}
		return e.fail(`expected four hexadecimal digits behind \u`)
	}
	return e.errorAt(line, col, `expected an escape (\" \\ \n \r \t \b \f \uXXXX)`)
}

// character reads \a, \newline, \(.
func (e *ednReader) character() (string, error) {
	line, col := e.line, e.col
	e.byte()
	b, err := e.byte()
	if err != nil || b <= ' ' {
		return "", e.errorAt(line, col, `expected a character behind \`)
	}
	rest, err := e.token(b)
	return `\` + rest, err
}

// token reads up to what ends a symbol, keyword or number. Its first bytes may
// have been read.
func (e *ednReader) token(first ...byte) (string, error) {
	line, col := e.line, e.col
	e.buf = append(e.buf[:0], first...)
	for {
		if _, err := e.look(); err == io.EOF {
			break
		} else if err != nil {
			return "", err
		}
		n := slices.IndexFunc(e.ahead, func(b byte) bool { return ends[b] })
		if n < 0 {
			n = len(e.ahead)
		}
		e.buf = append(e.buf, e.ahead[:n]...)
		if e.take(n); len(e.ahead) > 0 {
			break
		}
	}
	if !utf8.Valid(e.buf) {
		return "", e.errorAt(line, col, "this is not valid UTF-8")
	}
	return e.share(), nil
}

// ends says which bytes end a token.
var ends = func() (t [256]bool) {
	for b := range ' ' + 1 {
		t[b] = true
	}
	for _, b := range `,()[]{}";` {
		t[b] = true
	}
	return t
}()

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
