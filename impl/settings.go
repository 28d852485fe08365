package impl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A SettingSpec describes one key a schedule may set. A key with Values takes
// one of them, any other an integer from Min to Max; times are milliseconds.
type SettingSpec struct {
	Name, Default, Says string
	Min, Max            int64
	Values              []string

	set func(*config, int64) // gets the integer, or the place in Values
}

// A config is a cluster's settings. Times are milliseconds.
type config struct {
	brokers, partitions          int
	replicationFactor, minIsr    int
	unclean, elr, linearizable   bool
	idempotent, fetchAny         bool
	acks                         int // a place in acksNames
	lagTime, lagMessages         int64
	fetchWait, fetchBackoff      int64
	checkpointInterval           int64
	heartbeatInterval            int64
	sessionTimeout               int64
	requestTimeout, retryBackoff int64
	deliveryTimeout, readTimeout int64
	shutdownTimeout              int64
	retries                      int64
	inFlight                     int // sends of one client
	fetchSessions                bool
	flushMessages                int64
	shrinkIsEpoch                bool
	refusePending                bool
	truncation                   truncation
}

// acksNames are the values of acks, the default first.
var acksNames = []string{"all", "1", "0"}

// readsNames are the values of reads, the default first.
var readsNames = []string{"committed", "linearizable"}

// metadataVersions are the values of metadata.version, the default first.
var metadataVersions = []string{"3.6", "3.5"}

// pendingSends are the values of pending.sends, the default first.
var pendingSends = []string{"wait", "refuse"}

const (
	acksAll = iota
	acksOne
	acksZero
)

const (
	hour     = 3_600_000
	dayOfMs  = 24 * hour
	maxCount = 1_000_000
)

// Settings is the table of settings, by Kafka's names where it has one.
var Settings = []SettingSpec{
	{Name: "brokers", Default: "3", Min: 1, Max: maxBrokers, Says: "brokers in the cluster, numbered from 1",
		set: func(c *config, v int64) { c.brokers = int(v) }},
	{Name: "partitions", Default: "1", Min: 1, Max: 4, Says: "partitions of the topic t",
		set: func(c *config, v int64) { c.partitions = int(v) }},
	{Name: "default.replication.factor", Default: "3", Min: 1, Max: maxBrokers, Says: "replicas of a partition; never more than there are brokers",
		set: func(c *config, v int64) { c.replicationFactor = int(v) }},
	{Name: "min.insync.replicas", Default: "1", Min: 1, Max: maxBrokers, Says: "smallest ISR that accepts acks=all and moves the high watermark",
		set: func(c *config, v int64) { c.minIsr = int(v) }},
	{Name: "unclean.leader.election.enable", Default: "false", Values: []string{"false", "true"}, Says: "whether a replica outside the ISR may lead when nobody else can",
		set: func(c *config, v int64) { c.unclean = v == 1 }},
	{Name: "eligible.leader.replicas.enable", Default: "false", Values: []string{"false", "true"}, Says: "whether replicas that left too small an ISR stay eligible, so that its last member need not stand alone (KIP-966)",
		set: func(c *config, v int64) { c.elr = v == 1 }},
	{Name: "reads", Default: readsNames[0], Values: readsNames, Says: "what reads promise; for linearizable a leader makes sure of its followers before it answers",
		set: func(c *config, v int64) { c.linearizable = v == 1 }},
	{Name: "fetch.from", Default: "leader", Values: []string{"leader", "any"}, Says: "whether a follower that a client names with via= answers its reads, up to its own high watermark (KIP-392); never with reads=linearizable",
		set: func(c *config, v int64) { c.fetchAny = v == 1 }},
	{Name: "acks", Default: "all", Values: acksNames, Says: "what a send waits for unless it says so itself",
		set: func(c *config, v int64) { c.acks = int(v) }},
	{Name: "enable.idempotence", Default: "false", Values: []string{"false", "true"}, Says: "whether a log refuses copies of what it has; then every send waits for all, and is retried for as long as it may take",
		set: func(c *config, v int64) { c.idempotent = v == 1 }},
	{Name: "retries", Default: "0", Max: maxCount, Says: "attempts after one whose effect is unknown; without idempotence they may duplicate",
		set: func(c *config, v int64) { c.retries = v }},
	{Name: "max.in.flight.requests.per.connection", Default: "1", Min: 1, Max: window, Says: "sends that a client may have under way at once; without idempotence a retry may reorder them. Kafka's default is 5",
		set: func(c *config, v int64) { c.inFlight = int(v) }},
	{Name: "replica.lag.time.max.ms", Default: "30000", Min: 1, Max: hour, Says: "how long a follower may lag before the leader proposes to drop it",
		set: func(c *config, v int64) { c.lagTime = v }},
	{Name: "replica.lag.max.messages", Default: "0", Max: maxCount, Says: "Kafka 0.8: how many records a follower may lag; 0 for no such rule",
		set: func(c *config, v int64) { c.lagMessages = v }},
	{Name: "replica.fetch.wait.max.ms", Default: "500", Min: 1, Max: hour, Says: "how long a leader holds a follower's fetch when there is nothing new",
		set: func(c *config, v int64) { c.fetchWait = v }},
	{Name: "replica.fetch.backoff.ms", Default: "1000", Min: 1, Max: hour, Says: "how long a follower waits after a fetch that failed",
		set: func(c *config, v int64) { c.fetchBackoff = v }},
	{Name: "max.incremental.fetch.session.cache.slots", Default: "0", Max: 1000, Says: "fetch sessions that a broker remembers, so that followers need not repeat what has not changed; here for all or, with 0, for none. Kafka's default is 1000",
		set: func(c *config, v int64) { c.fetchSessions = v > 0 }},
	{Name: "replica.high.watermark.checkpoint.interval.ms", Default: "5000", Min: 1, Max: hour, Says: "how often a broker writes its high watermarks to disk",
		set: func(c *config, v int64) { c.checkpointInterval = v }},
	{Name: "broker.heartbeat.interval.ms", Default: "2000", Min: 1, Max: hour, Says: "how often a broker calls the controller",
		set: func(c *config, v int64) { c.heartbeatInterval = v }},
	{Name: "broker.session.timeout.ms", Default: "9000", Min: 1, Max: hour, Says: "silence after which the controller fences a broker",
		set: func(c *config, v int64) { c.sessionTimeout = v }},
	{Name: "request.timeout.ms", Default: "30000", Min: 1, Max: hour, Says: "how long a client waits for one answer",
		set: func(c *config, v int64) { c.requestTimeout = v }},
	{Name: "retry.backoff.ms", Default: "100", Min: 1, Max: hour, Says: "how long a client waits before it tries again",
		set: func(c *config, v int64) { c.retryBackoff = v }},
	{Name: "delivery.timeout.ms", Default: "120000", Min: 1, Max: dayOfMs, Says: "how long a client tries to send",
		set: func(c *config, v int64) { c.deliveryTimeout = v }},
	{Name: "default.api.timeout.ms", Default: "60000", Min: 1, Max: dayOfMs, Says: "how long a client tries to read",
		set: func(c *config, v int64) { c.readTimeout = v }},
	{Name: "controlled.shutdown.timeout.ms", Default: "30000", Min: 1, Max: hour, Says: "how long a broker waits for leave to stop before it stops anyway",
		set: func(c *config, v int64) { c.shutdownTimeout = v }},
	{Name: "log.flush.interval.messages", Default: "0", Max: maxCount, Says: "unflushed records at which a log is flushed; 0 leaves it to a clean shutdown",
		set: func(c *config, v int64) { c.flushMessages = v }},
	{Name: "truncation", Default: "fetch", Values: truncationNames, Says: "how a new follower finds where its log diverges: with its fetches (2.7), by asking repeatedly (KIP-279) or once (KIP-101), or not at all (0.10); only the first two are safe",
		set: func(c *config, v int64) { c.truncation = truncation(v) }},
	{Name: "metadata.version", Default: metadataVersions[0], Values: metadataVersions, Says: "whose rules the controller follows: before 3.6 a smaller ISR is a new leader epoch",
		set: func(c *config, v int64) { c.shrinkIsEpoch = v == 1 }},
	{Name: "pending.sends", Default: pendingSends[0], Values: pendingSends, Says: "what becomes of sends that wait when the ISR gets smaller than min.insync.replicas: in Kafka they go on waiting; they may be refused as well, for nobody knows their outcome",
		set: func(c *config, v int64) { c.refusePending = v == 1 }},
}

