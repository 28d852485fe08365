package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/isrcheck/isrcheck/impl/kafka"
	"github.com/isrcheck/isrcheck/impl/kafka/links"
	"github.com/isrcheck/isrcheck/impl/kafka/nemesis"
	"github.com/isrcheck/isrcheck/impl/kafka/process"
	"github.com/isrcheck/isrcheck/impl/kafka/testcluster"
)

// liveFaults are the flags that say what is to go wrong with a live cluster.
type liveFaults struct {
	flags    *pflag.FlagSet
	nemesis  nemesis.Nemesis
	commands []string // ID=CMD
	pids     []string // ID=PID or ID=FILE
	proxies  []string // FROM:TO=LISTEN,UPSTREAM
	local    bool

	closers []func() error // the last one first
}

func (f *liveFaults) add(flags *pflag.FlagSet) {
	f.flags = flags
	n := &f.nemesis
	flags.StringSliceVar(&n.Faults, "nemesis", nil, "faults to inject, separated by commas, '' for none; see 'check help live-faults' (default none, with --local all, exec among them if there is --nemesis-exec)")
	flags.DurationVar(&n.Interval, "nemesis-interval", 10*time.Second, "from the beginning of one fault to that of the next")
	flags.Uint64Var(&n.Seed, "nemesis-seed", 0, "what the faults are drawn from (default drawn, and recorded)")
	flags.StringArrayVar(&f.commands, "broker-cmd", nil, "ID=CMD: the command for the shell that runs broker ID; it is run now, unless --broker-pid tells that the broker runs")
	flags.StringArrayVar(&f.pids, "broker-pid", nil, "ID=PID or ID=FILE: the process of broker ID, or the file that has its number")
	flags.StringArrayVar(&f.proxies, "proxy", nil, "FROM:TO=LISTEN,UPSTREAM: a link that can be cut; who connects to HOST:PORT LISTEN is joined with UPSTREAM")
	flags.StringVar(&n.Exec, "nemesis-exec", "", "the command for the shell that is the fault exec, called with begin and with end")
	flags.BoolVar(&f.local, "local", false, "start Apache Kafka "+testcluster.Version+" on this machine for the recording: a controller and three brokers, with proxies on all links")
}

// validate returns what is wrong with the flags, before anything is started.
func (f *liveFaults) validate() error {
	for i, name := range f.nemesis.Faults {
		f.nemesis.Faults[i] = strings.TrimSpace(name)
	}
	_, brokers := f.brokers()
	links, _, faulty := f.links()
	if err := errors.Join(nemesis.Known(f.nemesis.Faults), brokers, faulty); err != nil {
		return err
	}
	if f.local && len(f.commands)+len(f.pids)+len(links) > 0 {
		return errors.New("--local has brokers and links of its own: leave out --broker-cmd, --broker-pid and --proxy")
	}
	if f.nemesis.Exec != "" && !slices.Contains(f.nemesis.Faults, "exec") && !(f.local && !f.flags.Changed("nemesis")) {
		return errors.New("--nemesis-exec is the command of the fault exec, which --nemesis does not name: expected --nemesis exec, or more faults with it")
	}
	if f.nemesis.Interval <= 0 {
		return fmt.Errorf("--nemesis-interval: expected a time above 0, found %v", f.nemesis.Interval)
	}
	if f.local && !f.flags.Changed("nemesis") {
		f.nemesis.Faults = slices.DeleteFunc(nemesis.Names(), func(name string) bool { return name == "exec" && f.nemesis.Exec == "" })
	}
	if !f.flags.Changed("nemesis-seed") {
		f.nemesis.Seed = uint64(rand.Uint32())
	}
	return nil
}

// open starts what has to run, tells the recording of it, and returns what ends
// it again. That has to be called whether or not open fails.
func (f *liveFaults) open(ctx context.Context, a *app, c *kafka.Config) (end func() error, err error) {
	end = func() error {
		var errs []error
		for _, closing := range slices.Backward(f.closers) {
			errs = append(errs, closing())
		}
		return errors.Join(errs...)
	}
	f.nemesis.Limit, f.nemesis.Hurry = c.Settle, ctx.Done()
	f.nemesis.Say = func(text string) { fmt.Fprintf(a.err, "check: %s\n", text) }
	if f.local {
		err = f.openLocal(ctx, a, c)
	} else {
		err = f.openOwn(ctx, a, c)
	}
	if err == nil {
		err = f.nemesis.Validate()
	}
	if len(f.nemesis.Faults) > 0 {
		c.Nemesis = &f.nemesis
	}
	return end, err
}

