package kafka

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// A wire is one client's connections to brokers by their addresses. It sends a
// request to the address it is told, once: it never looks for another broker
// and never sends again what may have arrived.
//
// The library is used for what is below: framing, versions, TLS and SASL. Each
// address has a client of its own that knows nothing but that address. Such a
// client repeats a request by itself only if not one byte of it was written.
type wire struct {
	opts    []kgo.Opt
	timeout time.Duration

	mu      sync.Mutex
	clients map[string]*kgo.Client
}

// newWire returns a wire whose requests take the configured time at most.
func newWire(c *Config) *wire {
	acks := map[string]kgo.Acks{"all": kgo.AllISRAcks(), "1": kgo.LeaderAck(), "0": kgo.NoAck()}[c.Acks]
	return &wire{timeout: c.Timeout, clients: map[string]*kgo.Client{}, opts: c.options("isrcheck",
		kgo.RequestRetries(0), kgo.DialTimeout(c.Timeout), kgo.RequestTimeoutOverhead(c.Timeout), kgo.ConnIdleTimeout(15*time.Minute), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(acks))}
}

// options are those of every client of the recorder, with its own behind them.
func (c *Config) options(id string, own ...kgo.Opt) []kgo.Opt {
	opts := []kgo.Opt{kgo.ClientID(id), kgo.DisableClientMetrics()}
	if c.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(c.TLS))
	}
	if c.SASL != nil {
		opts = append(opts, kgo.SASL(c.SASL))
	}
	return append(opts, own...)
}

// client returns the client of an address.
func (w *wire) client(addr string) (*kgo.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cl := w.clients[addr]; cl != nil {
		return cl, nil
	}
	cl, err := kgo.NewClient(append(w.opts, kgo.SeedBrokers(addr))...)
	if err == nil {
		w.clients[addr] = cl
	}
	return cl, err
}

// request sends a request to an address and waits for the answer, also past the
// end of the context: what was asked may have an effect, and so its answer is
// worth a wait.
func request[R kmsg.Response](ctx context.Context, w *wire, addr string, req kmsg.Request) (R, error) {
	var none R
	cl, err := w.client(addr)
	if err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), w.timeout, errTimeout)
	defer cancel()
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		if ctx.Err() != nil && context.Cause(ctx) == errTimeout {
			err = errors.Join(errTimeout, err)
		}
		return none, err
	}
	return resp.(R), nil
}

// errTimeout is why a request ended that took too long.
var errTimeout = errors.New("no answer in time")

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cl := range w.clients {
		cl.Close()
	}
}

// Codes of what went wrong on this side of the wire, for which Kafka has no
// name that a broker would not use as well.
const (
	notConnected   = "NOT_CONNECTED"   // there was no connection, so nothing was sent
	connectionLost = "CONNECTION_LOST" // it ended before the answer
	clientTimeout  = "CLIENT_TIMEOUT"  // the client gave up waiting
)

// unanswered is what a client knows of a request that ended with an error and
// not with an answer. Only one that could not connect is sure not to have been
// heard.
func unanswered(err error) (histories.Outcome, string) {
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return histories.Fail, notConnected
	case errors.Is(err, errTimeout):
		return histories.Info, clientTimeout
	}
	return histories.Info, connectionLost
}