// configure returns the settings of a schedule over the defaults.
func configure(settings []schedule.Setting) (config, error) {
	var c config
	for _, spec := range Settings {
		v, err := spec.parse(spec.Default)
		if err != nil {
			return c, err
		}
		spec.set(&c, v)
	}
	for _, s := range settings {
		i := slices.IndexFunc(Settings, func(spec SettingSpec) bool { return spec.Name == s.Key })
		if i < 0 {
			return c, settingError(s, fmt.Errorf("unknown setting %q; expected one of %s", s.Key, settingNames()))
		}
		v, err := Settings[i].parse(s.Value)
		if err != nil {
			return c, settingError(s, err)
		}
		Settings[i].set(&c, v)
	}
	c.replicationFactor = min(c.replicationFactor, c.brokers)
	c.minIsr = min(c.minIsr, c.replicationFactor) // as Kafka does (§1.4)
	if c.idempotent {
		c.acks, c.retries = acksAll, maxCount
	}
	return c, nil
}

func settingError(s schedule.Setting, err error) error {
	return &ItemError{Word: s.Key + "=" + s.Value, Says: brief(err.Error())}
}

func (s *SettingSpec) parse(text string) (int64, error) {
	if len(s.Values) > 0 {
		if i := slices.Index(s.Values, text); i >= 0 {
			return int64(i), nil
		}
		return 0, fmt.Errorf("setting %s=%q: expected one of %s", s.Name, text, strings.Join(s.Values, ", "))
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < s.Min || v > s.Max {
		return 0, fmt.Errorf("setting %s=%q: expected an integer from %d to %d", s.Name, text, s.Min, s.Max)
	}
	return v, nil
}

func settingNames() string {
	names := make([]string, len(Settings))
	for i := range Settings {
		names[i] = Settings[i].Name
	}
	return strings.Join(names, ", ")
}
