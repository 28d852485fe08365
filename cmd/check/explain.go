package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain FILE",
		Short: "Say in words what a history shows",
		Long: "explain judges a history and says what is wrong with it, or why nothing is: the verdict\n" +
			"in a sentence, the promise that was broken, a timeline of just the operations that prove\n" +
			"it, and what to type next. The exit code is the verdict's. - is stdin.",
		Example: "  check explain failures/lost-write-9c1f02ab55d01e77.hist",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := interruptible()
			defer stop()
			a.explainFile(ctx, args[0])
			return nil
		},
	}
}

func (a *app) explainFile(ctx context.Context, name string) {
	h, err := a.read(name)
	if err != nil {
		a.fail(exitInput, err)
		return
	}
	r := checker.Check(ctx, h, checker.Options{})
	j := judgement{file: name, header: h.Header(), result: r}
	a.worsen(j.exit())
	fmt.Fprint(a.out, a.explanation(h, j))
	if j.exit() == exitInternal {
		a.reportBug(r.Reason, name)
	}
}

// explanation is the verdict in a sentence, with what a person needs to believe
// it and to act on it.
func (a *app) explanation(h *histories.History, j judgement) string {
	var b strings.Builder
	r := j.result
	switch r.Verdict {
	case checker.Violates:
		a.explainViolation(&b, h, r)
	case checker.Conforms:
		a.explainOK(&b, h, r)
	default:
		fmt.Fprintf(&b, "%s: %s.\n", a.ink.yellow(r.Verdict.String()), r.Reason)
	}
	if n := len(r.Assumptions); n > 0 {
		fmt.Fprintf(&b, "\nAssumed, for the header does not say: %s.\n", strings.Join(r.Assumptions, " "))
	}
	fmt.Fprintf(&b, "\nNext: %s\n", advice(j))
	return b.String()
}

// explainViolation tells of the first finding, and names the others.
func (a *app) explainViolation(b *strings.Builder, h *histories.History, r *checker.Result) {
	var bad []checker.Finding
	for _, f := range r.Findings {
		if f.Allowed == "" {
			bad = append(bad, f)
		}
	}
	first := bad[0]
	fmt.Fprintf(b, "%s: %s.\n", a.ink.red(first.Name), sentence(first.Says))
	fmt.Fprintf(b, "That breaks a promise: every client may rely on %s.\n", strings.TrimSuffix(first.Rule, "."))
	fmt.Fprintf(b, "\n%s", timeline(h, first.Evidence))
	if first.Partition == "" {
		fmt.Fprintf(b, "\nThe cluster reports that itself; its clients need not have seen it.\n")
	} else {
		fmt.Fprintf(b, "\nThat is %d of %s, on %s.\n", len(first.Evidence), count(len(h.Ops()), "operation"), first.Partition)
	}
	also := map[string]int{}
	var names []string
	for _, f := range bad[1:] {
		if also[f.Name] == 0 {
			names = append(names, f.Name)
		}
		also[f.Name] += 1 + f.More
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, also[name])
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "Found as well, as its consequences or beside it: %s.\n", strings.Join(names, ", "))
	}
}

// explainOK says why there is nothing to say.
func (a *app) explainOK(b *strings.Builder, h *histories.History, r *checker.Result) {
	e := r.Exercised
	fmt.Fprintf(b, "%s: what the clients saw is legal.\n", a.ink.green("ok"))
	fmt.Fprintf(b, "They made %s: %s with %s, %d of the sends acknowledged, and %s that returned %s, through %s.\n",
		count(e.Operations, "operation"), count(e.Sends, "send"), count(e.Values, "value"), e.Acknowledged,
		count(e.Reads, "read"), count(e.Records, "record"), count(e.Faults, "fault"))
	if e.Scans > 0 {
		fmt.Fprintf(b, "The whole log was read at the end (%s), so nothing stays in the dark.\n", count(e.Scans, "scan"))
	}
	how := "that alone decides it"
	if r.Engine != "rules" {
		how = fmt.Sprintf("the engine %s found an order of the operations that explains every answer", r.Engine)
	}
	fmt.Fprintf(b, "None of %s fires, and %s.\n", count(e.Rules, "rule"), how)
	for _, f := range allowed(r) {
		fmt.Fprintf(b, "Allowed by %s: %s, %s.\n", f.Allowed, f.Name, f.Says)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "Worth knowing: %s.\n", note)
	}
}

// sentence is what a finding says, without a full stop.
func sentence(says string) string { return strings.TrimSuffix(says, ".") }