// openLocal starts a cluster in a folder that is removed with it.
func (f *liveFaults) openLocal(ctx context.Context, a *app, c *kafka.Config) error {
	dir, remove, err := testcluster.Folder()
	if err != nil {
		return err
	}
	f.closers = append(f.closers, remove)
	end := newProgress(a.err).during("starting Apache Kafka " + testcluster.Version)
	k, err := testcluster.Start(ctx, testcluster.Config{Dir: dir})
	end()
	if err != nil {
		return err
	}
	f.closers = append(f.closers, k.Close)
	f.nemesis.Brokers, f.nemesis.Network, f.nemesis.Whole = k.Brokers, k.Network, k.InSync
	c.Sides = [][]string{k.Bootstrap("A")}
	return nil
}

// openOwn starts the user's brokers, and the proxies.
func (f *liveFaults) openOwn(ctx context.Context, a *app, c *kafka.Config) (err error) {
	network, ends, err := f.links()
	if err != nil {
		return err
	}
	if len(network) > 0 {
		f.nemesis.Network = links.New()
		f.closers = append(f.closers, f.nemesis.Network.Close)
	}
	c.Learned = f.learned(network, c.Sides)
	for i, l := range network {
		if _, err := f.nemesis.Network.Add(ends[i][0], ends[i][1], l[0], l[1]); err != nil {
			return err
		}
	}
	if f.nemesis.Brokers, err = f.brokers(); err != nil {
		return err
	}
	var started []*process.Process
	for _, p := range f.nemesis.Brokers {
		if p.Lasting {
			if err := p.Alive(); err != nil {
				return fmt.Errorf("--broker-pid: %w", err)
			}
			continue
		}
		if err := p.Start(); err != nil {
			return err
		}
		f.closers = append(f.closers, func() error { return terminate(p) })
		started = append(started, p)
	}
	if len(started) == 0 {
		return nil
	}
	defer newProgress(a.err).during("waiting for the brokers")()
	return await(ctx, c, started)
}

// await returns when the brokers that were started answer, or one has ended.
func await(ctx context.Context, c *kafka.Config, started []*process.Process) error {
	ctx, stop := context.WithTimeoutCause(ctx, c.Settle, fmt.Errorf("the brokers that --broker-cmd starts do not answer within %v", c.Settle))
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range started {
		go func() {
			select {
			case <-p.Ended():
				how := "exit status 0; it has to run in the foreground, as long as the broker does"
				if err := p.How(); err != nil {
					how = err.Error()
				}
				cancel(fmt.Errorf("the command of --broker-cmd for %s has ended (%s)", p.Name, how))
			case <-ctx.Done():
			}
		}()
	}
	return kafka.Await(ctx, *c, len(started))
}

// bypassed warns of each --proxy that no connection went through. It is asked
// before the network is closed.
func (f *liveFaults) bypassed() (warnings []string) {
	if f.local || f.nemesis.Network == nil {
		return nil
	}
	for _, link := range f.nemesis.Network.Unused() {
		advice := "give its address as --bootstrap and in the broker's advertised.listeners"
		if from, to, _ := strings.Cut(link, ":"); f.isBroker(from) {
			advice = fmt.Sprintf("let %s advertise its address (advertised.listeners) for the listener that is the inter.broker.listener.name of %s", to, from)
		}
		warnings = append(warnings, fmt.Sprintf("no connection went through --proxy %s, and so no fault strikes it: %s", link, advice))
	}
	return warnings
}

// isBroker reports whether an end of a link is a broker as far as its name tells: a
// number, or where another link leads.
func (f *liveFaults) isBroker(end string) bool {
	_, ends, _ := f.links()
	_, err := strconv.ParseUint(end, 10, 31)
	return err == nil || slices.ContainsFunc(ends, func(e [2]string) bool { return e[1] == end })
}

