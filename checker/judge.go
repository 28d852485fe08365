package checker

import (
	"fmt"
	"slices"

	"github.com/isrcheck/isrcheck/histories"
)

// A judge is one check under way.
type judge struct {
	config     histories.Config
	ops        []histories.Op   // all, or none where only a part is judged
	marks      []histories.Mark // all, or those that confess something
	ofLogtest  bool             // package logtest recorded it
	ending     ending
	stake      stake
	opts       Options
	partitions []*partition
	result     Result
	violated   map[*partition]bool   // a rule about the log fired and nothing permits it
	excused    map[*partition]string // the setting that permits what a rule about the log found
	unknown    []doubt
}

// emptyJudge has nothing to judge yet.
func emptyJudge(c histories.Config, opts Options) *judge {
	return &judge{config: c, opts: opts.withDefaults(), ending: endingOf(c), violated: map[*partition]bool{}, excused: map[*partition]string{}}
}

func newJudge(h *histories.History, opts Options) *judge {
	j := emptyJudge(h.Config(), opts)
	j.ops, j.marks, j.ofLogtest = h.Ops(), h.Marks(), OfLogtest(h.Header())
	at, back := positions(h)
	names, on := byPartition(h.Ops())
	for _, name := range names {
		p := newPartition(name, h.Config(), on[name], at, nil)
		for _, b := range back {
			if b.poll.On == name {
				p.back = append(p.back, b)
			}
		}
		j.partitions = append(j.partitions, p)
	}
	j.count()
	j.assume(h.Config())
	for i := range j.marks {
		j.ending.mark(&j.marks[i])
	}
	polls := 0
	for i := range h.Ops() {
		if h.Ops()[i].Kind == histories.Poll {
			polls++
		}
	}
	j.notePositions(h.Config(), recordsRebalances(h.Marks()), polls)
	return j
}

// byPartition deals out operations, and names the partitions in the order in which
// they are first used.
func byPartition(ops []histories.Op) (names []string, on map[string][]*histories.Op) {
	on = map[string][]*histories.Op{}
	var mine []*histories.Op // of the partition used last
	for i := range ops {
		o := &ops[i]
		if i > 0 && ops[i-1].On != o.On {
			on[ops[i-1].On], mine = mine, on[o.On]
		}
		if mine == nil {
			names, mine = append(names, o.On), make([]*histories.Op, 0, 16)
		}
		if mine = append(mine, o); i == len(ops)-1 {
			on[o.On] = mine
		}
	}
	return names, on
}

// count says how much is at stake.
func (j *judge) count() {
	e := &j.result.Exercised
	e.Partitions, e.Rules = len(j.partitions), len(rules)
	for _, m := range j.marks {
		if isFault(&m) {
			e.Faults++
		}
	}
	e.Operations = len(j.ops)
	j.stake = stakeOf(j.ops)
	for _, p := range j.partitions {
		e.Sends += len(p.sends)
		for _, s := range p.sends {
			e.Values += len(s.op.Values)
			if s.acked {
				e.Acknowledged++
			}
		}
		for _, o := range p.ops {
			if (o.IsRead() || o.Kind == histories.List) && o.Outcome == histories.OK {
				e.Reads++
				e.Records += len(o.Records)
			}
			if o.Kind == histories.Scan && o.Outcome == histories.OK {
				e.Scans++
			}
		}
	}
}

// isFault reports whether a mark says that a fault began.
func isFault(m *histories.Mark) bool {
	_, over := m.Ends()
	return m.Kind == histories.Nemesis && !over && !Confesses(m)
}

// assume names the settings that decide verdicts and that the history leaves
// to their defaults.
func (j *judge) assume(c histories.Config) {
	j.result.Assumptions = assumed(c, "acks", idemKey, uncleanKey, "cleanup.policy", "offsets", "reads", "system")
}

// assumed are those of the settings that are not stated, with their defaults.
func assumed(c histories.Config, keys ...string) (defaults []string) {
	for _, key := range keys {
		if _, ok := c.Stated(key); !ok {
			defaults = append(defaults, key+"="+c.Get(key))
		}
	}
	return defaults
}

// applyRules runs every rule over every partition.
func (j *judge) applyRules() {
	for i := range rules {
		for _, p := range j.partitions {
			found := rules[i].apply(p)
			if len(found) == 0 {
				continue
			}
			j.result.Findings = append(j.result.Findings, found...)
			switch allowed := found[0].Allowed; { // as the others
			case !rules[i].log:
			case allowed == "":
				j.violated[p] = true
			case rules[i].name != duplicate: // copies are accounted for one by one
				j.excused[p] = allowed
			}
		}
	}
	for _, p := range j.partitions {
		if j.loses(p) {
			j.result.Lost = append(j.result.Lost, p.losses()...)
		}
	}
	j.result.Findings = append(j.result.Findings, j.breaches()...)
}

// loses reports whether a finding says that the partition lost something.
func (j *judge) loses(p *partition) bool {
	return slices.ContainsFunc(j.result.Findings, func(f Finding) bool {
		return f.Partition == p.name && (f.Name == "lost-write" || f.Name == "read-then-lost")
	})
}

// conclude makes the verdict of what was found.
func (j *judge) conclude() {
	r := &j.result
	if r.Engine == "" {
		r.Engine = "rules"
	}
	if !j.opts.Terse || r.Verdict == Contradictory || len(r.Names()) > 0 {
		r.show()
	}
	if r.Verdict == Contradictory {
		return
	}
	doubts := append(j.ending.doubts(), j.unknown...) // the former explain the latter
	switch {
	case len(r.Names()) > 0:
		r.Verdict, doubts = Violates, j.ending.doubts()
	case len(doubts) > 0:
		r.Verdict, r.Reason, r.ReasonKind = Undecided, doubts[0].says, doubts[0].kind
		doubts = doubts[1:]
	default:
		r.Verdict = Conforms
	}
	for _, d := range doubts {
		r.Notes = append(r.Notes, d.says)
	}
}

