// Package links is a network of TCP proxies whose links can be cut and delayed,
// in one direction or both, without rights over the machine.
//
// Every pair of a client and a server that is to be cut by itself has a proxy
// of its own: the client is told the proxy's address for the server's. The
// proxies are those of Toxiproxy, in this process.
package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// A Network is a set of links. It is safe for use by several goroutines.
type Network struct {
	server *toxiproxy.ApiServer

	mu    sync.Mutex
	links []link
}

// A link carries what one end asks and the other one answers.
type link struct {
	from, to string
	listen   string // as it was asked for
	proxy    *toxiproxy.Proxy
	taken    *connections
	bypassed bool // what connects to it does not stay
}

// connections counts those that a proxy took. Its log alone tells of them.
type connections struct{ n atomic.Int64 }

func (c *connections) Run(_ *zerolog.Event, _ zerolog.Level, said string) {
	if said == "Accepted client" {
		c.n.Add(1)
	}
}

// New returns a network without links.
func New() *Network {
	return &Network{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

// Add begins to listen at an address, and joins whoever connects to it with
// upstream. From names those who connect, to names what is upstream. It returns
// the address that it listens at, for a port of 0 the one that was free.
func (n *Network) Add(from, to, listen, upstream string) (addr string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, taken := toxiproxy.NewProxy(n.server, from+">"+to, listen, upstream), &connections{}
	logger := zerolog.New(io.Discard).Hook(taken)
	p.Logger = &logger
	if err := p.Start(); err != nil {
		return "", fmt.Errorf("the proxy from %s to %s: %w", from, to, err)
	}
	n.links = append(n.links, link{from: from, to: to, listen: listen, proxy: p, taken: taken})
	return p.Listen, nil
}

// Ends are the names of all ends, sorted.
func (n *Network) Ends() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var ends []string
	for _, l := range n.links {
		ends = append(ends, l.from, l.to)
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// Peers are the names of all ends that a link joins with the one named, sorted.
func (n *Network) Peers(end string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var peers []string
	for _, l := range n.links {
		switch end {
		case l.from:
			peers = append(peers, l.to)
		case l.to:
			peers = append(peers, l.from)
		}
	}
	slices.Sort(peers)
	return slices.Compact(peers)
}

// Used reports whether a connection ever went through a link that joins two ends,
// whoever of them made it. A cut of one that is not used strikes nothing.
func (n *Network) Used(a, b string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.links, func(l link) bool {
		return (l.from == a && l.to == b || l.from == b && l.to == a) && !l.bypassed && l.taken.n.Load() > 0
	})
}

// Bypass notes that those who connect to an address that a link listens at go on to
// another: the link counts as one that is not used.
func (n *Network) Bypass(listen string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.links {
		n.links[i].bypassed = n.links[i].bypassed || n.links[i].listen == listen
	}
}

// Same reports whether who connects to an address gets to whoever listens at
// another, as far as the names of hosts tell.
func Same(listen, addr string) bool {
	host, port, err := net.SplitHostPort(listen)
	other, at, wrong := net.SplitHostPort(addr)
	if err != nil || wrong != nil || port != at {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() || host == other {
		return true
	}
	ours, err := net.LookupHost(host)
	theirs, wrong := net.LookupHost(other)
	return err == nil && wrong == nil && slices.ContainsFunc(ours, func(ip string) bool { return slices.Contains(theirs, ip) })
}

// Unused are the links that no connection ever went through, each as FROM:TO.
func (n *Network) Unused() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var unused []string
	for _, l := range n.links {
		if l.taken.n.Load() == 0 {
			unused = append(unused, l.from+":"+l.to)
		}
	}
	return unused
}

// Cut loses all that one end sends to another, questions and answers alike,
// until the network is healed. Connections stay open, and new ones can be made,
// as far as the ends can tell; they break when the network is healed, since
// what they carried is not what was written to them.
func (n *Network) Cut(from, to string) error {
	return n.add(from, to, `"type":"timeout","attributes":{"timeout":0}`)
}

// Delay holds back all that one end sends to another, until the network is
// healed. Durations are cut to whole milliseconds.
func (n *Network) Delay(from, to string, d time.Duration) error {
	return n.add(from, to, fmt.Sprintf(`"type":"latency","attributes":{"latency":%d}`, d.Milliseconds()))
}

// add adds a toxic to the stream from one end to the other: upstream where that
// one connects to the other, downstream where it answers it.
func (n *Network) add(from, to, toxic string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := false
	for _, l := range n.links {
		stream := ""
		switch {
		case l.from == from && l.to == to:
			stream = "upstream"
		case l.from == to && l.to == from:
			stream = "downstream"
		default:
			continue
		}
		found = true
		_, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(`{"stream":"` + stream + `",` + toxic + `}`))
		if err != nil && !errors.Is(err, toxiproxy.ErrToxicAlreadyExists) {
			return fmt.Errorf("the link from %s to %s: %w", l.from, l.to, err)
		}
	}
	if !found {
		return fmt.Errorf("no link joins %s and %s", from, to)
	}
	return nil
}

// Heal ends every cut and delay.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		l.proxy.Toxics.ResetToxics(context.Background())
	}
}

// Close breaks all connections, and listens no more.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.links {
		l.proxy.Stop()
	}
	n.links = nil
	return nil
}
