package checker

import (
	"slices"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
)

// residue returns what the model has to judge: all operations, less what the
// settings excuse.
//
// Copies that retries may make are sends of their own, with an unknown outcome.
// Where committed records may vanish, the survivors are judged: records that
// were lost or replaced are set aside with their acknowledgements, and answers
// do not speak for the end of the log or for holes any more.
func (p *partition) residue(excused bool) []model.Op {
	if excused {
		p.setAside()
	}
	ops := make([]model.Op, 0, len(p.ops))
	for _, o := range p.ops {
		position := histories.None
		if r := p.readOf[o]; r != nil {
			position = r.position
		}
		op, ok := model.Translate(o, p.config, position)
		if !ok {
			continue
		}
		op.Records = p.section.records(op.Records)
		if op.Kind == model.Read && p.compacted() {
			op.Empty = p.certainHoles(op)
		}
		if !excused {
			ops = append(ops, op)
			continue
		}
		ops = p.withSurvivors(ops, op)
	}
	return append(ops, p.ghosts(excused)...)
}

// setAside marks the records that an excused loss took: those proven gone, and
// of several values at one offset all but the one seen last.
func (p *partition) setAside() {
	var last *record
	for _, x := range p.records {
		x.aside = x.gone != nil || !slices.ContainsFunc(p.sent[x.value], takesEffect)
		if x.aside {
			continue
		}
		if last != nil && last.offset == x.offset {
			if last.freshness() > x.freshness() {
				x.aside = true
				continue
			}
			last.aside = true
		}
		last = x
	}
}

// freshness orders the values of one offset by when they were last known.
func (x *record) freshness() int64 {
	if x.send != nil {
		return max(x.lastSeen(), x.send.op.Call)
	}
	return x.lastSeen()
}

// withSurvivors adds what an operation still says once lost records are set
// aside.
func (p *partition) withSurvivors(ops []model.Op, op model.Op) []model.Op {
	if op.Kind == model.Read {
		op.Empty, op.Low, op.Exact, op.Beyond = nil, histories.None, histories.None, histories.None
		lost := func(r histories.Record) bool { return p.at[place{r.Offset, r.Value}].aside }
		if slices.ContainsFunc(op.Records, lost) {
			op.Records = slices.DeleteFunc(slices.Clone(op.Records), lost)
		}
		return append(ops, op)
	}
	if op.Offset != histories.None && !p.broken(op) {
		return append(ops, op)
	}
	for _, v := range op.Values {
		ops = append(ops, model.Uncertain(op.Source, v))
	}
	return ops
}

// broken reports whether a batch is not where its offset says, whole.
func (p *partition) broken(op model.Op) bool {
	for i, v := range op.Values {
		if x := p.at[place{op.Offset + int64(i), v}]; x == nil || x.aside {
			return true
		}
	}
	return false
}

// certainHoles returns the offsets an answer passes over that compaction cannot
// have emptied.
func (p *partition) certainHoles(op model.Op) []model.Span {
	var out []model.Span
	for _, s := range op.Empty {
		for i := p.search(s.From); i < len(p.records) && p.records[i].offset < s.To; i++ {
			if x := p.records[i]; !p.mayVanish(x) {
				out = append(out, model.Span{From: x.offset, To: x.offset + 1})
			}
		}
	}
	return out
}

// ghosts returns sends of unknown outcome for copies that retries may have
// made, where one send may land twice: for each copy beyond the sends of its
// value, and for each at another offset than a producer was told.
func (p *partition) ghosts(excused bool) []model.Op {
	if !p.again() {
		return nil
	}
	type copied struct {
		send *send
		base int64
	}
	var ops []model.Op
	done := map[copied]bool{}
	for _, x := range p.records {
		if len(x.seenBy) == 0 || x.aside || p.isTold(x) || !p.answered(x.value) && len(p.places[x.value]) < 2 && !p.spread(x.value) {
			continue
		}
		alone := false
		for _, s := range p.sent[x.value] {
			if excused || len(s.op.Values) == 1 {
				if alone || !takesEffect(s) {
					continue // what the earliest of them puts there, no later one has to
				}
				alone = true
			}
			c := copied{s, x.offset}
			if !excused { // what lands is the whole batch
				c.base -= int64(slices.Index(s.op.Values, x.value))
			}
			if takesEffect(s) && !done[c] {
				done[c] = true
				ops = append(ops, p.copyOf(s, x, excused))
			}
		}
	}
	return ops
}

// copyOf returns another landing of a batch, or of the one record of it that
// survived where records may vanish.
func (p *partition) copyOf(s *send, x *record, excused bool) model.Op {
	if excused {
		return model.Uncertain(s.op, x.value)
	}
	return model.Uncertain(s.op, s.op.Values...)
}

// again reports whether one send may land more than once.
func (p *partition) again() bool { return mayRepeat(p.config) }

func mayRepeat(c histories.Config) bool {
	return retries(c) != "" || allowedByName(c, duplicate) != ""
}

// isTold reports whether a producer was told that its record is there, and it
// is.
func (p *partition) isTold(x *record) bool {
	for _, s := range p.sent[x.value] {
		if i := slices.Index(s.op.Values, x.value); s.base != histories.None && s.base == s.op.Offset && s.base+int64(i) == x.offset {
			return true
		}
	}
	return false
}

// answered reports whether a producer of the value learned that it landed: that
// may have been another landing than the one that was read.
func (p *partition) answered(v histories.Value) bool {
	return slices.ContainsFunc(p.sent[v], func(s *send) bool { return s.acked || s.op.Offset != histories.None })
}

// spread reports whether values of one batch were read where one landing of it
// cannot have put them all.
func (p *partition) spread(v histories.Value) bool {
	return slices.ContainsFunc(p.sent[v], func(s *send) bool {
		first := histories.None
		for i, v := range s.op.Values {
			for _, x := range p.places[v] {
				base := x.offset - int64(i)
				if len(x.seenBy) == 0 || base == first {
					continue
				}
				if base < 0 || first != histories.None {
					return true
				}
				first = base
			}
		}
		return false
	})
}
