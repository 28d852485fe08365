package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// A claim is one of the things that an answer says about the log.
type claim struct {
	by     *model.Op
	what   topic
	at     int64           // the offset it is about
	to     int64           // passed: the offset behind the last one
	record histories.Value // acknowledged, landed: the first one sent; handed: what is there
}

// A topic is what a claim is about. Of claims that cross, one of a later topic is
// more likely to be wrong.
type topic uint8

const (
	acknowledged topic = iota // a send took effect
	handed                    // an offset holds a record
	reached                   // the log had come so far
	ended                     // the log ended there
	landed                    // where a send is, if it took effect
	nothing                   // no record was there or behind
	passed                    // offsets below the end hold nothing
)

// claimsOf takes an answer apart.
func claimsOf(op *model.Op) []claim {
	var claims []claim
	add := func(is bool, what topic, at int64) {
		if is {
			claims = append(claims, claim{by: op, what: what, at: at})
		}
	}
	if op.Must {
		claims = append(claims, claim{by: op, what: acknowledged, record: op.Values[0]})
	}
	if op.Offset != histories.None {
		claims = append(claims, claim{by: op, what: landed, at: op.Offset, record: op.Values[0]})
	}
	add(op.Exact != histories.None, ended, op.Exact)
	add(op.Low > 0, reached, op.Low)
	add(op.Beyond != histories.None, nothing, op.Beyond)
	for _, hole := range op.Empty {
		claims = append(claims, claim{by: op, what: passed, at: hole.From, to: hole.To})
	}
	for _, r := range op.Records {
		claims = append(claims, claim{by: op, what: handed, at: r.Offset, record: r.Value})
	}
	return claims
}

// claiming is an operation that says no more than some claims do. It reports false
// if there is nothing left of it.
func claiming(op model.Op, claims []claim) (model.Op, bool) {
	all, left := op, op.Kind == model.Append
	op.Must, op.Records, op.Empty = false, nil, nil
	op.Offset, op.Low, op.Exact, op.Beyond = histories.None, histories.None, histories.None, histories.None
	if op.Kind == model.Append {
		op.Return = histories.None
	}
	for _, c := range claims {
		if c.by.Source != op.Source || c.by.Kind != op.Kind {
			continue
		}
		left = true
		switch c.what {
		case acknowledged:
			op.Must, op.Return = true, all.Return
		case landed:
			op.Offset = c.at
		case ended:
			op.Exact = c.at
		case reached:
			op.Low = c.at
		case nothing:
			op.Beyond = c.at
		case passed:
			op.Empty = append(op.Empty, model.Span{From: c.at, To: c.to})
		case handed:
			op.Records = append(op.Records, histories.Record{Offset: c.at, Value: c.record})
		}
	}
	return op, left
}

// refuted reports whether no order fits some claims, whatever sends took effect.
func (s *search) refuted(claims []claim) bool {
	var ops []model.Op
	for _, o := range s.ops {
		if o, left := claiming(o, claims); left {
			ops = append(ops, o)
		}
	}
	return s.illegal(ops)
}

// together says of answers that cross what of them does, and what the one that
// broke the history should have been.
func (s *search) together(core []model.Op) Finding {
	var all []claim
	for i := range core {
		all = append(all, claimsOf(&core[i])...)
	}
	claims, certain := needed(s, nil, all, s.refuted)
	if !certain {
		claims = all
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(a.by.Source.Index-b.by.Source.Index, cmp.Compare(a.at, b.at))
	})
	says, batches := recounted(withoutEchoes(claims)), s.batches(claims, answersOf(core))
	if len(batches) == 0 {
		batches = s.undivided(claims)
	}
	for _, b := range batches {
		says += fmt.Sprintf(", and %s sent %s together", b.Process, records(b.Values))
	}
	if len(batches) == 0 {
		says += s.sizes(claims)
	}
	f := proof(batches, "%s: no order of the sends explains that", says)
	for _, c := range claims {
		if c.what == handed || c.what == passed {
			f = f.around(c.at)
		}
	}
	return f.should(core[0].Source, "%s", s.rather(claims, core[0].Source))
}

// withoutEchoes leaves out that a send took effect where it is said at which offset.
func withoutEchoes(claims []claim) []claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c claim) bool {
		return c.what == acknowledged && slices.ContainsFunc(claims, func(o claim) bool { return o.what == landed && o.by.Source == c.by.Source })
	})
}

// mostNamed is how many operations are named, unless more are needed.
const mostNamed = 4

// batches returns the sends of records that answers held and that were sent once,
// together with others.
func (s *search) batches(claims []claim, named []*histories.Op) (out []*histories.Op) {
	named = slices.Clone(named)
	for _, c := range claims {
		sends := s.p.sent[c.record]
		if c.what != handed || len(sends) != 1 || len(sends[0].op.Values) == 1 || slices.Contains(out, sends[0].op) {
			continue
		}
		if by := sends[0].op; !slices.Contains(named, by) {
			if len(named) >= mostNamed {
				continue
			}
			named = append(named, by)
		}
		out = append(out, sends[0].op)
	}
	return out
}

// undivided returns a batch of which a part would explain some claims, if there is
// one: that all of it or nothing takes effect is what they cross with. Of many batches
// it looks at the latest.
func (s *search) undivided(claims []claim) []*histories.Op {
	ops, t := s.ops, trials{s: s}
	defer func() { s.ops = ops }()
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].Kind != model.Append {
			continue
		}
		for n := 1; n < len(ops[i].Values); n++ {
			s.ops = slices.Clone(ops)
			s.ops[i].Values = ops[i].Values[:n]
			if t.fit(claims) {
				return []*histories.Op{ops[i].Source}
			}
		}
	}
	return nil
}

