package logtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// Play performs the run's schedule on a fresh log and records what its clients
// see. Steps of one time happen at once, each client doing one thing after the
// other, and the next time comes when they are done or [Options.Pace] is over.
// Clients of a deterministic log act one by one.
func (r *Run) Play(ctx context.Context, log Log) error {
	if log == nil {
		return errors.New("expected a log, found nil")
	}
	p := &player{ctx: ctx, run: r, log: log, partitions: []Log{log}, clients: map[string]*client{}}
	if l, ok := log.(Cluster); ok {
		if err := few("nodes", l.Nodes()); err != nil {
			return err
		}
	}
	if l, ok := log.(Partitioned); ok {
		count := l.Partitions()
		if err := few("partitions", count); err != nil {
			return err
		}
		p.partitions = nil
		for n := range count {
			p.partitions = append(p.partitions, l.Partition(n))
			if p.partitions[n] == nil {
				return fmt.Errorf("expected a log as partition %d, found nil", n)
			}
		}
	}
	r.means = meansOf(log, p.partitions)
	p.done, p.broke, p.healed = make(chan struct{}, len(r.Schedule.Steps)), make(chan *breakdown, 1), make(chan struct{})
	if r.opts.Deterministic {
		close(p.healed) // nothing ends a fault while a client acts
	}
	defer p.dismiss()
	for steps := r.Schedule.Steps; len(steps) > 0; {
		n := 1
		for n < len(steps) && steps[n].At == steps[0].At {
			n++
		}
		if err := p.perform(steps[:n]); err != nil {
			return err
		}
		steps = steps[n:]
	}
	return p.finish()
}

// A player is a run under way.
type player struct {
	ctx        context.Context
	run        *Run
	log        Log
	partitions []Log
	clients    map[string]*client
	underWay   int             // steps handed to clients and not known to be done
	done       chan struct{}   // one for each that is
	broke      chan *breakdown // how the log broke down
	over       atomic.Bool     // nobody looks at it any more
	answered   atomic.Bool     // the log has answered a read
	faulted    bool            // a fault has struck
	healed     chan struct{}   // closed when no fault can hold up a client any more
	struck     []affliction    // by the time of their end
}

// An affliction is a fault under way.
type affliction struct {
	fault fault
	node  int
	until int64
	end   strike
}

// perform does what is asked for at one time.
func (p *player) perform(steps []schedule.Step) error {
	if err := p.heal(steps[0].At); err != nil {
		return err
	}
	for i := range steps {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if steps[i].Actor == schedule.Nemesis {
			if err := p.strike(&steps[i]); err != nil {
				return err
			}
			continue
		}
		p.ask(&steps[i])
	}
	return p.wait(p.run.opts.Pace)
}

// strike begins a fault, if the log knows it and the node is well.
func (p *player) strike(s *schedule.Step) error {
	i := slices.IndexFunc(faults, func(f fault) bool { return string(f.Ability) == s.Verb })
	if i < 0 {
		return nil
	}
	f := faults[i]
	node, given := number(s, f.key)
	busy := slices.ContainsFunc(p.struck, func(a affliction) bool {
		return a.node == int(node) || f.Ability == PowerLoss || a.fault.Ability == PowerLoss
	})
	if !f.strikes(p.log) || !given || node < 1 || int(node) > p.run.means.nodes || busy {
		return nil
	}
	begin, end := f.of(p.log)
	p.mark("%s %s=%d", f.Ability, f.key, node)
	p.faulted = true
	if err := p.within(f.Ability, begin, int(node)); err != nil {
		return fmt.Errorf("%s of node %d: %w", f.Ability, node, err)
	}
	a := affliction{fault: f, node: int(node), until: s.At, end: end}
	lasts, _ := number(s, "for")
	a.until += lasts
	p.struck = append(p.struck, a)
	slices.SortStableFunc(p.struck, func(a, b affliction) int { return int(a.until - b.until) })
	return nil
}

