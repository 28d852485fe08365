// Package nemesis injects faults into a live cluster, drawn from a list and a
// seed: into processes of this machine, into the links between them, or by a
// command of the user's.
//
// It is a Nemesis as package kafka wants one.
package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/isrcheck/isrcheck/impl/kafka/links"
	"github.com/isrcheck/isrcheck/impl/kafka/process"

	"github.com/isrcheck/isrcheck/histories"
)

// A Nemesis injects one fault after the other.
type Nemesis struct {
	Faults   []string      // their names, see [Faults]; a name that is there twice is drawn twice as often
	Interval time.Duration // from the beginning of a fault to that of the next one; default 10 s
	Seed     uint64        // which faults, where, and how long, is drawn from it
	// Whole returns when the cluster has recovered from the last fault, or the
	// context has ended; a fault waits for it. Nil where faults may add up.
	Whole func(ctx context.Context) error
	// Limit is how long the begin or the end of a fault may take; default a minute.
	Limit time.Duration
	// Hurry is closed when somebody waits for Run to return: the end of a fault may
	// then take no more than a few seconds. Nil where nobody ever does.
	Hurry <-chan struct{}
	// Say is told of faults that strike nothing; nil for nobody.
	Say func(text string)

	begun int
	Targets
}

// Targets are what faults are injected into.
type Targets struct {
	Brokers []*process.Process // those that may be paused, killed or stopped, by name
	Network *links.Network     // nil if no link goes through a proxy
	Exec    string             // a command for the shell, "" for none
}

// hurried is how long the end of a fault may take when somebody waits for it.
var hurried = 5 * time.Second // a test has less time

// ErrFault says that a fault cannot be injected, since there is none of the
// name or nothing to inject it into.
var ErrFault = errors.New("nemesis")

// Validate returns what is wrong with the faults that are asked for.
func (n *Nemesis) Validate() error {
	if err := Known(n.Faults); err != nil {
		return err
	}
	for _, name := range n.Faults {
		f, _ := find(name)
		if lacks := f.lacks(&n.Targets); lacks != "" {
			return fmt.Errorf("%w: %s needs %s", ErrFault, name, lacks)
		}
	}
	if n.Interval < 0 {
		return fmt.Errorf("%w: expected an interval above 0, got %v", ErrFault, n.Interval)
	}
	return nil
}

// Known returns an error that names the first of the faults that there is not.
func Known(names []string) error {
	for _, name := range names {
		if _, err := find(name); err != nil {
			return err
		}
	}
	return nil
}

func find(name string) (fault, error) {
	for _, f := range faults {
		if f.name == name {
			return f, nil
		}
	}
	return fault{}, fmt.Errorf("%w: expected one of %s, got %q", ErrFault, strings.Join(Names(), ", "), name)
}

// String says what the faults are drawn from.
func (n *Nemesis) String() string {
	return fmt.Sprintf("faults %s every %v, drawn from seed %d", strings.Join(n.Faults, ","), n.interval(), n.Seed)
}

// Begun is how many faults were injected, once Run has returned.
func (n *Nemesis) Begun() int { return n.begun }

func (n *Nemesis) interval() time.Duration { return cmp.Or(n.Interval, 10*time.Second) }

// Run injects faults until the context ends, and tells mark when each one
// begins and when it has ended, and in a note when one would strike nothing and
// so is none. The first one begins after half an interval, and
// each lasts a quarter to three quarters of one. Whatever goes wrong, the fault
// that lasts is ended before Run returns.
func (n *Nemesis) Run(ctx context.Context, mark func(kind histories.MarkKind, text string)) error {
	if err := n.Validate(); err != nil || len(n.Faults) == 0 {
		return err
	}
	interval := n.interval()
	rng := rand.New(rand.NewPCG(n.Seed, 0))
	pause(ctx, interval/2)
	for ctx.Err() == nil {
		f, _ := find(n.Faults[rng.IntN(len(n.Faults))])
		lasts := interval/4 + time.Duration(rng.Int64N(int64(interval/2)+1))
		if err := n.inject(ctx, f, rng, lasts, mark); err != nil {
			return fmt.Errorf("nemesis: %s: %w", f.name, err)
		}
		pause(ctx, interval-lasts)
		if n.Whole == nil {
			continue
		}
		if err := n.Whole(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("nemesis: the cluster does not recover: %w", err)
		}
	}
	return nil
}

// inject begins a fault and ends it. What could be begun in part is ended too.
func (n *Nemesis) inject(ctx context.Context, f fault, rng *rand.Rand, lasts time.Duration, mark func(kind histories.MarkKind, text string)) error {
	i := f.draw(&n.Targets, rng)
	what := strings.TrimSpace(f.name + " " + i.where)
	if !i.strikes(&n.Targets) {
		n.miss(what, mark)
		pause(ctx, lasts)
		return nil
	}
	mark(histories.Nemesis, what)
	limit := cmp.Or(n.Limit, time.Minute)
	bounded, cancel := context.WithTimeoutCause(ctx, limit, tooLong(limit))
	err := i.begin(bounded)
	cancel()
	if err == nil {
		n.begun++
		pause(ctx, lasts)
	}
	if ctx.Err() != nil {
		err = nil // what did not begin since the work is over is nobody's fault
	}
	heal, cancel := n.healing(ctx, limit)
	defer cancel()
	err = errors.Join(err, i.end(heal))
	if err == nil {
		mark(histories.Nemesis, histories.EndOf+what)
	}
	return err
}

// miss says that a fault would strike nothing.
func (n *Nemesis) miss(what string, mark func(histories.MarkKind, string)) {
	text := what + " would strike nothing, for no connection goes through the link, and is no fault"
	mark(histories.Note, text)
	if n.Say != nil {
		n.Say(text)
	}
}

// healing is the context in which a fault ends: it outlives the work.
func (n *Nemesis) healing(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	heal, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), limit, tooLong(limit))
	heal, hurry := context.WithCancelCause(heal)
	atMost := hurried // read here, for what waits may outlive the fault
	go func() {
		select {
		case <-n.Hurry:
			pause(heal, atMost)
			hurry(tooLong(atMost))
		case <-heal.Done():
		}
	}()
	return heal, func() { hurry(nil); cancel() }
}

func tooLong(limit time.Duration) error { return fmt.Errorf("it takes more than %v", limit) }

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
