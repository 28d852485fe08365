package logtest

import (
	"fmt"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"pgregory.net/rapid"
)

// One drawn schedule in longEvery is long: there are bugs that only a log of some
// size has, in its second segment or in what it does on a full page.
const (
	longEvery   = 16
	longRecords = 300
)

// schedules returns the generators of short schedules and of long ones, and which
// of them draws the schedule of that number.
func (s *suite) schedules() (of func(n int) *rapid.Generator[schedule.Schedule]) {
	short, long := drawnSchedules(s.means, 0), drawnSchedules(s.means, s.opts.Records)
	return func(n int) *rapid.Generator[schedule.Schedule] {
		if n%longEvery == longEvery/2 { // so one among ten is, too
			return long
		}
		return short
	}
}

// drawnSchedules is the generator of schedules for logs with those means. Each
// schedule has its own mix of faults, none among them. Long ones go on until that
// many records have been sent.
func drawnSchedules(m means, records int) *rapid.Generator[schedule.Schedule] {
	return rapid.Custom(func(t *rapid.T) schedule.Schedule {
		d := drawing{script{partitions: m.partitions, now: 20}, t, m, nil, []int{1, 1, 1, 2, 3}, 4}
		steps := 0
		if records == 0 {
			steps = draw.Int(t, 2, 30, "steps")
		} else {
			d.batches, d.calm = []int{1, 2, 5, 10, 20}, longEvery
		}
		for _, f := range faults {
			if m.has(f.Ability) && draw.OneIn(t, 2, string(f.Ability)) {
				d.faults = append(d.faults, f)
			}
		}
		d.send("P1", 1)
		for n := steps; n > 0 || int(d.value) < records; n-- {
			d.now += int64(draw.From(t, "gap", 0, 0, 1, 3, 10, 40))
			d.step()
		}
		return schedule.Schedule{Steps: d.steps}
	})
}

type drawing struct {
	script
	t       *rapid.T
	means   means
	faults  []fault
	batches []int // their sizes
	calm    int   // how many steps there are for a fault
}

// step draws what is asked for next.
func (d *drawing) step() {
	if len(d.faults) > 0 && draw.OneIn(d.t, d.calm, "fault") {
		f := draw.From(d.t, "which fault", d.faults...)
		d.fault(f, draw.Int(d.t, 1, d.means.nodes, "node"), int64(draw.From(d.t, "lasts", 5, 30, 100)))
		return
	}
	if d.partition = 0; d.means.partitions > 1 {
		d.partition = draw.Int(d.t, 0, d.means.partitions-1, "partition")
	}
	who := draw.Int(d.t, 1, 3, "who")
	switch kind := draw.Int(d.t, 0, 9, "kind"); {
	case kind < 5:
		d.send(fmt.Sprintf("P%d", who), draw.From(d.t, "batch", d.batches...))
	case kind < 8:
		d.poll(fmt.Sprintf("C%d", who))
	case kind == 8 && d.means.has(EndOffset):
		d.client(fmt.Sprintf("L%d", who), "list", "latest")
	default:
		d.client(fmt.Sprintf("F%d", who), "fetch", "", "from", draw.Int(d.t, 0, int(d.value), "from"))
	}
}
