package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// maxDrawn is how many operations and marks a page draws one by one, and
// maxLanes for how many clients. Of a longer history it draws what surrounds the
// proof, and of the rest how much there is.
const (
	maxDrawn = 1200
	maxReach = 100 // before and behind each operation of the proof
	maxLanes = 40
	buckets  = 160

	screenLanes = 12 // that are seen at once
)

// data is what the script draws. Texts are plain; the script shows them as text.
type data struct {
	Base       string      `json:"base"`  // what all times are counted from
	Lanes      []string    `json:"lanes"` // names of processes
	Ops        []operation `json:"ops"`
	Marks      []mark      `json:"marks"`
	Gaps       []gap       `json:"gaps,omitempty"` // between what is drawn
	Overview   *overview   `json:"overview,omitempty"`
	Proof      []int       `json:"proof"` // indices of operations and marks
	Partitions []Partition `json:"partitions,omitempty"`
	Partition  int         `json:"partition"` // which of them the finding is about
	Note       string      `json:"note,omitempty"`
}

type operation struct {
	Index   int    `json:"i"`
	Line    int    `json:"line,omitempty"`
	Lane    int    `json:"lane"`
	Call    int64  `json:"call"`
	Return  *int64 `json:"return"` // null while open
	Outcome string `json:"outcome"`
	Asked   string `json:"asked"`
	Answer  string `json:"answer"`
	Should  string `json:"should,omitempty"`

	Exact []string `json:"exact,omitempty"` // the times, of a history that lasts too long for a browser
}

type mark struct {
	Index int    `json:"i"`
	Line  int    `json:"line,omitempty"`
	Time  int64  `json:"t"`
	Until *int64 `json:"until,omitempty"` // of a fault whose end is told
	Kind  string `json:"kind"`
	Text  string `json:"text"`

	Exact []string `json:"exact,omitempty"`
}

// A gap is a stretch of the history of which no more is drawn than faults between
// the operations of the proof.
type gap struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Items int   `json:"items"` // that are not drawn
}

// An overview counts operations by time of call and by outcome.
type overview struct {
	From   int64           `json:"from"`
	To     int64           `json:"to"`
	Counts [buckets][3]int `json:"counts"` // ok, fail, info or open
	Drawn  [][2]int64      `json:"drawn"`  // stretches of time
}

// A stretch is a run of items of the history, by index.
type stretch struct{ from, to int }

// draw chooses what of a history is drawn, and says what is left out.
func draw(h *histories.History, about *checker.Finding, cluster *Cluster) (d data, left string) {
	d = data{Lanes: []string{}, Ops: []operation{}, Marks: []mark{}, Proof: []int{}}
	proof := map[int]checker.Evidence{}
	if about != nil {
		for _, e := range about.Evidence {
			proof[e.Index] = e
			d.Proof = append(d.Proof, e.Index)
		}
	}
	ops := h.Ops()
	all := len(ops) + len(h.Marks())
	drawn := stretches(d.Proof, all)
	var shown []*histories.Op
	for i := range ops {
		if within(drawn, ops[i].Index) {
			shown = append(shown, &ops[i])
		}
	}
	lanes := d.lanes(shown, proof)
	for _, o := range shown {
		d.operation(o, lanes[o.Process], proof[o.Index])
	}
	d.faultsOf(h, drawn)
	if cluster != nil {
		d.Note = plain(cluster.Note, saysWidth)
		for i, p := range cluster.Partitions {
			if about != nil && p.Name == about.Partition {
				d.Partition = i
			}
			p.Name = plain(p.Name, nameWidth)
			d.Partitions = append(d.Partitions, p)
		}
	}
	if n := len(d.Ops) + len(d.Marks); n < all {
		d.leaveOut(h, drawn)
		left = fmt.Sprintf("Of %s and %s, %s around the proof are drawn one by one; the overview counts the rest.",
			checker.Counted(len(ops), "operation"), checker.Counted(len(h.Marks()), "mark"), checker.Number(n))
		if about == nil {
			left = strings.Replace(left, "around the proof", "at the end", 1)
		}
	}
	d.rebase()
	return d, left
}

