package schedule

import (
	"slices"
	"strconv"
	"strings"
)

// MinimizeOptions bound a minimization.
type MinimizeOptions struct {
	Budget int // at most so many runs; 0 is no bound
}

// Minimize returns a simpler schedule that same still accepts, and the number
// of times it asked. The caller knows that same accepts s.
//
// It deletes steps, large pieces first, then settings and bugs, then softens
// what is left: arguments go or become smaller, lists become shorter, gaps
// between steps close. It ends at a fixed point, where no deletion of one step
// and no single softening is accepted any more, or when the budget is spent.
// Every accepted change makes the schedule shorter or a number in it smaller,
// so there is an end; and equal arguments give equal results as long as same
// is a function.
//
// Schedules given to same have no fingerprint, and must not be modified.
func Minimize(s Schedule, opts MinimizeOptions, same func(Schedule) bool) (Schedule, int) {
	m := minimizer{best: s, budget: opts.Budget, same: same}
	passes := []func(){m.deleteSteps, m.deleteBugs, m.deleteSettings, m.soften, m.closeGaps}
	for pass, idle := 0, 0; idle < len(passes) && !m.spent(); pass++ {
		before := m.accepted
		passes[pass%len(passes)]()
		idle++
		if m.accepted > before {
			idle = 0
		}
	}
	return m.best, m.runs
}

type minimizer struct {
	best     Schedule // the simplest schedule that was accepted
	accepted int      // how many changes were
	runs     int
	budget   int
	same     func(Schedule) bool
}

func (m *minimizer) spent() bool { return m.budget > 0 && m.runs >= m.budget }

// try makes the candidate the best schedule if it is accepted.
func (m *minimizer) try(candidate Schedule) bool {
	if m.spent() {
		return false
	}
	m.runs++
	candidate.Fingerprint = "" // it was another run's
	if !m.same(candidate) {
		return false
	}
	m.best = candidate
	m.accepted++
	return true
}

// deleteSteps is ddmin's deletion of pieces, from the end backwards: what comes
// after the failure is the first to go.
func (m *minimizer) deleteSteps() {
	for size := len(m.best.Steps); size > 0; size /= 2 {
		for end := len(m.best.Steps); end > 0; end -= size {
			c := m.best
			c.Steps = without(c.Steps, max(0, end-size), end)
			m.try(c)
		}
	}
}

func (m *minimizer) deleteBugs() {
	for i := len(m.best.Bugs) - 1; i >= 0; i-- {
		c := m.best
		c.Bugs = without(c.Bugs, i, i+1)
		m.try(c)
	}
}

func (m *minimizer) deleteSettings() {
	for i := len(m.best.Settings) - 1; i >= 0; i-- {
		c := m.best
		c.Settings = without(c.Settings, i, i+1)
		m.try(c)
	}
}

// soften simplifies each step on its own.
func (m *minimizer) soften() {
	for i := range m.best.Steps {
		for j := len(m.best.Steps[i].Words) - 1; j >= 0; j-- {
			m.shorten(m.best.Steps[i].Words[j], func(word string) bool { return m.tryWord(i, j, word) })
		}
		for j := len(m.best.Steps[i].Args) - 1; j >= 0; j-- {
			if m.dropArg(i, j) {
				continue
			}
			value := m.best.Steps[i].Args[j].Value
			m.shorten(value, func(v string) bool { return m.tryArg(i, j, v) })
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				least(n, func(n int64) bool { return m.tryArg(i, j, strconv.FormatInt(n, 10)) })
			}
		}
	}
}

func (m *minimizer) tryWord(step, word int, value string) bool {
	s := m.best.Steps[step]
	s.Words = slices.Clone(s.Words)
	s.Words[word] = value
	return m.tryStep(step, s)
}

func (m *minimizer) tryArg(step, arg int, value string) bool {
	s := m.best.Steps[step]
	s.Args = slices.Clone(s.Args)
	s.Args[arg].Value = value
	return m.tryStep(step, s)
}

func (m *minimizer) dropArg(step, arg int) bool {
	s := m.best.Steps[step]
	s.Args = without(s.Args, arg, arg+1)
	return m.tryStep(step, s)
}

func (m *minimizer) tryStep(i int, s Step) bool {
	c := m.best
	c.Steps = slices.Clone(c.Steps)
	c.Steps[i] = s
	return m.try(c)
}

// shorten deletes elements of a comma separated list while try accepts it.
func (m *minimizer) shorten(list string, try func(string) bool) {
	elements := strings.Split(list, ",")
	for i := len(elements) - 1; i >= 0 && len(elements) > 1; i-- {
		fewer := without(elements, i, i+1)
		if text := strings.Join(fewer, ","); text != "" && try(text) {
			elements = fewer
		}
	}
}

// closeGaps moves each step, and all after it, closer to the step before.
func (m *minimizer) closeGaps() {
	previous := int64(0)
	for i := range m.best.Steps {
		gap := m.best.Steps[i].At - previous
		least(gap, func(smaller int64) bool { return m.shift(i, previous+smaller) })
		previous = m.best.Steps[i].At
	}
}

// shift tries the schedule with its i-th step at that time and the later ones
// as far behind it as before.
func (m *minimizer) shift(i int, at int64) bool {
	c := m.best
	c.Steps = slices.Clone(c.Steps)
	earlier := c.Steps[i].At - at
	for j := i; j < len(c.Steps); j++ {
		c.Steps[j].At -= earlier
	}
	return m.try(c)
}

// least looks for the smallest number below n that try accepts: 0, 1, then by
// bisection, as if everything above an accepted number were accepted too.
func least(n int64, try func(int64) bool) {
	for _, small := range []int64{0, 1} {
		if n <= small || try(small) {
			return
		}
	}
	for low := int64(1); n-low > 1; {
		if middle := low + (n-low)/2; try(middle) {
			n = middle
		} else {
			low = middle
		}
	}
}

// without returns a copy of s that lacks s[from:to].
func without[T any](s []T, from, to int) []T {
	return slices.Concat(s[:from], s[to:])
}
