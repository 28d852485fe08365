//go:build unix

package hunt

import (
	"context"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/gen"
)

// BenchmarkHunt measures what check run does: all of it on all cores, and phase
// by phase on one (where two are to be had, the second would be woken for each
// search, and sleep again). In turns with that it measures the floor, a bare event queue
// and etcd's raft. All but schedules/s is by seconds of processor time, that of
// the garbage collector included, which a busy machine distorts least.
// Schedules are as check run draws them, or long: 60 operations of clients on
// average.
func BenchmarkHunt(b *testing.B) {
	b.Run("drawn", func(b *testing.B) { benchmarkHunt(b, gen.Options{}) })
	b.Run("long", func(b *testing.B) {
		benchmarkHunt(b, gen.Options{Steps: 67, Settings: []schedule.Setting{{Key: "brokers", Value: "3"}}})
	})
}

func benchmarkHunt(b *testing.B, g gen.Options) {
	m := meter{options: Options{Setup: Setup{terse: true}, Runs: 256, Seed: 5, generator: g}}
	for b.Loop() {
		for _, phase := range []func() error{m.hunt, m.phases, m.floor} {
			if err := phase(); err != nil {
				b.Fatal(err)
			}
		}
	}
	m.report(b.ReportMetric)
}

// A meter adds up what each part did and how long it took.
type meter struct {
	options                              Options // First moves on
	runner                               impl.Runner
	all                                  time.Duration // on the wall
	whole                                time.Duration // the same of the processor
	draw, simulate, judge, queue, raft   time.Duration // of the processor
	hunted, schedules, operations        int
	queueEvents, raftMessages, allocated int
	simulated                            impl.Stats // second runs, too
	events                               int64      // of first runs
}

// hunt does it all on all cores, for long enough that beginning and end do not count.
func (m *meter) hunt() error {
	o := m.options
	o.Runs *= 8
	start := time.Now()
	defer stopwatch(&m.whole)()
	_, err := Run(context.Background(), o)
	m.all += time.Since(start)
	m.hunted += o.Runs
	return err
}

// phases draws, simulates and judges the same schedules one after the other. The
// simulation is the runs, second ones too, with reading the steps and writing the
// histories.
func (m *meter) phases() error {
	defer collectSeldom()()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	schedules, runs := make([]schedule.Schedule, m.options.Runs), make([]*impl.Result, m.options.Runs)
	done := stopwatch(&m.draw)
	for i := range schedules {
		schedules[i] = Draw(m.options, m.options.First+i)
	}
	done()
	before := allocations()
	done = stopwatch(&m.simulate)
	for i, s := range schedules {
		var err error
		if runs[i], err = m.runner.Run(s, impl.Options{}); err != nil {
			return err
		}
		m.simulated.Add(runs[i].Stats)
		m.events += runs[i].Stats.Events
		if (m.options.First+i)%repeatEach == 0 {
			m.runner.Again()
			m.simulated.Add(runs[i].Stats)
		}
	}
	done()
	m.allocated += allocations() - before
	done = stopwatch(&m.judge)
	for i, r := range runs {
		if t, err := m.options.judge(context.Background(), schedules[i], r); err != nil || t.Result.Verdict == checker.Violates {
			return err
		}
	}
	done()
	for _, r := range runs {
		m.operations += len(r.History.Ops())
	}
	m.schedules += len(runs)
	m.options.First += len(runs)
	return nil
}

func (m *meter) floor() (err error) {
	done := stopwatch(&m.queue)
	n, err := queueEvents()
	done()
	if err != nil {
		return err
	}
	m.queueEvents += n
	defer stopwatch(&m.raft)()
	n, err = raftMessages()
	m.raftMessages += n
	return err
}

func (m *meter) report(metric func(n float64, unit string)) {
	phases := m.draw + m.simulate + m.judge
	metric(float64(m.hunted)/m.all.Seconds(), "schedules/s")
	metric(float64(m.hunted)/m.whole.Seconds(), "hunted/cpu-s")
	metric(float64(m.schedules)/phases.Seconds(), "schedules/cpu-s")
	metric(100*m.draw.Seconds()/phases.Seconds(), "%draw")
	metric(100*m.simulate.Seconds()/phases.Seconds(), "%simulate")
	metric(100*m.judge.Seconds()/phases.Seconds(), "%judge")
	metric(float64(m.simulated.Events)/m.simulate.Seconds(), "events/cpu-s")
	metric(float64(m.simulated.Ticks)/1000/m.simulate.Seconds(), "simulated-s/cpu-s")
	metric(float64(m.allocated)/float64(m.simulated.Events), "allocs/event")
	metric(float64(m.events)/float64(m.schedules), "events/schedule")
	metric(float64(m.operations)/float64(m.schedules), "ops/schedule")
	metric(float64(m.queueEvents)/m.queue.Seconds(), "queue-events/cpu-s")
	metric(float64(m.raftMessages)/m.raft.Seconds(), "raft-messages/cpu-s")
}

// stopwatch adds the processor time until the function it returns is called.
func stopwatch(to *time.Duration) func() {
	start := processorTime()
	return func() { *to += processorTime() - start }
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // on no system that has it
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// allocations counts the objects allocated so far.
func allocations() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.Mallocs)
}
