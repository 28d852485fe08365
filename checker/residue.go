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
	var ops []model.Op
	for _, o := range p.ops {
		position := histories.None
		if r := p.readOf[o]; r != nil {
			position = r.position
		}
		op, ok := model.Translate(o, p.config, position)
		if !ok {
			continue
		}
		if op.Kind == model.Read && p.compacted() {
			op.Empty = p.certainHoles(op)
		}
		if !excused {
			ops = append(ops, op)
			continue
		}
		ops = append(ops, p.survivors(op)...)
	}
	return append(ops, p.ghosts()...)
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

// survivors returns what an operation still says once lost records are set
// aside.
func (p *partition) survivors(op model.Op) []model.Op {
	if op.Kind == model.Read {
		op.Empty, op.Low, op.Exact, op.Beyond = nil, histories.None, histories.None, histories.None
		op.Records = slices.DeleteFunc(slices.Clone(op.Records), func(r histories.Record) bool {
			return p.at[place{r.Offset, r.Value}].aside
		})
		return []model.Op{op}
	}
	if op.Offset != histories.None && !p.broken(op) {
		return []model.Op{op}
	}
	var ops []model.Op
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

// ghosts returns a send of unknown outcome for every copy of a value beyond
// its sends, where one send may land twice.
func (p *partition) ghosts() []model.Op {
	if retries(p.config) == "" && allowedByName(p.config, duplicate) == "" {
		return nil
	}
	var ops []model.Op
	for _, c := range p.surplus() {
		for n := c.able; n < len(c.at); n++ {
			ops = append(ops, model.Uncertain(p.firstSend(c.at[0].value).op, c.at[0].value))
		}
	}
	return ops
}