// trials are claims that are tried in place of others, as long as that is not too
// much work.
type trials struct {
	s    *search
	n    int
	work int64
}

const mostTrials = 16

// fit reports whether some order is known to fit some claims.
func (t *trials) fit(claims []claim) bool {
	if t.n >= mostTrials || t.work > mostWork {
		return false
	}
	fits := !t.s.refuted(claims)
	t.n++
	t.work += t.s.steps + int64(len(t.s.ops))
	return fits
}

// mostSizes is how many sends are counted.
const mostSizes = 6

// sizes says how many records the sends have that may have taken effect, where
// nothing but that can tell where a log without holes ends.
func (s *search) sizes(claims []claim) string {
	about := func(topics ...topic) bool {
		return slices.ContainsFunc(claims, func(c claim) bool { return slices.Contains(topics, c.what) })
	}
	if !s.options.Dense || s.options.Again || s.p.section != nil || about(handed) || !about(reached, ended, landed) {
		return ""
	}
	var sizes []string
	largest := 0
	for i := range s.ops {
		if n := len(s.ops[i].Values); s.ops[i].Kind == model.Append {
			sizes, largest = append(sizes, strconv.Itoa(n)), max(largest, n)
		}
	}
	switch n := len(sizes); {
	case n == 0, n > mostSizes:
		return ""
	case n == 1:
		return ", and the only send by then has " + Counted(largest, "record")
	default:
		return fmt.Sprintf(", and the sends by then have %s and %s records", strings.Join(sizes[:n-1], ", "), sizes[n-1])
	}
}

// records names what was sent together.
func records(values []histories.Value) string {
	if len(values) == 1 {
		return "record " + values[0].String()
	}
	if len(values) > mostRecounted {
		return fmt.Sprintf("%d records from %s on", len(values), values[0])
	}
	var words []string
	for _, v := range values {
		words = append(words, v.String())
	}
	return "records " + strings.Join(words, ",")
}

// mostRecounted is how many claims of one answer are put into words.
const mostRecounted = 4

// recounted puts claims into words, answer by answer.
func recounted(claims []claim) string {
	var words strings.Builder
	told := 0
	for i, c := range claims {
		switch {
		case i == 0 || claims[i-1].by.Source != c.by.Source:
			if told = 1; i > 0 {
				words.WriteString(", and ")
				if c.by.Call > until(claims[i-1].by) {
					words.WriteString("then ")
				}
			}
			words.WriteString(c.by.Source.Process + " was ")
		case told == mostRecounted:
			continue
		default:
			told++
			words.WriteString(" and ")
		}
		words.WriteString(c.String())
	}
	return words.String()
}

// String completes that somebody was.
func (c claim) String() string {
	switch c.what {
	case acknowledged:
		return fmt.Sprintf("told that %s took effect", records(c.by.Values))
	case landed:
		if len(c.by.Values) > 1 {
			return fmt.Sprintf("told that %s begin at offset %d", records(c.by.Values), c.at)
		}
		return fmt.Sprintf("told that record %s is at offset %d", c.record, c.at)
	case ended:
		return fmt.Sprintf("told that the log ended at %d", c.at)
	case reached:
		return fmt.Sprintf("told that the log had come to %d", c.at)
	case nothing:
		return fmt.Sprintf("handed nothing from offset %d on", c.at)
	case passed:
		if c.to > c.at+1 {
			return fmt.Sprintf("handed nothing at offsets %d to %d", c.at, c.to-1)
		}
		return fmt.Sprintf("handed nothing at offset %d", c.at)
	}
	return fmt.Sprintf("handed record %s at offset %d", c.record, c.at)
}

// rather says what an answer should have been so that one of some claims that fit
// no order is not made: the one that is the most likely to be wrong.
func (s *search) rather(claims []claim, by *histories.Op) string {
	wrong := -1
	for i, c := range claims {
		if c.by.Source == by && (wrong < 0 || c.what >= claims[wrong].what) {
			wrong = i
		}
	}
	if wrong < 0 {
		return "been another answer"
	}
	switch c := claims[wrong]; c.what {
	case acknowledged:
		return "been acknowledged later, or not at all"
	case landed:
		return "been told another offset"
	case ended:
		return s.rightEnd(claims, wrong)
	case reached:
		return "been told a lower end"
	case nothing:
		return fmt.Sprintf("held a record at or behind offset %d", c.at)
	case passed:
		return fmt.Sprintf("held a record at offset %d", c.at)
	default:
		return fmt.Sprintf("held no record %s at offset %d", c.record, c.at)
	}
}

// rightEnd says which ends an answer might have told instead of the one it did: the
// next one below that fits, and the next one above.
func (s *search) rightEnd(claims []claim, wrong int) string {
	var ends []string
	for _, step := range []int64{-1, 1} {
		t, other := trials{s: s}, slices.Clone(claims)
		for i := range int64(mostTrials) {
			if other[wrong].at = claims[wrong].at + step*(i+1); other[wrong].at >= 0 && t.fit(other) {
				ends = append(ends, fmt.Sprint(other[wrong].at))
				break
			}
		}
	}
	if len(ends) > 0 {
		return "been told that the log ended at " + strings.Join(ends, " or ")
	}
	least := slices.Clone(claims)
	if least[wrong].what = reached; s.refuted(least) {
		return "been told a lower end"
	}
	return "been told a higher end"
}
