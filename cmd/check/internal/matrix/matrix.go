// Package matrix measures what each configuration shows under each fault, and
// compares it with what the protocol permits there (§5 of its reference).
package matrix

import (
	"context"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl/gen"
)

// Options says how much to measure.
type Options struct {
	Runs int // schedules a cell, of those in which the fault's conditions hold
	Seed uint64
	Bug  string // seeded bug to switch on; "" for none

	// Progress is told after each cell, if it is not nil.
	Progress func(done, all int)
}

// tries is how many schedules are drawn for each that is asked for, at most:
// the conditions of some rows cannot be had by drawing alone.
const tries = 20

// A Cell is what one configuration showed under one fault.
type Cell struct {
	Fault  *Fault
	Config *Config

	Drawn     int            // schedules
	Runs      int            // of them those of the row, which were judged
	Undecided int            // of those the ones without a verdict
	Seen      map[string]int // runs that showed a letter
	Red       []Red          // in the order in which they were seen, one a letter
}

// A Red is a letter that nothing permits, with the first run that showed it.
type Red struct {
	Letter   string // "!" for a violation that no letter stands for
	Says     string
	Schedule int // its number
	Trial    *hunt.Trial
}

// Violation is the letter of what the judge found and no letter stands for.
const Violation = "!"

// Draw returns schedule i of a cell. It depends on nothing else.
func Draw(f *Fault, c *Config, seed uint64, i int) schedule.Schedule {
	h := fnv.New64a()
	h.Write([]byte(f.Name + "|" + c.Name))
	return gen.Scripted(c.Choices, f.draw, draw.Mix(seed^h.Sum64(), uint64(i))>>1)
}

// Run measures every cell, row by row. It uses all cores, and what it returns
// does not depend on how many there are. If ctx ends, cells are not complete.
func Run(ctx context.Context, o Options) ([]*Cell, error) {
	var cells []*Cell
	for i := range Faults {
		for j := range Configs {
			cells = append(cells, &Cell{Fault: &Faults[i], Config: &Configs[j], Seen: map[string]int{}})
		}
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next int
		done int
		fail error
	)
	take := func() *Cell {
		mu.Lock()
		defer mu.Unlock()
		if next == len(cells) || fail != nil {
			return nil
		}
		next++
		return cells[next-1]
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := take(); c != nil; c = take() {
				err := c.measure(ctx, o)
				mu.Lock()
				done++
				if fail == nil {
					fail = err
				}
				if o.Progress != nil {
					o.Progress(done, len(cells))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return cells, fail
}

// measure draws schedules until there are enough of the row.
func (c *Cell) measure(ctx context.Context, o Options) error {
	if !c.Applies() {
		return nil
	}
	for c.Runs < o.Runs && c.Drawn < o.Runs*tries {
		s := Draw(c.Fault, c.Config, o.Seed, c.Drawn)
		if o.Bug != "" {
			s.Bugs = []string{o.Bug}
		}
		r, err := try(ctx, c.Fault, s)
		if err != nil || ctx.Err() != nil {
			return err
		}
		c.Drawn++
		if r != nil {
			c.add(r)
		}
	}
	return nil
}

func (c *Cell) add(r *run) {
	c.Runs++
	if r.trial.Result.Verdict == checker.Undecided {
		c.Undecided++
	}
	forbidden := false
	for i := range Letters {
		l := &Letters[i]
		says := l.sees(r)
		if says == "" {
			continue
		}
		c.Seen[l.Letter]++
		if !c.permission().allows(l.Letter, r) {
			forbidden = true
			c.redden(l.Letter, says, r)
		}
	}
	if r.failed() && !forbidden {
		c.Seen[Violation]++
		c.redden(Violation, r.trial.Result.Err().Error(), r)
	}
}

func (c *Cell) redden(letter, says string, r *run) {
	if !c.red(letter) {
		c.Red = append(c.Red, Red{letter, says, c.Drawn - 1, r.trial})
	}
}

func (c *Cell) permission() permission { return c.Fault.may[c.Config.like] }

// Applies reports whether the fault can be with that configuration.
func (c *Cell) Applies() bool { return c.permission() != notApplicable }

// Permitted are the letters that the cell's permission names.
func (c *Cell) Permitted() string { return c.permission().listed() }

// A Sight is what a cell has to say about one letter.
type Sight struct {
	Letter    string
	Runs      int  // that showed it; 0 if it is permitted and not yet demonstrated
	Forbidden bool // for one of them at least
}

// Letters are those that were seen, and those that the cell's permission names.
func (c *Cell) Letters() []Sight {
	var out []Sight
	for i := range Letters {
		l := Letters[i].Letter
		if n := c.Seen[l]; n > 0 || strings.Contains(c.Permitted(), l) {
			out = append(out, Sight{l, n, c.red(l)})
		}
	}
	if n := c.Seen[Violation]; n > 0 {
		out = append(out, Sight{Violation, n, true})
	}
	return out
}

func (c *Cell) red(letter string) bool {
	return slices.ContainsFunc(c.Red, func(r Red) bool { return r.Letter == letter })
}

// Missing are the permitted letters that no run has shown: not yet demonstrated.
func (c *Cell) Missing() string {
	var out strings.Builder
	for _, l := range c.Letters() {
		if l.Runs == 0 {
			out.WriteString(l.Letter)
		}
	}
	return out.String()
}