// stretches are the items that are drawn: all of them if there are few,
// otherwise those around the proof, or the last if there is none.
func stretches(proof []int, all int) []stretch {
	if all <= maxDrawn {
		return []stretch{{0, all}}
	}
	if len(proof) == 0 {
		return []stretch{{all - maxDrawn, all}}
	}
	const most = 40
	around := slices.Sorted(slices.Values(proof[:min(len(proof), most)]))
	reach := min(maxReach, maxDrawn/(2*len(around)))
	var out []stretch
	for _, i := range around {
		s := stretch{max(0, i-reach), min(all, i+reach)}
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

func within(drawn []stretch, index int) bool {
	i, found := slices.BinarySearchFunc(drawn, index, func(s stretch, index int) int { return cmp.Compare(s.from, index) })
	return found || i > 0 && index < drawn[i-1].to
}

// lanes gives each process a lane, P2 before P10. Where there are more than a
// screen takes, those that prove something are on top. Of a crowd those that come
// late share the last one.
func (d *data) lanes(ops []*histories.Op, proof map[int]checker.Evidence) map[string]int {
	var names, others []string
	lanes, proves := map[string]int{}, map[string]bool{}
	for _, o := range ops {
		if _, ok := proof[o.Index]; ok {
			proves[o.Process] = true
		}
	}
	for _, o := range ops {
		if _, ok := lanes[o.Process]; ok {
			continue
		}
		lanes[o.Process] = maxLanes
		if proves[o.Process] {
			names = append(names, o.Process)
		} else {
			others = append(others, o.Process)
		}
	}
	names = append(names, others...)
	crowd, many := len(names) > maxLanes, len(names) > screenLanes
	names = names[:min(len(names), maxLanes)]
	kind := func(name string) string { return strings.TrimRight(name, "0123456789") }
	slices.SortFunc(names, func(a, b string) int {
		if many && proves[a] != proves[b] {
			return map[bool]int{true: -1, false: 1}[proves[a]]
		}
		return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for i, name := range names {
		lanes[name] = i
		d.Lanes = append(d.Lanes, plain(name, nameWidth))
	}
	if crowd {
		d.Lanes = append(d.Lanes, "others")
	}
	return lanes
}

func (d *data) operation(o *histories.Op, lane int, e checker.Evidence) {
	asked, answer := words(*o, e.Text)
	one := operation{Index: o.Index, Line: o.Line, Lane: lane, Call: o.Call, Outcome: o.Outcome.String(),
		Asked: plain(asked, textWidth), Answer: plain(answer, textWidth), Should: plain(e.Should, saysWidth)}
	if o.Outcome != histories.Open {
		end := o.Return
		one.Return = &end
	}
	d.Ops = append(d.Ops, one)
}

// words are what was asked and what was answered, as the notation has them. The
// text of a proof knows which records of a long answer matter.
func words(o histories.Op, proof string) (asked, answer string) {
	o.Process = "P" // a name may hold blanks
	_, whole, _ := strings.Cut(checker.Brief(&o), " P ")
	o.Outcome = histories.Open
	_, asked, _ = strings.Cut(o.String(), " P ")
	if _, answer, ok := strings.Cut(proof, asked+" => "); ok {
		return asked, answer
	}
	return asked, strings.TrimPrefix(strings.TrimPrefix(whole, asked), " => ")
}

// leaveOut counts what is not drawn.
func (d *data) leaveOut(h *histories.History, drawn []stretch) {
	times := make([]int64, len(h.Ops())+len(h.Marks())) // by index
	o := &overview{}
	for i := range h.Ops() {
		op := &h.Ops()[i]
		times[op.Index] = op.Call
		o.To = max(o.To, op.Call, op.Return)
	}
	for i := range h.Marks() {
		times[h.Marks()[i].Index] = h.Marks()[i].Time
		o.To = max(o.To, h.Marks()[i].Time)
	}
	o.From = times[0]
	span := float64(o.To-o.From) + 1
	for i := range h.Ops() {
		op := &h.Ops()[i]
		kind := map[histories.Outcome]int{histories.OK: 0, histories.Fail: 1, histories.Info: 2, histories.Open: 2}[op.Outcome]
		o.Counts[int(float64(op.Call-o.From)/span*buckets)][kind]++
	}
	last := 0
	for _, s := range drawn {
		if s.from > last {
			d.Gaps = append(d.Gaps, gap{times[max(0, last-1)], times[s.from], s.from - last - d.marksIn(last, s.from)})
		}
		last = s.to
		o.Drawn = append(o.Drawn, [2]int64{times[s.from], times[s.to-1]})
	}
	if last < len(times) {
		d.Gaps = append(d.Gaps, gap{times[last-1], o.To, len(times) - last - d.marksIn(last, len(times))})
	}
	d.Overview = o
}
