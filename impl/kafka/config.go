// Package kafka records what clients of a live cluster see. The cluster is one
// that speaks the Kafka protocol; the clients are made here, so that one
// operation of the history is one attempt on the wire: nothing retries, reroutes
// or swallows an answer behind its back.
//
// [Record] makes a topic, lets producers and consumers work on it while a
// [Nemesis] injects faults, waits until the cluster answers again, and reads
// every partition from its log start to its end.
package kafka

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/isrcheck/isrcheck/histories"
)

// A Nemesis injects faults while clients work. What a [fmt.Stringer] says of
// itself is in the history's header.
type Nemesis interface {
	// Run injects faults until the context ends, and heals everything before it
	// returns. It calls mark at the begin and the end of every fault, with what
	// a person should read in the history: as [histories.Nemesis], or as
	// [histories.Note] what is no fault.
	Run(ctx context.Context, mark func(kind histories.MarkKind, text string)) error
}

// A Config says which cluster is recorded, and what its clients do. Zero values
// stand for the defaults that the fields' comments name.
type Config struct {
	// Sides are the sets of addresses, as HOST:PORT, that clients learn of the
	// cluster from. With one set they are what is known as bootstrap servers.
	// With several, client i belongs to the side i modulo their number, and asks
	// the addresses of its side alone who leads a partition: it follows what its
	// side believes, however wrong.
	Sides [][]string

	TLS  *tls.Config    // nil for plain connections
	SASL sasl.Mechanism // nil for none

	Topic             string            // default: a new name for every recording
	Partitions        int32             // of the new topic, default 1
	ReplicationFactor int16             // of the new topic, default what the cluster has as its default
	TopicConfig       map[string]string // of the new topic, such as min.insync.replicas; of one that exists, what the cluster may not tell
	Existing          bool              // the topic exists, and is empty; it is not made

	Producers  int    // default 4
	Consumers  int    // default 2; each reads every partition, unless they are a group
	Group      bool   // the consumers are one group, whose members are assigned partitions
	Batch      int    // records of one send, default 1
	InFlight   int    // sends that a producer has under way at a time, default 1
	Rate       int    // sends a second of all producers together; 0 is as fast as they can
	Acks       string // "all" (default), "1" or "0"
	Idempotent bool   // a send is the client library's, with its idempotent retries, and no single attempt
	Isolation  string // "read_uncommitted" (default) or "read_committed"
	Reads      string // what the history's reads are to be judged by: "committed" (default) or "linearizable"

	Duration time.Duration // of the work, before the scan
	Timeout  time.Duration // of one request
	Settle   time.Duration // how long the cluster may take to answer again after the last fault

	// Learned is told where the cluster says that its brokers are to be reached,
	// before clients work. What it returns is remarked. Nil for nobody.
	Learned func(brokers []string) (remarks []string)

	Nemesis Nemesis           // nil for none
	Out     io.Writer         // gets the history as events, a whole line with every Write; nil for none
	Say     func(text string) // is told which phase of the recording begins, by any goroutine; nil for nobody
}

// Defaults of a [Config].
const (
	DefaultDuration = 10 * time.Second
	DefaultTimeout  = 5 * time.Second
	DefaultSettle   = 60 * time.Second
)

// mostBatch is how many records a request can hold: brokers take 100 MiB by default
// (socket.request.max.bytes), and a record of the recorder has up to 40 bytes.
const mostBatch = 2_500_000

// ErrConfig says that a Config cannot be meant.
var ErrConfig = errors.New("cannot be recorded")

// Validate returns what is wrong with the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case len(c.Sides) == 0 || slices.ContainsFunc(c.Sides, func(s []string) bool { return len(s) == 0 }):
		return refuse("expected the address of a broker as HOST:PORT")
	case c.noAddress() != nil:
		return refuse("expected the address of a broker as HOST:PORT, found %q", *c.noAddress())
	case c.Existing && c.Topic == "":
		return refuse("expected the name of the topic that exists")
	case c.Existing && (c.Partitions != 1 || c.ReplicationFactor != 0):
		return refuse("a topic that exists has its partitions and replicas already")
	case c.Batch > mostBatch:
		return refuse("a request holds no batch of %d records; expected %d at most", c.Batch, mostBatch)
	case !slices.Contains([]string{"all", "1", "0"}, c.Acks):
		return refuse("acks: expected all, 1 or 0, found %q", c.Acks)
	case !slices.Contains([]string{"read_uncommitted", "read_committed"}, c.Isolation):
		return refuse("isolation level: expected read_uncommitted or read_committed, found %q", c.Isolation)
	case !slices.Contains([]string{"committed", "linearizable"}, c.Reads):
		return refuse("reads: expected committed or linearizable, found %q", c.Reads)
	case c.Idempotent && c.Acks != "all":
		return refuse("an idempotent producer needs acks=all, found acks=%s", c.Acks)
	case c.Idempotent && len(c.Sides) > 1:
		return refuse("the library's idempotent producer finds leaders by itself, and so cannot belong to one of several sides")
	case c.Idempotent && c.Batch > 1:
		return refuse("the library's idempotent producer makes its own batches, and so a send is one record, not %d", c.Batch)
	case c.Group && len(c.Sides) > 1:
		return refuse("the members of a group find leaders by themselves, and so cannot belong to one of several sides")
	case c.Group && c.Reads == "linearizable":
		return refuse("a group's members fetch ahead, so that what they are handed is not linearizable")
	case c.Partitions < 1 || c.ReplicationFactor < 0 || c.Producers < 1 || c.Consumers < 1 || c.Batch < 1 || c.InFlight < 1 || c.Rate < 0:
		return refuse("expected numbers of 1 or more (replicas and rate: 0 or more)")
	case c.Duration <= 0 || c.Timeout <= 0 || c.Settle <= 0:
		return refuse("expected times above 0")
	}
	return nil
}

// noAddress is the first of the addresses that is none, nil if all are.
func (c *Config) noAddress() *string {
	for _, side := range c.Sides {
		for i := range side {
			host, port, err := net.SplitHostPort(side[i])
			if n, no := strconv.ParseUint(port, 10, 16); err != nil || no != nil || n == 0 || host == "" {
				return &side[i]
			}
		}
	}
	return nil
}

// withDefaults fills in what is not stated.
func (c Config) withDefaults() Config {
	c.Partitions = cmp.Or(c.Partitions, 1)
	c.Producers = cmp.Or(c.Producers, 4)
	c.Consumers = cmp.Or(c.Consumers, 2)
	c.Batch = cmp.Or(c.Batch, 1)
	c.InFlight = cmp.Or(c.InFlight, 1)
	c.Acks = cmp.Or(c.Acks, "all")
	c.Isolation = cmp.Or(c.Isolation, "read_uncommitted")
	c.Reads = cmp.Or(c.Reads, "committed")
	c.Duration = cmp.Or(c.Duration, DefaultDuration)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Settle = cmp.Or(c.Settle, DefaultSettle)
	if c.Topic == "" && !c.Existing {
		c.Topic = "isrcheck-" + time.Now().UTC().Format("20060102-150405.000")
	}
	if c.Say == nil {
		c.Say = func(string) {}
	}
	return c
}
