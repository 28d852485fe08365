package importers

import (
	"strconv"
	"strings"
)

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
