package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// maxFaults is how many faults a timeline shows at most, the last ones, beside
// those that prove the finding.
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
func timeline(h *histories.History, evidence []checker.Evidence, faults int) string {
	t := chart{lanes: map[string]int{}}
	indices, texts := map[int]bool{}, map[int]string{}
	for _, e := range evidence {
		indices[e.Index], texts[e.Index] = true, e.Text
	}
	for _, o := range h.Ops() {
		if indices[o.Index] {
			t.operation(o, texts[o.Index])
		}
	}
	t.between(h.Marks(), indices, faults)
	slices.SortStableFunc(t.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.order, b.order))
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

const (
	noLane = -1
	first  = -1 // an answer comes before what is asked at the same time
)

// How much is shown of an event in a lane, and of a mark across all lanes.
const (
	textWidth = 52
	markWidth = 120
)

// operation adds what was asked and what was answered; text has the answer if
// it is too long to be shown as it is.
func (t *chart) operation(o histories.Op, text string) {
	lane, ok := t.lanes[o.Process]
	if !ok {
		lane = len(t.names)
		t.lanes[o.Process] = lane
		name := clip(label(o.Process), textWidth)
		t.names, t.widths = append(t.names, name), append(t.widths, utf8.RuneCountInString(name))
	}
	if len(t.events) == 0 {
		t.from = o.Call
	}
	t.to = max(t.to, o.Call, o.Return)
	asked, answer := words(o)
	if _, shorter, ok := strings.Cut(text, asked+" => "); ok {
		answer = shorter
	}
	t.add(event{o.Call, o.Index, o.Line, lane, "+ " + asked})
	if o.Outcome == histories.Open {
		return
	}
	order := first
	if o.Return == o.Call {
		order = o.Index
	}
	t.add(event{o.Return, order, o.ReturnLine, lane, "' " + answer})
}

// words are what was asked and what was answered, as the notation has them.
func words(o histories.Op) (asked, answer string) {
	o.Process = "P" // which may hold blanks
	text := func(o histories.Op) string {
		_, after, _ := strings.Cut(o.String(), " P ")
		return after
	}
	whole := text(o)
	o.Outcome = histories.Open
	asked = text(o)
	return asked, strings.TrimPrefix(whole, asked+" => ")
}

func (t *chart) add(e event) {
	e.text = clip(e.text, textWidth)
	if e.lane != noLane {
		t.widths[e.lane] = max(t.widths[e.lane], utf8.RuneCountInString(e.text))
	}
	t.events = append(t.events, e)
}

// between adds the marks that are evidence themselves, and the faults and
// client markers from the first operation to the last, of which so many are shown.
func (t *chart) between(marks []histories.Mark, evidence map[int]bool, faults int) {
	alone := len(t.events) == 0
	for _, m := range marks {
		if evidence[m.Index] && alone {
			t.from, t.to = 0, m.Time
		}
	}
	var shown, beside []histories.Mark
	for _, m := range marks {
		switch {
		case evidence[m.Index]:
			shown = append(shown, m)
		case m.Time >= t.from && m.Time <= t.to && m.Kind != histories.Note:
			beside = append(beside, m)
		}
	}
	if left := len(beside) - faults; left > 0 {
		text := count(left, "mark")
		if faults > 0 {
			text += " before these"
		}
		t.events = append(t.events, event{time: beside[left-1].Time, lane: noLane, text: "~~~ (" + text + ")"})
		beside = beside[left:]
	}
	for _, m := range append(shown, beside...) {
		_, text, _ := strings.Cut(m.String(), " ")
		t.events = append(t.events, event{m.Time, m.Index, m.Line, noLane, "~~~ " + clip(strings.TrimPrefix(text, "nemesis "), markWidth)})
	}
}

func (t *chart) draw() string {
	var b strings.Builder
	row := func(line, time string, cells []string) {
		text := fmt.Sprintf("  %6s  %8s", line, time)
		for i, cell := range cells {
			text += "  " + cell
			if i < len(t.widths) {
				text += strings.Repeat(" ", max(0, t.widths[i]-utf8.RuneCountInString(cell)))
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
