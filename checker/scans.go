package checker

import "github.com/isrcheck/isrcheck/histories"

// scanFrom returns where a complete scan begins: at the log start. Retention
// may have moved it without anybody being told, and then the first record is
// all there is to go by; where every offset holds a record it has not moved.
func (p *partition) scanFrom(o *histories.Op) int64 {
	certain := p.startKnown()
	switch {
	case certain && len(o.Records) > 0:
		return min(p.start, lowest(o.Records))
	case certain:
		return p.start
	case len(o.Records) > 0:
		return lowest(o.Records)
	case o.End != histories.None:
		return o.End
	}
	return p.start
}

// retained returns a known record below the beginning of a complete scan, if
// only retention nobody told of could explain that the scan lacks it.
func (p *partition) retained() *record {
	if p.startKnown() {
		return nil
	}
	from := int64(0)
	for _, r := range p.reads {
		if r.op.Kind == histories.Scan {
			from = max(from, r.from)
		}
	}
	for _, x := range p.records {
		if x.offset < from && !p.mayVanish(x) {
			return x
		}
	}
	return nil
}

// retainedUnplaced is retained for what was acknowledged without an offset. It returns
// the scan that lacks it.
func (p *partition) retainedUnplaced() (*send, *read) {
	if p.startKnown() {
		return nil, nil
	}
	for _, s := range p.sends {
		if scan := p.lacks(s, func(scan *read) bool { return scan.from > p.start }); scan != nil {
			return s, scan
		}
	}
	return nil, nil
}

// covers returns an answer that speaks for the offset a producer was told: its
// range has it, or the healed log ends before. It is nil if there is none.
func (p *partition) covers(s *send) *read {
	told := s.op.Offset
	for _, r := range p.reads {
		if p.scope(r) <= told && told < r.to ||
			r.op.Kind == histories.Scan && r.op.End != histories.None && r.op.End <= told && r.op.Call > s.op.Return {
			return r
		}
	}
	return nil
}

// scope returns the first offset an answer speaks for: not those that had been
// deleted. The log start moves behind whole prefixes, so an answer that has a
// record below the highest start told was given before it moved that far.
func (p *partition) scope(r *read) int64 {
	start := p.start
	if len(r.op.Records) > 0 {
		start = min(start, lowest(r.op.Records))
	}
	return max(r.from, start)
}