// learned says of each --proxy that clients are given as --bootstrap what its broker
// sends them to instead, so that no fault strikes it.
func (f *liveFaults) learned(network [][2]string, sides [][]string) func(brokers []string) []string {
	return func(brokers []string) (remarks []string) {
		for i, l := range network {
			listens := func(addr string) bool { return links.Same(l[0], addr) }
			if !slices.ContainsFunc(slices.Concat(sides...), listens) || slices.ContainsFunc(brokers, listens) {
				continue
			}
			f.nemesis.Network.Bypass(l[0])
			remark := fmt.Sprintf("clients pass by --proxy %s: the cluster says that its brokers are at %s, not at %s, and so no fault strikes the link: give its address in the broker's advertised.listeners",
				strings.SplitN(f.proxies[i], "=", 2)[0], strings.Join(brokers, ", "), l[0])
			remarks = append(remarks, remark)
			f.nemesis.Say(remark)
		}
		return remarks
	}
}

// jsonNemesis is the JSON of what faults were drawn from. Names are part of the
// command line's contract.
type jsonNemesis struct {
	Faults   []string `json:"faults"`                // that could be drawn
	Interval int64    `json:"interval_milliseconds"` // from the beginning of one to that of the next
	Seed     uint64   `json:"seed"`
}

func (f *liveFaults) json() *jsonNemesis {
	if len(f.nemesis.Faults) == 0 {
		return nil
	}
	return &jsonNemesis{f.nemesis.Faults, f.nemesis.Interval.Milliseconds(), f.nemesis.Seed}
}

// terminate ends a broker that was started for the recording.
func terminate(p *process.Process) error {
	if !p.Running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if p.Terminate(ctx) == nil {
		return nil
	}
	return p.Kill(context.Background())
}

// brokers are the processes that --broker-cmd and --broker-pid name, by their id.
func (f *liveFaults) brokers() ([]*process.Process, error) {
	all := map[string]*process.Process{}
	broker := func(id string) *process.Process {
		if all[id] == nil {
			all[id] = &process.Process{Name: "broker-" + id}
		}
		return all[id]
	}
	for _, flag := range f.commands {
		id, command, ok := strings.Cut(flag, "=")
		if !ok || id == "" || command == "" {
			return nil, fmt.Errorf("--broker-cmd: expected ID=CMD, found %q", flag)
		}
		if broker(id).Command != nil {
			return nil, fmt.Errorf("--broker-cmd: expected one command for broker %s, found another: %q", id, flag)
		}
		broker(id).Command = func() *exec.Cmd { return exec.Command("sh", "-c", command) }
	}
	for _, flag := range f.pids {
		id, where, ok := strings.Cut(flag, "=")
		if !ok || id == "" || where == "" {
			return nil, fmt.Errorf("--broker-pid: expected ID=PID or ID=FILE, found %q", flag)
		}
		p := broker(id)
		if p.Lasting {
			return nil, fmt.Errorf("--broker-pid: expected one process for broker %s, found another: %q", id, flag)
		}
		p.Lasting = true
		if pid, err := strconv.Atoi(where); err != nil {
			p.PID = process.FromFile(where)
		} else if pid <= 1 {
			return nil, fmt.Errorf("--broker-pid: expected the number of a process, found %q", flag)
		} else {
			p.Adopt(pid)
		}
	}
	var sorted []*process.Process
	for _, p := range all {
		sorted = append(sorted, p)
	}
	slices.SortFunc(sorted, func(a, b *process.Process) int { return cmp.Compare(a.Name, b.Name) })
	return sorted, nil
}

// links are the addresses and the ends of what --proxy names.
func (f *liveFaults) links() (addresses, ends [][2]string, err error) {
	for _, flag := range f.proxies {
		left, right, _ := strings.Cut(flag, "=")
		from, to, named := strings.Cut(left, ":")
		listen, upstream, placed := strings.Cut(right, ",")
		if !named || !placed || from == "" || to == "" || from == to || listen == "" || upstream == "" {
			return nil, nil, fmt.Errorf("--proxy: expected FROM:TO=HOST:PORT,HOST:PORT, found %q", flag)
		}
		addresses = append(addresses, [2]string{listen, upstream})
		ends = append(ends, [2]string{from, to})
	}
	return addresses, ends, nil
}