// advice is what to type next.
func advice(j judgement) string {
	switch {
	case j.result.Verdict == checker.Violates:
		return next(j)
	case j.result.Verdict == checker.Conforms && j.header.Schedule != "" && j.file != "-":
		return "check replay " + shellWord(j.file)
	case j.result.Verdict == checker.Conforms:
		return "record more of the kind; check verify judges many files at once"
	}
	return "check help exit-codes says what unknown means; a final scan of the log settles most of it"
}

// maxFaults is how many faults a timeline shows, the last ones.
const maxFaults = 8

// timeline draws the operations that prove a finding: a lane for each process,
// time going down, and across the lanes the faults of the time between.
//
//	line    time  P1            C1
//	  12      10  + send 7
//	  12      17  ' ok @3
//	  20      31  ~~~ crash broker=1 for=40
//	  31      44                + scan
//	  31      48                ' ok [0:1] end=1
func timeline(h *histories.History, evidence []checker.Evidence) string {
	t := chart{lanes: map[string]int{}}
	indices := map[int]bool{}
	for _, e := range evidence {
		indices[e.Index] = true
	}
	for _, o := range h.Ops() {
		if indices[o.Index] {
			t.operation(o)
		}
	}
	t.between(h.Marks(), indices)
	slices.SortStableFunc(t.events, func(a, b event) int {
		if a.time != b.time {
			return int(min(max(a.time-b.time, -1), 1))
		}
		return a.order - b.order
	})
	return t.draw()
}

// A chart is a timeline in the making.
type chart struct {
	lanes  map[string]int // of processes
	names  []string       // of lanes
	widths []int
	events []event
	from   int64 // the first and the last time of an operation
	to     int64
}

// An event is one row of a timeline.
type event struct {
	time  int64
	order int // among events of one time
	line  int
	lane  int // none for a mark
	text  string
}

const noLane = -1

// textWidth is how much of an event is shown.
const textWidth = 44

func (t *chart) operation(o histories.Op) {
	lane, ok := t.lanes[o.Process]
	if !ok {
		lane = len(t.names)
		t.lanes[o.Process] = lane
		t.names, t.widths = append(t.names, o.Process), append(t.widths, len(o.Process))
	}
	if len(t.events) == 0 {
		t.from = o.Call
	}
	t.to = max(t.to, o.Call, o.Return)
	_, text, _ := strings.Cut(o.String(), " ") // times have a column
	_, text, _ = strings.Cut(text, " ")        // and so have processes
	asked, answered, ok := strings.Cut(text, " => ")
	t.add(event{o.Call, o.Index, o.Line, lane, "+ " + asked})
	if ok {
		t.add(event{o.Return, -1, o.ReturnLine, lane, "' " + answered})
	}
}

func (t *chart) add(e event) {
	if len(e.text) > textWidth {
		e.text = e.text[:textWidth-3] + "..."
	}
	if e.lane != noLane {
		t.widths[e.lane] = max(t.widths[e.lane], len(e.text))
	}
	t.events = append(t.events, e)
}

// between adds the marks that are evidence themselves, and the faults and
// client markers from the first operation to the last.
func (t *chart) between(marks []histories.Mark, evidence map[int]bool) {
	alone := len(t.events) == 0
	for _, m := range marks {
		if evidence[m.Index] && alone {
			t.from, t.to = 0, m.Time
		}
	}
	var shown []histories.Mark
	for _, m := range marks {
		if evidence[m.Index] || m.Time >= t.from && m.Time <= t.to && m.Kind != histories.Note {
			shown = append(shown, m)
		}
	}
	if left := len(shown) - maxFaults; left > 0 {
		t.events = append(t.events, event{time: shown[left-1].Time, lane: noLane, text: fmt.Sprintf("~~~ (%s before these)", count(left, "mark"))})
		shown = shown[left:]
	}
	for _, m := range shown {
		_, text, _ := strings.Cut(m.String(), " ")
		t.events = append(t.events, event{m.Time, m.Index, m.Line, noLane, "~~~ " + strings.TrimPrefix(text, "nemesis ")})
	}
}

func (t *chart) draw() string {
	var b strings.Builder
	row := func(line, time string, cells []string) {
		text := fmt.Sprintf("  %6s  %8s", line, time)
		for i, cell := range cells {
			text += "  " + cell
			if i < len(t.widths) {
				text += strings.Repeat(" ", max(0, t.widths[i]-len(cell)))
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(text, " "))
	}
	row("line", "time", t.names)
	for _, e := range t.events {
		line := ""
		if e.line > 0 {
			line = fmt.Sprint(e.line)
		}
		if e.lane == noLane {
			row(line, fmt.Sprint(e.time), []string{e.text})
			continue
		}
		cells := make([]string, len(t.names))
		cells[e.lane] = e.text
		row(line, fmt.Sprint(e.time), cells)
	}
	return b.String()
}