// show writes down what the findings say.
func (r *Result) show() {
	for i := range r.Findings {
		r.Findings[i].show()
	}
}

// noteThinEvidence finds what the history leaves open.
func (j *judge) noteThinEvidence() {
	if !j.atStake(j.result.Exercised.Reads > 0 || j.refuted()) {
		return
	}
	for _, p := range j.partitions {
		j.noteRetained(p)
		j.noteUnkeyed(p)
		j.noteUnseen(p.name, p.unseen())
	}
}

// noteRetained says what only retention that nobody told of could explain.
func (j *judge) noteRetained(p *partition) {
	if x := p.retained(); x != nil {
		j.doubt("a scan begins behind a record, and nobody was told the log start after it",
			"%s: a scan begins behind offset %d, which held value %s, and nobody was told the log start after it (list earliest)", p.name, x.offset, x.value)
		return
	}
	if s, scan := p.retainedUnplaced(); s != nil {
		j.doubt("a scan lacks a record that may have been before it, and nobody was told the log start after it",
			"%s: value %s was acknowledged and nobody was told where it is, a scan that lacks it begins at offset %d, and nobody was told the log start after it (list earliest)", p.name, s.op.Values[0], scan.from)
	}
}

// noteUnkeyed says what compaction may have removed or not, for nobody tells its
// key. Kafka takes no record without one where the log is compacted.
func (j *judge) noteUnkeyed(p *partition) {
	if x := p.unkeyed; x != nil {
		j.doubt("an answer lacks a record of a compacted log whose key is not recorded",
			"%s: an answer lacks value %s at offset %d, the log is compacted, and the key of the record is not recorded (key=)", p.name, x.value, x.offset)
	}
}

// notePositions says when nobody can know where polls were to begin.
func (j *judge) notePositions(c histories.Config, rebalances bool, polls int) {
	if c.Get("assignment") == "subscribe" && !rebalances && polls > 0 {
		j.result.Notes = append(j.result.Notes, fmt.Sprintf("consumers' positions are not judged from poll to poll: assignment=subscribe, and no rebalance is recorded; %d polls", polls))
	}
}

// atStake reports whether the history could have shown anything wrong.
func (j *judge) atStake(answered bool) bool {
	if e := j.result.Exercised; e.Sends == 0 || !answered {
		j.doubt("nothing was at stake: no send or no answered read", "nothing was at stake: %s and %s", Counted(e.Sends, "send"), Counted(e.Reads, "answered read"))
		return false
	}
	if why := j.stake.lacks(j.result.Exercised); why != "" && !j.opts.atStake {
		j.doubt("nothing was at stake: no send was acknowledged, and no record was read", "nothing was at stake: %s", why)
		return false
	}
	return true
}

// noteUnseen says which acknowledged values nobody read. A scan that began
// after they were acknowledged would have shown them, had it told the end; one
// that was over before says nothing of them.
func (j *judge) noteUnseen(partition string, u unseen) {
	if u.n == 0 {
		return
	}
	const kind = "acknowledged values were never read (unseen)"
	note := fmt.Sprintf("%s: %d acknowledged values were never read (unseen), the first is %s", partition, u.n, u.first)
	if u.n == 1 {
		note = fmt.Sprintf("%s: an acknowledged value was never read (unseen): %s", partition, u.first)
	}
	switch {
	case u.unscanned && j.result.Exercised.Scans > 0:
		j.doubt(kind+", and no scan began after that", "%s, and no scan that tells the end began after that", note)
	case u.unscanned:
		j.doubt(kind+", and there is no final scan", "%s, and there is no final scan", note)
	case j.result.Exercised.Records == 0:
		j.doubt(kind+", and no record was ever read", "%s, and no record was ever read", note)
	default:
		j.result.Notes = append(j.result.Notes, note)
	}
}

// unseen counts acknowledged values that nobody read and nothing proves gone.
type unseen struct {
	n         int
	first     histories.Value
	index     int  // of the send of the first
	unscanned bool // of some, no scan began after their acknowledgement
}

// count takes note of one.
func (u *unseen) count(v histories.Value, send int) {
	if u.n == 0 || send < u.index {
		u.first, u.index = v, send
	}
	u.n++
}

// add takes in those of another part of the partition.
func (u *unseen) add(o unseen) {
	if o.n == 0 {
		return
	}
	if u.n == 0 {
		*u = o
		return
	}
	n := u.n + o.n
	u.count(o.first, o.index)
	u.n, u.unscanned = n, u.unscanned || o.unscanned
}

func (j *judge) refuted() bool {
	for _, p := range j.partitions {
		if p.scanned != histories.None {
			return true
		}
	}
	return false
}

// unseen finds the acknowledged values that nobody read.
func (p *partition) unseen() (u unseen) {
	for _, s := range p.sends {
		if !s.acked || p.mismatched(s) {
			continue
		}
		for i, v := range s.op.Values {
			if s.base == histories.None {
				if p.seenAnywhere(v) || p.lostUnplaced(s) != nil {
					continue
				}
			} else if x := p.at[place{s.base + int64(i), v}]; x.gone != nil || len(x.seenBy) > 0 || x.offset < p.start || p.mayVanish(x) {
				continue
			}
			u.count(v, s.op.Index)
			u.unscanned = u.unscanned || s.op.Return >= p.scanned
		}
	}
	return u
}
