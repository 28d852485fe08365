package histories

import "strings"

// A Config is the settings of a history's header, in the order in which they
// were stated. Keys are Kafka's own names (see [ConfigKeys]).
type Config []Setting

// A Setting is one key with its value.
type Setting struct{ Key, Value string }

// Get returns the stated value of a key, or its default. For
// isolation.level.P, the setting of process P alone, the default is the value
// of isolation.level.
func (c Config) Get(key string) string {
	if v, ok := c.Stated(key); ok {
		return v
	}
	if strings.HasPrefix(key, isolationPrefix) {
		return c.Get("isolation.level")
	}
	for _, k := range ConfigKeys {
		if k.Name == key && len(k.Values) > 0 {
			return k.Values[0]
		}
	}
	return ""
}

// Stated returns the value of a key if the history states it.
func (c Config) Stated(key string) (string, bool) {
	for _, s := range c {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// With returns a copy of the settings in which the key has that value.
func (c Config) With(key, value string) Config {
	out := make(Config, 0, len(c)+1)
	found := false
	for _, s := range c {
		if s.Key == key {
			s.Value, found = value, true
		}
		out = append(out, s)
	}
	if !found {
		out = append(out, Setting{key, value})
	}
	return out
}

const isolationPrefix = "isolation.level."

// A ConfigKey describes one key a header may state.
type ConfigKey struct {
	Name    string
	Values  []string // allowed values, the default first; nil where Integer or List
	Integer bool     // a positive integer
	List    bool     // a comma separated list of anomaly names
	Says    string   // what it changes
}

// ConfigKeys is the table of keys a header may state. Keys that begin with
// "x-" are accepted as well and change nothing.
var ConfigKeys = []ConfigKey{
	{Name: "acks", Values: []string{"all", "1", "0"}, Says: "the default for sends that do not say; an acknowledgement below all promises nothing until somebody reads the record"},
	{Name: "enable.idempotence", Values: []string{"false", "true"}, Says: "whether one send may land twice"},
	{Name: "max.in.flight.requests.per.connection", Values: []string{"5"}, Integer: true, Says: "whether one producer's sends may be reordered by a retry"},
	{Name: "isolation.level", Values: []string{"read_uncommitted", "read_committed"}, Says: "what readers may see of transactions"},
	{Name: "assignment", Values: []string{"assign", "subscribe"}, Says: "whether a consumer's position may move by a rebalance"},
	{Name: "auto.offset.reset", Values: []string{"none", "earliest", "latest"}, Says: "where an out-of-range consumer may jump"},
	{Name: "cleanup.policy", Values: []string{"delete", "compact"}, Says: "whether a newer record of the same key may replace an older one"},
	{Name: "unclean.leader.election.enable", Values: []string{"false", "true"}, Says: "whether committed records may be lost, by documentation"},
	{Name: "replication.factor", Integer: true, Says: "judged only together with the faults in the history"},
	{Name: "min.insync.replicas", Integer: true, Says: "judged only together with the faults in the history"},
	{Name: "fetch.from", Values: []string{"leader", "any"}, Says: "KIP-392: reads may come from a lagging follower"},
	{Name: "kip-207", Values: []string{"true", "false"}, Says: "whether the end offset told to clients may go back after an election"},
	{Name: "offsets", Values: []string{"sparse", "dense"}, Says: "dense: every offset holds a record that clients can see"},
	{Name: "reads", Values: []string{"committed", "linearizable"}, Says: "what reads promise"},
	{Name: "system", Values: []string{"kafka", "other"}, Says: "whose documentation decides what is allowed"},
	{Name: "allow", List: true, Says: "findings that are reported as allowed and do not fail the check"},
}

// An Expect is the verdict a file documents.
type Expect struct {
	Verdict string   // "ok", "unknown", "violation", or "" if the file states none
	Names   []string // the findings a violation must have among its own
}

// String returns the expectation as the header writes it.
func (e Expect) String() string {
	if len(e.Names) == 0 {
		return e.Verdict
	}
	return e.Verdict + " " + strings.Join(e.Names, ",")
}
