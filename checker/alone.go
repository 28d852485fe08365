package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A reach is offsets from <= offset < to that an answer of a projection speaks for
// beside those that its records show, None where it is as any other. What was taken
// out of an answer, or stands between a scan and the end of the log, does not make it
// say less of the rest.
type reach struct{ from, to int64 }

// asShown is that of answers that are as they were given.
var asShown = reach{histories.None, histories.None}

// tell writes it down where no history in a file has anything.
func (r reach) tell(o *histories.Op) {
	if r.from != histories.None {
		o.From = r.from
	}
	if r.to != histories.None {
		o.To = r.to
	}
}

// alone is an operation as it is in the projection.
func (ts *transactions) alone(o histories.Op) (histories.Op, reach) {
	t := ts.of[o.Index]
	o.Tx = ""
	if o.Kind == histories.Send && o.Outcome == histories.OK && t != nil && !t.certain() {
		o.Outcome, o.Offset = histories.Info, histories.None
	}
	if o.Outcome != histories.OK {
		return o, asShown
	}
	speaks := ts.hide(&o)
	switch {
	case !ts.readers[o.Process]:
	case o.Kind == histories.Scan:
		if by := ts.holding(&o); len(by) > 0 {
			return ts.heldUp(o, by)
		}
	case o.Kind == histories.List && ts.whole.Config().Get("system") == "other":
		// It is the last stable offset, which others, who are told the end, may see behind it.
		o.Outcome, o.Offset = histories.Info, histories.None
	}
	return o, speaks
}

// hide takes the records out of an answer that nobody is promised to see. It passed
// over whatever else is below the last of them, and a poll behind the first of them.
func (ts *transactions) hide(o *histories.Op) reach {
	hidden := func(r histories.Record) bool { return ts.hidden(o.On, r) }
	if !slices.ContainsFunc(o.Records, hidden) {
		return asShown
	}
	speaks := reach{histories.None, endOf(o.Records)}
	switch o.Kind {
	case histories.Poll:
		speaks.from = lowest(o.Records)
	case histories.Scan:
		if o.End != histories.None || !slices.ContainsFunc(o.Records, func(r histories.Record) bool { return !hidden(r) }) {
			speaks = asShown // its end says more, or nobody knows where it begins
		}
	}
	if o.Kind != histories.Scan && o.HW == histories.None {
		o.HW = speaks.to
	}
	o.Records = slices.DeleteFunc(slices.Clone(o.Records), hidden)
	return speaks
}

// holding returns the transactions that may have been open and keep a scan from the
// end of the log. One did not that has a record below the end that was told and
// above all that was deleted, or of which a reader, by this scan or before, was shown
// a record of the partition: the last stable offset is never above an open
// transaction's first one.
func (ts *transactions) holding(scan *histories.Op) []*transaction {
	in := map[*transaction]bool{}
	for _, r := range scan.Records {
		in[ts.only(scan.On, r)] = true
	}
	var by []*transaction
	for _, t := range ts.all {
		if at, ok := t.visible[scan.On]; ok && at < scan.Call || in[t] || !t.openDuring(scan) {
			continue
		}
		here, below := false, false
		for _, s := range t.sends {
			if s.On == scan.On && s.Call <= scan.Return {
				here = true
				below = below || ts.binds(s) && s.Offset >= ts.starts[scan.On] && s.Offset < scan.End
			}
		}
		if here && (!below || t.mixed) {
			by = append(by, t)
		}
	}
	return by
}

// heldUp is a scan that does not tell where the log ends, for these transactions may
// have been in its way. It speaks for what is below the last stable offset.
func (ts *transactions) heldUp(scan histories.Op, by []*transaction) (histories.Op, reach) {
	from, told := ts.starts[scan.On]
	switch {
	case len(scan.Records) > 0 && told:
		from = min(from, lowest(scan.Records))
	case len(scan.Records) > 0:
		from = lowest(scan.Records)
	case scan.End == histories.None:
		scan.Outcome = histories.Info
		return scan, asShown
	case !told:
		from = scan.End
	}
	to := min(scan.End, ts.stable(&scan, by))
	scan.Kind, scan.From, scan.HW, scan.End = histories.Fetch, from, scan.End, histories.None
	return scan, reach{histories.None, to}
}
