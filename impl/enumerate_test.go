package impl

import (
	"slices"
	"strconv"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An enumerator makes the nth of a fixed sequence of varied schedules: small
// clusters with short timeouts, so that a few hundred steps see many elections.
type enumerator struct {
	state   uint64
	brokers int
	value   int
	s       schedule.Schedule
}

func nthSchedule(n int, unclean bool) schedule.Schedule {
	e := &enumerator{state: uint64(n)*0x9E3779B97F4A7C15 + 1}
	e.brokers = 2 + e.below(3)
	e.set("brokers", e.brokers)
	e.set("default.replication.factor", max(2, e.brokers-e.below(2)))
	e.set("min.insync.replicas", 1+e.below(min(2, e.brokers)))
	e.set("replica.fetch.wait.max.ms", e.oneOf(500, 20, 5))
	e.set("replica.fetch.backoff.ms", e.oneOf(1000, 10, 3))
	e.set("replica.lag.time.max.ms", e.oneOf(30000, 300, 60, 12))
	e.set("replica.high.watermark.checkpoint.interval.ms", e.oneOf(5000, 50))
	heartbeat := e.oneOf(2000, 20, 7)
	e.set("broker.heartbeat.interval.ms", heartbeat)
	e.set("broker.session.timeout.ms", heartbeat*e.oneOf(2, 4))
	e.set("request.timeout.ms", e.oneOf(30000, 100))
	e.set("retry.backoff.ms", e.oneOf(100, 5))
	e.set("log.flush.interval.messages", e.oneOf(0, 0, 1, 3))
	e.s.Settings = append(e.s.Settings, schedule.Setting{Key: "truncation", Value: []string{"fetch", "fetch", "kip279"}[e.below(3)]})
	e.s.Settings = append(e.s.Settings, schedule.Setting{Key: "eligible.leader.replicas.enable", Value: []string{"false", "true"}[e.below(2)]})
	e.s.Settings = append(e.s.Settings, schedule.Setting{Key: "enable.idempotence", Value: []string{"false", "false", "true"}[e.below(3)]})
	e.s.Settings = append(e.s.Settings, schedule.Setting{Key: "fetch.from", Value: []string{"leader", "any"}[e.below(2)]})
	if unclean {
		e.s.Settings = append(e.s.Settings, schedule.Setting{Key: "unclean.leader.election.enable", Value: "true"})
	}
	faults := 1 + e.below(3)
	pace := e.oneOf(3, 15, 60, 1000)
	at := 1
	for range 20 + e.below(60) {
		at += e.below(pace + 1)
		if e.below(5) < faults {
			e.fault(at, pace)
		} else {
			e.request(at)
		}
	}
	return e.s
}

// below is the next of a linear congruential sequence, below n.
func (e *enumerator) below(n int) int {
	e.state = e.state*6364136223846793005 + 1442695040888963407
	return int(e.state>>33) % n
}

func (e *enumerator) oneOf(values ...int) int { return values[e.below(len(values))] }

func (e *enumerator) set(key string, value int) {
	e.s.Settings = append(e.s.Settings, schedule.Setting{Key: key, Value: strconv.Itoa(value)})
}

func (e *enumerator) add(at int, actor, verb string, words []string, args ...schedule.Arg) {
	e.s.Steps = append(e.s.Steps, schedule.Step{At: int64(at), Actor: actor, Verb: verb, Words: words, Args: args})
}

func (e *enumerator) request(at int) {
	client := []string{"P1", "P2", "C1", "C2"}[e.below(4)]
	var via []schedule.Arg
	if e.below(4) == 0 {
		via = []schedule.Arg{{Key: "via", Value: strconv.Itoa(1 + e.below(e.brokers))}}
	}
	switch {
	case client[0] == 'P':
		e.value++
		acks := schedule.Arg{Key: "acks", Value: []string{"all", "all", "all", "1", "0"}[e.below(5)]}
		e.add(at, client, "send", []string{strconv.Itoa(e.value)}, append(via, acks)...)
	case e.below(12) == 0:
		e.add(at, client, "delete-records", []string{strconv.Itoa(e.below(e.value + 1))}, via...)
	case e.below(3) == 0:
		e.add(at, client, "list", []string{"latest"}, via...)
	case e.below(3) == 0:
		e.add(at, client, "fetch", nil, append(via, schedule.Arg{Key: "from", Value: strconv.Itoa(e.below(e.value + 1))})...)
	default:
		e.add(at, client, "poll", nil, via...)
	}
}

func (e *enumerator) fault(at, pace int) {
	f := Faults[e.below(len(Faults))]
	var given []schedule.Arg
	for _, spec := range f.Args {
		if spec.Optional && e.below(2) == 0 {
			continue
		}
		given = append(given, schedule.Arg{Key: spec.Key, Value: e.argument(spec, pace)})
	}
	e.add(at, schedule.Nemesis, f.Verb, nil, given...)
}

func (e *enumerator) argument(spec ArgSpec, pace int) string {
	switch spec.Kind {
	case BrokerArg:
		return strconv.Itoa(1 + e.below(e.brokers))
	case NodeArg:
		if e.below(e.brokers+1) == 0 {
			return "controller"
		}
		return strconv.Itoa(1 + e.below(e.brokers))
	case MessageArg:
		return spec.Values[e.below(len(spec.Values))]
	case ClientArg:
		return "P1"
	case ReplicasArg:
		return []string{"1,2", "2", "3,1", "4,2", "2,3", "1,2,3", "3,2,1,4", "1"}[e.below(8)]
	case PartitionArg:
		return "0"
	case CountArg:
		return strconv.Itoa(1 + e.below(4))
	}
	return strconv.Itoa(1 + e.below(slices.Max([]int{pace * 8, 30})))
}
