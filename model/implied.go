package model

import (
	"cmp"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// implied marks the reads that say nothing beside the other operations. All that
// a plain read says is that the log had reached an offset at some instant before
// it returned. If another operation that returned no later leaves the log there,
// the read fits behind it, and changes nothing there:
//
//   - whatever order there is without the read, it can be put behind the other
//     operation, or at its own call if that is later: logs only grow;
//   - whatever order there is with it, there is one without: all it can have
//     done is to move the end over offsets that hold nothing, and what comes next
//     may do that as well.
//
// Most reads of most histories are implied, and a search takes longer the more
// operations it has to order.
func (l *Log) implied() []bool {
	type claim struct {
		reached, by int64
		op          int
	}
	claims := make([]claim, 0, len(l.ops))
	for i := range l.ops {
		if reached, ok := l.reaches(i); ok {
			claims = append(claims, claim{reached, l.ops[i].Return, i})
		}
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(b.reached, a.reached), cmp.Compare(a.op, b.op))
	})
	implied, reached := make([]bool, len(l.ops)), l.from.End
	for _, c := range claims {
		implied[c.op] = c.reached <= reached && l.ops[c.op].Kind == Read
		reached = max(reached, c.reached)
	}
	return implied
}

// reaches returns the offset that the log has reached behind an operation, for
// those that have to take effect before they return and, if they read, say no more.
func (l *Log) reaches(i int) (int64, bool) {
	op := &l.ops[i]
	switch {
	case l.bad[i] || op.Return == histories.None:
		return 0, false
	case op.Kind == Append:
		return op.Offset + int64(len(op.Values)), op.Must && op.Offset != histories.None
	case op.Kind == Read && op.Exact == histories.None && op.Most == histories.None && op.Beyond == histories.None:
		return op.Reached(), true
	}
	return 0, false
}