// heal ends the faults whose time is over. A fault that cannot be ended is the
// log's doing.
func (p *player) heal(now int64) error {
	for len(p.struck) > 0 && p.struck[0].until <= now {
		a := p.struck[0]
		p.struck = p.struck[1:]
		p.mark(histories.EndOf+"%s %s=%d", a.fault.Ability, a.fault.key, a.node)
		if err := p.within("end of "+a.fault.Ability, a.end, a.node); err != nil {
			return p.brokeBy(neverWell(fmt.Sprintf("The %s of node %d could not be ended", a.fault.Ability, a.node), err))
		}
	}
	return nil
}

// within begins or ends a fault, for which there is a minute: it has no context.
func (p *player) within(what Ability, act strike, node int) error {
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	defer p.watch(ctx, fmt.Sprintf("%s of node %d", what, node), nil)()
	return act(node)
}

func (p *player) mark(format string, args ...any) {
	p.run.Recorder.Mark(histories.Mark{Kind: histories.Nemesis, Offset: histories.None, Text: fmt.Sprintf(format, args...)})
}

// ask hands a step to its client.
func (p *player) ask(s *schedule.Step) {
	c := p.clients[s.Actor]
	if c == nil {
		c = &client{player: p, name: s.Actor, positions: make([]int64, len(p.partitions)), assigned: make([]bool, len(p.partitions))}
		p.clients[s.Actor] = c
		if !p.run.opts.Deterministic {
			c.steps = make(chan *schedule.Step, len(p.run.Schedule.Steps))
			go c.work()
		}
	}
	if p.run.opts.Deterministic {
		c.do(s)
		return
	}
	p.underWay++
	c.steps <- s
}

// wait waits until all clients are done, or that time has passed. It ends with
// an error if the log broke down.
func (p *player) wait(most time.Duration) error {
	over := time.NewTimer(most)
	defer over.Stop()
	for p.underWay > 0 {
		select {
		case <-p.done:
			p.underWay--
		case b := <-p.broke:
			return p.brokeBy(b)
		case <-over.C:
			return nil
		}
	}
	select {
	case b := <-p.broke:
		return p.brokeBy(b)
	default:
		return nil
	}
}

func (p *player) brokeBy(b *breakdown) error {
	p.run.broke = b
	return b
}

// dismiss lets the clients go when they are done.
func (p *player) dismiss() {
	p.over.Store(true)
	for _, c := range p.clients {
		if c.steps != nil {
			close(c.steps)
		}
	}
}

// finish ends all faults, lets every client come back and reads every partition
// to its end.
func (p *player) finish() error {
	const never = 1<<63 - 1
	if err := p.heal(never); err != nil {
		return err
	}
	if !p.run.opts.Deterministic {
		close(p.healed)
	}
	if err := p.wait(never); err != nil { // each comes back, or is said to hang
		return err
	}
	if l, ok := p.log.(Settler); ok {
		ctx, cancel := context.WithTimeout(p.ctx, p.run.last)
		defer cancel()
		back := p.watch(ctx, "its Settle", nil)
		err := l.Settle(ctx)
		if back(); err != nil {
			return p.unwell("did not settle", err)
		}
	}
	reader := &client{player: p, name: "S1"}
	for n := range p.partitions {
		reader.scan(n)
	}
	if err := p.wait(0); err != nil {
		return err
	}
	if err := p.run.unread; err != nil && (p.faulted || p.answered.Load()) {
		return p.unwell("could not be read to its end", err)
	}
	return p.ctx.Err()
}

// unwell ends the run because of how the log is when all faults have ended: a
// finding, if it was well before.
func (p *player) unwell(how string, err error) error {
	switch {
	case p.ctx.Err() != nil: // the time is over, and it may be because of that
		return p.ctx.Err()
	case p.faulted:
		return p.brokeBy(neverWell("After all faults had ended the log "+how, err))
	case p.answered.Load():
		return p.brokeBy(neverWell("The log "+how+", though no fault had struck it", err))
	}
	return fmt.Errorf("the log %s: %w", how, err)
}

// number returns an argument of a step that is a number.
func number(s *schedule.Step, key string) (n int64, ok bool) {
	for _, a := range s.Args {
		if a.Key == key {
			n, err := strconv.ParseInt(a.Value, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// values returns the batch of a send.
func values(s *schedule.Step) []string {
	if len(s.Words) == 0 {
		return nil
	}
	return strings.Split(s.Words[0], ",")
}
