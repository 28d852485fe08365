package report

import "strconv"

// exact is how long a time may be for a browser to count with it.
const exact = 1 << 50

// rebase counts times from the first one if they are too large for a browser, and
// states them in full if they are too far apart even so.
func (d *data) rebase() {
	var base, most int64
	each := func(visit func(*int64)) {
		for i := range d.Ops {
			visit(&d.Ops[i].Call)
			if d.Ops[i].Return != nil {
				visit(d.Ops[i].Return)
			}
		}
		for i := range d.Marks {
			visit(&d.Marks[i].Time)
			if d.Marks[i].Until != nil {
				visit(d.Marks[i].Until)
			}
		}
		for i := range d.Gaps {
			visit(&d.Gaps[i].From)
			visit(&d.Gaps[i].To)
		}
		if o := d.Overview; o != nil {
			visit(&o.From)
			visit(&o.To)
			for i := range o.Drawn {
				visit(&o.Drawn[i][0])
				visit(&o.Drawn[i][1])
			}
		}
	}
	first := true
	each(func(t *int64) {
		if first || *t < base {
			base, first = *t, false
		}
		most = max(most, *t)
	})
	if most < exact || len(d.Partitions) > 0 {
		base = 0
	}
	if most-base >= exact {
		d.stateTimes()
	}
	each(func(t *int64) { *t -= base })
	d.Base = strconv.FormatInt(base, 10)
}

// stateTimes adds to each operation and mark when it began and ended, in words.
func (d *data) stateTimes() {
	state := func(from int64, to *int64) []string {
		out := []string{strconv.FormatInt(from, 10)}
		if to != nil {
			out = append(out, strconv.FormatInt(*to, 10))
		}
		return out
	}
	for i := range d.Ops {
		d.Ops[i].Exact = state(d.Ops[i].Call, d.Ops[i].Return)
	}
	for i := range d.Marks {
		d.Marks[i].Exact = state(d.Marks[i].Time, d.Marks[i].Until)
	}
}
