package importers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// conditions are what appends of S2 ask of the stream before they take effect: that
// it ends at a number (match_seq_num), or that its fencing token is that one. A
// token is set by a record of its own.
type conditions struct {
	sets   []*s2Op // appends that set a token and were acknowledged, by offset
	unsure []*s2Op // and of those that may have taken effect
}

func conditionsOf(all []*s2Op) *conditions {
	c := &conditions{}
	for _, o := range all {
		switch {
		case o.asked.SetFencingToken == nil || o.outcome == histories.Fail:
		case o.outcome == histories.OK:
			c.sets = append(c.sets, o)
		default:
			c.unsure = append(c.unsure, o)
		}
	}
	slices.SortStableFunc(c.sets, func(a, b *s2Op) int { return cmp.Compare(a.base(), b.base()) })
	return c
}

// broken returns the condition that an acknowledged append asked for and that
// certainly did not hold, as an error code, and says it in words. The token that a
// stream had when the recording began is not known.
func (c *conditions) broken(o *s2Op) (code, says string) {
	if o.outcome != histories.OK {
		return "", ""
	}
	if match := o.asked.MatchSeqNum; match != nil && *match != o.base() {
		return "condition-not-met:match_seq_num", fmt.Sprintf("a match_seq_num of %d and landed at %d", *match, o.base())
	}
	token := o.asked.FencingToken
	if token == nil || slices.ContainsFunc(c.unsure, func(set *s2Op) bool { return *set.asked.SetFencingToken == *token && set.call <= o.returned }) {
		return "", ""
	}
	set := c.before(o)
	if set == nil || *set.asked.SetFencingToken == *token {
		return "", ""
	}
	return "condition-not-met:fencing_token", fmt.Sprintf("the fencing token %s, and the stream had %s since offset %d (line %d)",
		clip(*token), clip(*set.asked.SetFencingToken), set.base(), set.line)
}

// undecided reports whether it is not known if the token was the stream's.
func (c *conditions) undecided(o *s2Op) bool {
	if o.asked.FencingToken == nil || o.outcome != histories.OK {
		return false
	}
	return c.before(o) == nil ||
		slices.ContainsFunc(c.unsure, func(set *s2Op) bool { return set.call <= o.returned })
}

// before returns the last append before that one which set a token, nil if none did.
func (c *conditions) before(o *s2Op) *s2Op {
	n, _ := slices.BinarySearchFunc(c.sets, o.base(), func(set *s2Op, base int64) int { return cmp.Compare(set.base(), base) })
	if n == 0 {
		return nil
	}
	return c.sets[n-1]
}
