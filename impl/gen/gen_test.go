package gen

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// TestSchedule draws schedules: each can be run, its faults carry their own
// ends, every fault is drawn, and sometimes one begins before another is over.
func TestSchedule(t *testing.T) {
	drawn := make([]int, len(impl.Faults))
	overlapping := 0
	for i := range 2000 {
		s := Schedule(Options{}).Example(i)
		if err := impl.Check(s); err != nil {
			t.Fatalf("%v\n%s", err, s)
		}
		over := int64(-1)
		for _, step := range s.Steps {
			if step.Actor != schedule.Nemesis {
				continue
			}
			f := slices.IndexFunc(impl.Faults, func(f impl.Fault) bool { return f.Verb == step.Verb })
			drawn[f]++
			end, ok := ends(&step)
			if !ok && counted(&impl.Faults[f]) || end > s.Steps[len(s.Steps)-1].At+1000 {
				t.Errorf("a fault goes on too long: %v", step)
			}
			if step.At < over && end > step.At {
				overlapping++
			}
			over = max(over, end)
		}
	}
	for f, n := range drawn {
		if n == 0 {
			t.Errorf("the fault %s was never drawn", impl.Faults[f].Verb)
		}
	}
	if overlapping == 0 {
		t.Error("no two faults overlap")
	}
}

// counted reports whether a fault waits long for what it strikes if nobody says how long.
func counted(f *impl.Fault) bool {
	return slices.ContainsFunc(f.Args, func(a impl.ArgSpec) bool { return a.Key == "count" })
}

// ends returns when a step's fault is over.
func ends(s *schedule.Step) (int64, bool) {
	for _, a := range s.Args {
		if n, err := strconv.ParseInt(a.Value, 10, 64); a.Key == "for" && err == nil {
			return s.At + n, true
		}
	}
	return s.At, false
}

// TestExample draws the same schedules with rapid and without.
func TestExample(t *testing.T) {
	for i, opt := range []Options{{}, {Steps: 60}, {Bugs: []string{"ack-before-commit"}, Settings: []schedule.Setting{{Key: "brokers", Value: "5"}}}} {
		for n := range 100 {
			seed := draw.Mix(uint64(i), uint64(n)) >> 1
			if got, want := Example(opt, seed), Schedule(opt).Example(int(seed)); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d is %s\nand with rapid %s", seed, got, want)
			}
		}
	}
}
