package nemesis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"time"

	"github.com/isrcheck/isrcheck/impl/kafka/process"
)

// A Fault is one that can be asked for by name.
type Fault struct {
	Name  string
	Needs string // what has to be known to inject it
	Says  string
}

// Faults are the faults there are.
func Faults() []Fault {
	var all []Fault
	for _, f := range faults {
		all = append(all, Fault{f.name, f.needs.says, f.says})
	}
	return all
}

// Names are the names of all faults.
func Names() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// A fault is a way to break a cluster.
type fault struct {
	name  string
	needs need
	says  string
	draw  func(t *Targets, rng *rand.Rand) injection
}

// An injection is a fault at one place.
type injection struct {
	where string
	begin func(ctx context.Context) error
	end   func(ctx context.Context) error // is called even if begin failed
	links [][2]string                     // the ends of those that it is about; none if it is about something else
}

// strikes reports whether the fault can be one: a link that no connection ever
// went through carries nothing to be lost or late.
func (i injection) strikes(t *Targets) bool {
	return i.links == nil || slices.ContainsFunc(i.links, func(l [2]string) bool { return t.Network.Used(l[0], l[1]) })
}

// A need is what a fault cannot do without.
type need struct {
	says string
	met  func(t *Targets) bool
}

var (
	aProcess = need{"a broker's process (--broker-pid or --broker-cmd)", func(t *Targets) bool { return len(t.Brokers) > 0 }}
	aCommand = need{"the command that starts a broker (--broker-cmd)", func(t *Targets) bool { return len(restartable(t)) > 0 }}
	aLink    = need{"a link through a proxy (--proxy)", func(t *Targets) bool { return t.Network != nil && len(t.Network.Ends()) > 1 }}
	anExec   = need{"a command (--nemesis-exec)", func(t *Targets) bool { return t.Exec != "" }}
)

// lacks is what the fault needs and does not have, "" for nothing.
func (f fault) lacks(t *Targets) string {
	if f.needs.met(t) {
		return ""
	}
	return f.needs.says
}

// faults has a line for every fault there is. Add one here, and nowhere else.
var faults = []fault{
	{"pause", aProcess, "A broker stands still (SIGSTOP), as in a long garbage collection, and goes on (SIGCONT).", drawPause},
	{"kill", aCommand, "A broker is killed (SIGKILL), and started again.", drawEnd((*process.Process).Kill)},
	{"stop", aCommand, "A broker shuts down in good order (SIGTERM), and is started again.", drawEnd((*process.Process).Terminate)},
	{"isolate", aLink, "One end is cut from all others, both ways.", drawIsolate},
	{"cut", aLink, "Two ends are cut from each other, both ways.", drawCut(true)},
	{"cut-one-way", aLink, "What one end sends to another is lost.", drawCut(false)},
	{"delay", aLink, "What one end sends to another comes 0.1 to 1 s late.", drawDelay},
	{"exec", anExec, "The command of --nemesis-exec is called with the argument begin, and later with end.", drawExec},
}

func drawPause(t *Targets, rng *rand.Rand) injection {
	p := t.Brokers[rng.IntN(len(t.Brokers))]
	return injection{p.Name,
		func(context.Context) error { return p.Pause() },
		func(context.Context) error { return p.Resume() }, nil}
}

// restartable are the brokers whose command is known.
func restartable(t *Targets) []*process.Process {
	var ps []*process.Process
	for _, p := range t.Brokers {
		if p.Command != nil {
			ps = append(ps, p)
		}
	}
	return ps
}

// drawEnd ends a broker's process in one of two ways, and starts it again.
func drawEnd(end func(*process.Process, context.Context) error) func(*Targets, *rand.Rand) injection {
	return func(t *Targets, rng *rand.Rand) injection {
		ps := restartable(t)
		p := ps[rng.IntN(len(ps))]
		return injection{p.Name,
			func(ctx context.Context) error { return end(p, ctx) },
			func(ctx context.Context) error {
				if p.Running() { // it does not shut down in time
					if err := p.Kill(ctx); err != nil && !errors.Is(err, process.ErrEnded) {
						return err
					}
				}
				return p.Start()
			}, nil}
	}
}

func (t *Targets) heal(context.Context) error {
	t.Network.Heal()
	return nil
}

func drawIsolate(t *Targets, rng *rand.Rand) injection {
	end := pick(t.Network.Ends(), rng)
	var links [][2]string
	for _, peer := range t.Network.Peers(end) {
		links = append(links, [2]string{end, peer})
	}
	return injection{end, func(context.Context) error {
		for _, peer := range t.Network.Peers(end) {
			if err := errors.Join(t.Network.Cut(end, peer), t.Network.Cut(peer, end)); err != nil {
				return err
			}
		}
		return nil
	}, t.heal, links}
}

func drawCut(both bool) func(*Targets, *rand.Rand) injection {
	return func(t *Targets, rng *rand.Rand) injection {
		from, to := drawLink(t, rng)
		links := [][2]string{{from, to}}
		if both {
			return injection{from + " and " + to, func(context.Context) error {
				return errors.Join(t.Network.Cut(from, to), t.Network.Cut(to, from))
			}, t.heal, links}
		}
		return injection{from + " to " + to, func(context.Context) error { return t.Network.Cut(from, to) }, t.heal, links}
	}
}

func drawDelay(t *Targets, rng *rand.Rand) injection {
	from, to := drawLink(t, rng)
	by := time.Duration(100+rng.IntN(901)) * time.Millisecond
	return injection{fmt.Sprintf("%s to %s by %v", from, to, by), func(context.Context) error {
		return t.Network.Delay(from, to, by)
	}, t.heal, [][2]string{{from, to}}}
}

func drawLink(t *Targets, rng *rand.Rand) (from, to string) {
	from = pick(t.Network.Ends(), rng)
	return from, pick(t.Network.Peers(from), rng)
}

func pick(names []string, rng *rand.Rand) string { return names[rng.IntN(len(names))] }

func drawExec(t *Targets, _ *rand.Rand) injection {
	call := func(word string) func(context.Context) error {
		return func(ctx context.Context) error { return call(ctx, t.Exec+" "+word) }
	}
	return injection{"", call("begin"), call("end"), nil}
}

// call runs a command for the shell, and kills it with all that it began if the
// context ends before. What it leaves running ends with us.
func call(ctx context.Context, command string) error {
	var out bytes.Buffer
	p := &process.Process{Name: command, Command: func() *exec.Cmd {
		cmd := exec.Command("sh", "-c", command)
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd
	}}
	if err := p.Start(); err != nil {
		return err
	}
	select {
	case <-p.Ended():
	case <-ctx.Done():
		err := fmt.Errorf("%s: it did not end, and was killed: %w", command, context.Cause(ctx))
		if killing := p.Kill(context.Background()); killing != nil && !errors.Is(killing, process.ErrEnded) {
			return errors.Join(err, killing)
		}
		<-p.Ended()
		return err
	}
	if err := p.How(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
