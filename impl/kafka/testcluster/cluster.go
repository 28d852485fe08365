// Package testcluster runs Apache Kafka on this machine: a controller and
// brokers, each a process of its own, on loopback ports. Every process can be
// paused, killed and restarted, and every link between two of them, and between
// them and their clients, can be cut in either direction.
//
// It needs Java 17 or later, and Maven once; no rights over the machine.
package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/isrcheck/isrcheck/impl/kafka/links"
	"github.com/isrcheck/isrcheck/impl/kafka/process"
)

// A Config says what cluster is wanted.
type Config struct {
	Dir string            // an empty folder for data and logs; it must exist
	Say func(text string) // is told what goes on; nil for nobody
}

// brokers is how many there are: as many as a record has replicas.
const brokers = 3

// A Cluster is a running Kafka.
type Cluster struct {
	// Controller is the process of the only controller. Its end in Network is "controller".
	Controller *process.Process
	// Brokers are the processes of the brokers: broker 1 is the first one. Their
	// ends in Network are "1", "2" and so on.
	Brokers []*process.Process
	// Network has the links of brokers with the controller, with each other, and
	// of clients of both sides, "A" and "B", with brokers.
	Network *links.Network

	dir       string
	java      string
	classpath string
	servers   []server            // the controller, then the brokers
	logs      []*os.File          // what each server says
	bootstrap map[string][]string // of a side
}

// Start starts a cluster, and returns when it answers. Close ends it.
func Start(ctx context.Context, c Config) (_ *Cluster, err error) {
	if c.Say == nil {
		c.Say = func(string) {}
	}
	k := &Cluster{dir: c.Dir, Network: links.New(), bootstrap: map[string][]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close())
		}
	}()
	if k.java, err = java(); err != nil {
		return nil, err
	}
	libraries, err := Libraries(ctx, c.Say)
	if err != nil {
		return nil, err
	}
	k.classpath = filepath.Join(libraries, "*")
	if err := k.configure(); err != nil {
		return nil, err
	}
	c.Say(fmt.Sprintf("starting Apache Kafka %s: a controller and %d brokers", Version, brokers))
	if err := k.format(ctx); err != nil {
		return nil, err
	}
	for _, p := range k.processes() {
		if err := p.Start(); err != nil {
			return nil, err
		}
	}
	return k, k.Ready(ctx)
}

// Bootstrap returns the addresses of all brokers for clients of a side.
func (k *Cluster) Bootstrap(side string) []string { return k.bootstrap[side] }

// Close kills all processes.
func (k *Cluster) Close() error {
	var errs []error
	for _, p := range k.processes() {
		if p.Running() {
			errs = append(errs, p.Kill(context.Background()))
		}
	}
	for _, log := range k.logs {
		errs = append(errs, log.Close())
	}
	return errors.Join(append(errs, k.Network.Close())...)
}

// Heal makes whole what faults have broken: no link is cut, and every process runs.
func (k *Cluster) Heal() error {
	k.Network.Heal()
	var errs []error
	for _, p := range k.processes() {
		if p.Running() {
			errs = append(errs, p.Resume())
		} else {
			errs = append(errs, p.Start())
		}
	}
	return errors.Join(errs...)
}

func (k *Cluster) processes() []*process.Process {
	if k.Controller == nil {
		return nil
	}
	return append([]*process.Process{k.Controller}, k.Brokers...)
}

// configure opens the proxies, and writes the settings of every server.
func (k *Cluster) configure() error {
	all, err := servers(brokers)
	if err != nil {
		return err
	}
	for _, s := range all {
		for i := range s.listeners {
			l := &s.listeners[i]
			l.advertised = address(l.port)
			if l.peer == "" {
				continue
			}
			if l.advertised, err = k.Network.Add(l.peer, s.end, address(0), address(l.port)); err != nil {
				return err
			}
			if slices.Contains(Sides, l.peer) {
				k.bootstrap[l.peer] = append(k.bootstrap[l.peer], l.advertised)
			}
		}
	}
	for id, s := range all {
		s.settings["controller.quorum.voters"] = fmt.Sprintf("%d@%s", controllerID, all[0].listeners[id].advertised)
		text := properties(common, s.settings, listenerProperties(s.listeners),
			map[string]string{"log.dirs": k.path(s, "data"), "listener.security.protocol.map": protocolMap(brokers)})
		if err := os.WriteFile(k.path(s, "properties"), []byte(text), 0o666); err != nil {
			return err
		}
		log, err := os.OpenFile(k.path(s, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		k.servers, k.logs = append(k.servers, s), append(k.logs, log)
		p := &process.Process{Name: s.name, Command: func() *exec.Cmd { return k.kafka(s, log) }}
		if id == 0 {
			k.Controller = p
		} else {
			k.Brokers = append(k.Brokers, p)
		}
	}
	return nil
}

// path is where a server keeps what the ending says.
func (k *Cluster) path(s server, ending string) string {
	return filepath.Join(k.dir, s.name+"."+ending)
}
