package matrix

import (
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// A passage is a run as its steps went by: what each found when it was
// performed. It tells whether the run is one of a row.
type passage struct {
	moments []moment
}

// A moment is a step that was performed and did something.
type moment struct {
	step   *schedule.Step
	broker int       // the one struck, 0 if the step names none
	found  impl.View // the state before it
}

// watch returns the options of a run whose passage it writes down.
func (p *passage) watch(s *schedule.Schedule) impl.Options {
	return impl.Options{Watch: func(step int, found impl.View, applied bool) {
		if applied {
			p.moments = append(p.moments, moment{&s.Steps[step], struck(&s.Steps[step]), found})
		}
	}}
}

// struck is the broker that a fault is about, 0 if there is none.
func struck(s *schedule.Step) int {
	if s.Actor != schedule.Nemesis {
		return 0
	}
	for _, a := range s.Args {
		if slices.Contains([]string{"broker", "node", "a"}, a.Key) || s.Verb == "drop" && a.Key == "to" ||
			s.Verb == "delay" && (a.Key == "to" || a.Key == "from") {
			n, _ := strconv.Atoi(a.Value)
			return n
		}
	}
	return 0
}

// losing are the faults after which a broker may lack records.
var losing = []string{"power-loss", "wipe"}

// faults are the moments of the faults with those names, of all without any.
func (p *passage) faults(verbs ...string) []moment {
	var out []moment
	for _, m := range p.moments {
		if m.step.Actor == schedule.Nemesis && (len(verbs) == 0 || slices.Contains(verbs, m.step.Verb)) {
			out = append(out, m)
		}
	}
	return out
}

// all reports whether some fault struck and the condition held for each.
func all(faults []moment, holds func(m *moment) bool) bool {
	for i := range faults {
		if !holds(&faults[i]) {
			return false
		}
	}
	return len(faults) > 0
}

// partition is the state of the one there is.
func (m *moment) partition() *impl.PartitionView { return &m.found.Partitions[0] }

func (m *moment) leads() bool { return m.partition().Leader == m.broker }

func (m *moment) follows() bool {
	return !m.leads() && slices.Contains(m.partition().Assignment, m.broker)
}

func (m *moment) inISR() bool { return slices.Contains(m.partition().ISR, m.broker) }

// whole reports whether all replicas are in the ISR, and all brokers run.
func (m *moment) whole() bool {
	for _, b := range m.found.Brokers[1:] {
		if b.State != "running" || b.Paused {
			return false
		}
	}
	return len(m.partition().ISR) == len(m.partition().Assignment)
}

// calm: nothing struck.
func (p *passage) calm() bool { return len(p.faults()) == 0 }

// any: something struck.
func (p *passage) any() bool { return len(p.faults()) > 0 }

// main are the faults a row is about, without those that made the ISR small
// before.
func (p *passage) main() []moment {
	return p.faults("crash", "power-loss", "wipe", "isolate", "partition", "pause")
}

// leader: what was struck led, whoever else was in the ISR.
func (p *passage) leader() bool { return all(p.main(), (*moment).leads) }

// follower: all that was struck followed.
func (p *passage) follower() bool { return all(p.faults(), (*moment).follows) }

// leaderAmongOthers: the leader lost what it had, was not alone in the ISR, and
// had not asked to be: such a proposal may be accepted when the leader is gone.
func (p *passage) leaderAmongOthers() bool {
	return all(p.main(), func(m *moment) bool {
		return m.leads() && len(m.partition().ISR) >= 2 && !m.partition().Replicas[m.broker].Proposing
	})
}

// sole: the leader lost what it had, and was alone in the ISR.
func (p *passage) sole() bool {
	return all(p.main(), func(m *moment) bool { return m.leads() && m.inISR() && len(m.partition().ISR) == 1 })
}

// followerAmongAll: each follower that lost records did so in a full ISR and when
// everybody was well.
func (p *passage) followerAmongAll() bool {
	return all(p.main(), func(m *moment) bool { return m.follows() && m.whole() })
}

// neverCaughtUp: the first that was struck lost records that all in the ISR had,
// and lacked some of what it had had when each of the others crashed.
func (p *passage) neverCaughtUp() bool {
	strikes := p.main()
	if len(strikes) < 3 || !slices.Contains(losing, strikes[0].step.Verb) || !strikes[0].inISR() {
		return false
	}
	first := strikes[0].broker
	had := strikes[0].partition().Replicas[first].LEO
	return all(strikes[1:], func(m *moment) bool {
		return m.broker != first && m.partition().Replicas[first].LEO < had
	})
}

// together: all brokers went down at one instant.
func (p *passage) together() bool { return p.atOnce(3) }

// twoOfThree: two of the three replicas went down at one instant.
func (p *passage) twoOfThree() bool {
	return p.atOnce(2) && len(p.main()[0].partition().Assignment) == 3
}

func (p *passage) atOnce(n int) bool {
	strikes := p.main()
	return len(strikes) == n && all(strikes, func(m *moment) bool { return m.found.Now == strikes[0].found.Now })
}

// twoLeaders: a client asked while two brokers led, each in its own epoch.
func (p *passage) twoLeaders() bool {
	return slices.ContainsFunc(p.moments, func(m moment) bool {
		leaders := 0
		for _, r := range m.partition().Replicas {
			if r.Role == "leader" {
				leaders++
			}
		}
		return m.step.Actor != schedule.Nemesis && leaders > 1
	})
}

// followerStaysInISR: a follower stood still, and the ISR was full at every step.
func (p *passage) followerStaysInISR() bool {
	return p.follower() && all(p.moments, func(m *moment) bool {
		return len(m.partition().ISR) == len(m.partition().Assignment)
	})
}
