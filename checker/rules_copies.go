package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

func duplicates(p *partition) []Finding {
	var found []Finding
	for _, c := range p.surplus() {
		answers, at := c.shown()
		first, last := at[0], at[len(at)-1]
		between := ""
		if n := len(at) - 2; n > 0 {
			between = fmt.Sprintf(" and %d more between them", n)
		}
		late := slices.MaxFunc(answers, func(a, b *read) int { return cmp.Compare(a.op.Index, b.op.Index) })
		f := proof([]*histories.Op{p.firstSend(first.value).op}, "Record %s was sent %s and is in the log %s, at offsets %d and %d%s",
			first.value, times(c.able), times(len(at)), first.offset, last.offset, between).
			should(late.op, "held record %s at %s", first.value, phrase(func() string { return c.room(late, at) })).naming(first.value)
		for _, r := range answers {
			f = f.with(r.op)
		}
		if first.offset < p.start { // later answers say nothing of it
			f = f.with(present(p.tellers.highest)...)
		}
		for _, s := range p.sent[first.value] {
			if takesEffect(s) {
				f = f.with(s.op)
			}
		}
		found = append(found, f)
	}
	return found
}

// A surplus is a value with more copies in the log than sends that may have
// taken effect.
type surplus struct {
	at   []*record // where it was read, by offset
	able int
}

func (p *partition) surplus() []surplus {
	var out []surplus
	for _, x := range p.records {
		if len(p.places[x.value]) < 2 {
			continue
		}
		copies, able := p.copies(x.value), 0
		for _, s := range p.sent[x.value] {
			if takesEffect(s) {
				able++
			}
		}
		if able > 0 && len(copies) > able && copies[0] == x {
			out = append(out, surplus{copies, able})
		}
	}
	return out
}

// copies returns the places at which a value was read, by offset. A copy that
// was lost is none.
func (p *partition) copies(v histories.Value) []*record {
	var at []*record
	for _, x := range p.places[v] {
		if len(x.seenBy) > 0 && x.gone == nil {
			at = append(at, x)
		}
	}
	slices.SortFunc(at, func(a, b *record) int { return cmp.Compare(a.offset, b.offset) })
	return at
}

// mostAnswers is how many answers are named of one value's copies.
const mostAnswers = mostNamed - 1

// shown returns the fewest answers found that show one copy too many, and the
// copies that they show.
func (c surplus) shown() (answers []*read, at []*record) {
	count := map[*read]int{}
	for _, x := range c.at {
		for i, r := range x.seenBy {
			if i > 0 && x.seenBy[i-1] == r {
				continue // an answer has it twice
			}
			if count[r]++; count[r] > c.able && (len(answers) == 0 || r.op.Index < answers[0].op.Index) {
				answers = []*read{r}
			}
		}
	}
	at = c.among(answers)
	for len(at) <= c.able && len(answers) < mostAnswers {
		more := answers
		for _, x := range c.at[:min(len(c.at), 4*mostAnswers)] {
			try := append(slices.Clone(answers), x.lastAnswer())
			if shown := c.among(try); len(shown) > len(at) {
				more, at = try, shown
			}
		}
		if len(more) == len(answers) {
			break
		}
		answers = more
	}
	return answers, at
}

// among are the copies that some answers show, and of which none says that it is
// lost.
func (c surplus) among(answers []*read) []*record {
	var at []*record
	for _, x := range c.at {
		last := int64(math.MinInt64)
		for _, r := range answers {
			if r.holds(x.place) {
				last = max(last, r.op.Return)
			}
		}
		if last != math.MinInt64 && !slices.ContainsFunc(answers, func(r *read) bool { return r.op.Call > last && r.excludes(x.offset) }) {
			at = append(at, x)
		}
	}
	return at
}

// excludes reports whether an answer speaks for an offset or behind the end of the
// log that it tells.
func (r *read) excludes(offset int64) bool {
	return r.from <= offset && offset < r.to || r.op.Kind == histories.Scan && r.op.End != histories.None && r.op.End <= offset
}

// room says at how many offsets, or which, an answer should have held a value of
// which other answers show copies as well.
func (c surplus) room(late *read, at []*record) string {
	var others []string
	for _, x := range at {
		if !late.holds(x.place) {
			others = append(others, fmt.Sprint(x.offset))
		}
	}
	switch n := len(others); {
	case n == 0 || n > mostNamed:
		return "no more than " + places(c.able)
	case n == c.able:
		return "no offset but " + strings.Join(others, " and ")
	default:
		return fmt.Sprintf("no more than %s beside %s", places(c.able-n), strings.Join(others, " and "))
	}
}

// lastAnswer is the answer with a record that came back last.
func (x *record) lastAnswer() *read {
	return slices.MaxFunc(x.seenBy, func(a, b *read) int { return cmp.Compare(a.op.Return, b.op.Return) })
}
