package histories

import (
	"strconv"
	"unique"
)

// A Value is what a record carries: an integer or a string. Values are
// comparable and small; equal strings share their bytes. The zero Value is the
// integer 0.
type Value struct {
	str unique.Handle[string]
	num int64
}

// Int returns the value of an integer.
func Int(n int64) Value { return Value{num: n} }

// String returns the value of a string.
func String(s string) Value { return Value{str: unique.Make(s), num: 1} }

// Integer returns the value's integer, if it is one.
func (v Value) Integer() (int64, bool) { return v.num, !v.isString() }

// Text returns the value's string, if it is one.
func (v Value) Text() (string, bool) {
	if !v.isString() {
		return "", false
	}
	return v.str.Value(), true
}

// String returns the value as the notation writes it: a decimal integer or a
// quoted string.
func (v Value) String() string {
	if s, ok := v.Text(); ok {
		return quote(s)
	}
	return strconv.FormatInt(v.num, 10)
}

func (v Value) isString() bool { return v.str != unique.Handle[string]{} }
