package matrix

import (
	"strings"

	"github.com/isrcheck/isrcheck/impl/gen"
)

// A Config is a column: settings that people choose between. What it does not
// state is drawn as the default generator does.
type Config struct {
	Name, Says string
	Choices    []gen.Choice

	like int // the column of §5 that says what it permits
}

// The columns of §5.
const (
	c1 = iota
	c2
	c3
	c4
	c5
	c6
	c7
	columns
)

// Configs is the table of columns: those of §5 of the protocol reference, and
// the three profiles that are recommended most often (§0).
var Configs = []Config{
	{"C1", "acks=0 or 1, two or three replicas, min.insync.replicas=1",
		settings("1 1 1 0", "2 3", "1", "false", "false"), c1},
	{"C2", "acks=all, three replicas, min.insync.replicas=1, no eligible leader replicas",
		settings("all", "3", "1", "false", "false", idempotence), c2},
	{"C3", "acks=all, three replicas, min.insync.replicas=2, no eligible leader replicas",
		settings("all", "3", "2", "false", "false", idempotence), c3},
	{"C4", "C3 with eligible leader replicas (KIP-966)",
		settings("all", "3", "2", "true", "false", idempotence), c4},
	{"C5", "C4, and every record is flushed before it counts",
		settings("all", "3", "2", "true", "false", idempotence, is("log.flush.interval.messages", "1")), c5},
	{"C6", "any of these with unclean.leader.election.enable=true",
		settings("1 0 all all", "2 3", "1 2", "false true", "true", idempotence), c6},
	{"C7", "one replica",
		settings("1 0 all all", "1", "1", "false", "false"), c7},
	{"test", "acks=1, one replica",
		settings("1", "1", "1", "false", "false"), c7},
	{"normal", "acks=1, three replicas, retries",
		settings("1", "3", "1", "false", "false", is("enable.idempotence", "false"), is("retries", "3"), is(inFlight, "1", "5")), c1},
	{"financial", "acks=all, three replicas, min.insync.replicas=2, as many retries as it takes",
		settings("all", "3", "2", "false", "false", is("enable.idempotence", "false"), is("retries", "1000000"), is(inFlight, "1", "5")), c3},
}

// idempotence is switched on in some of the runs: then sends are retried, and
// land once all the same.
var idempotence = is("enable.idempotence", "false", "false", "true")

const inFlight = "max.in.flight.requests.per.connection"

func is(key string, values ...string) gen.Choice { return gen.Choice{Key: key, Values: values} }

// settings are those that every column states, each as values in words, and
// more. Reads go to the leader, which promises nothing about their freshness. A
// follower may lag for longer than its fetches may wait, or it would leave the ISR
// without any fault.
func settings(acks, replicas, minISR, elr, unclean string, more ...gen.Choice) []gen.Choice {
	words := strings.Fields
	return append([]gen.Choice{
		is("brokers", "3"), is("replica.lag.time.max.ms", "300", "100", "30"), is("reads", "committed"), is("fetch.from", "leader"),
		is("acks", words(acks)...),
		is("default.replication.factor", words(replicas)...),
		is("min.insync.replicas", words(minISR)...),
		is("eligible.leader.replicas.enable", words(elr)...),
		is("unclean.leader.election.enable", words(unclean)...),
		is("enable.idempotence", "false"), is("retries", "0"), is(inFlight, "1"),
	}, more...)
}
