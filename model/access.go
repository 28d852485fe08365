package model

import "github.com/isrcheck/isrcheck/histories"

// Ops returns the operations that are left to be ordered. The caller must not
// modify them.
func (l *Log) Ops() []Op { return l.ops }

// Contradicted returns an operation that no log can agree with, whatever the
// order, or nil if there is none.
func (l *Log) Contradicted() *Op {
	for i, bad := range l.bad {
		if bad {
			return &l.ops[i]
		}
	}
	return nil
}

// Known returns the records whose offsets are known, by offset. The caller must
// not modify them.
func (l *Log) Known() []histories.Record { return l.slots }

// Fits reports whether nothing known speaks against these records at these
// offsets.
func (l *Log) Fits(values []histories.Value, offset int64) bool { return l.fits(values, offset) }

// Tight reports whether every offset below the limit holds a record that a
// known send explains.
func (l *Log) Tight() bool { return l.tight }

// Again reports whether a send may land more than once.
func (l *Log) Again() bool { return l.again }

// Start returns the log start: offsets below are out of scope.
func (l *Log) Start() int64 { return l.start }

// Limit returns the offset at or behind which nothing is known.
func (l *Log) Limit() int64 { return l.limit }
