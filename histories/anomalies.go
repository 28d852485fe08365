package histories

import "strings"

// An Anomaly is a kind of finding with its name in the format.
type Anomaly struct {
	Name      string
	Condition string
	Jepsen    bool // name and condition of Jepsen's Kafka workload
	Simulated bool // about a simulated run rather than a history
}

// Anomalies is the table of findings a history may expect or allow. A broken
// state invariant is a finding too: its name is "invariant NAME", where NAME
// belongs to the implementation that was run.
var Anomalies = []Anomaly{
	{Name: "lost-write", Jepsen: true, Condition: "an acknowledged (or provably committed) value is absent although a later offset was read, or the healed log ends at or before its offset"},
	{Name: "inconsistent-offsets", Jepsen: true, Condition: "two values at one offset, from any mix of acknowledgements and reads"},
	{Name: "duplicate", Jepsen: true, Condition: "more copies of a value than sends of it that are ok or info"},
	{Name: "aborted-read", Jepsen: true, Condition: "a value of a definitely failed write is read, or one of an aborted transaction by a reader with isolation.level=read_committed"},
	{Name: "nonmonotonic-poll", Jepsen: true, Condition: "one consumer goes back between polls, with no marker that explains it"},
	{Name: "int-nonmonotonic-poll", Jepsen: true, Condition: "one consumer goes back within one poll"},
	{Name: "poll-skip", Jepsen: true, Condition: "one consumer jumps between polls over records that are known to exist"},
	{Name: "int-poll-skip", Jepsen: true, Condition: "one consumer jumps within one poll over records that are known to exist"},
	{Name: "nonmonotonic-send", Jepsen: true, Condition: "one producer's sends land in the opposite order although its settings promise order"},
	{Name: "int-nonmonotonic-send", Jepsen: true, Condition: "the records of one send land in the opposite order"},
	{Name: "offset-mismatch", Condition: "the producer was told an offset at which its value is not, though the value is in the log"},
	{Name: "read-then-lost", Condition: "a record that somebody read is absent later"},
	{Name: "early-read", Condition: "a record above the mark reported in the same answer, or not yet sent, is delivered, or one of an open transaction to a reader with isolation.level=read_committed"},
	{Name: "end-regression", Condition: "the end offset goes back without an allowed truncation"},
	{Name: "stale-read", Condition: "a linearizable read misses what was acknowledged before it began"},
	{Name: "phantom", Condition: "a value nobody sent is read"},
	{Name: "gap", Condition: "an offset below the end of a dense log holds nothing"},
	{Name: "realtime-order", Condition: "a send that finished before another began sits at the higher offset"},
	{Name: "torn-transaction", Condition: "a part of a transaction is seen by a reader with isolation.level=read_committed, and another part is lost or passed over"},
	{Name: "precommitted-read", Condition: "a value of a transaction is read, by itself or by others, before its commit was asked for (isolation.level=read_committed)"},
	{Name: "write-read-cycle", Condition: "transactions read one another's writes in a circle (isolation.level=read_committed)"},
	{Name: "not-linearizable", Condition: "the model rejects the history and no rule names why"},
	{Name: "not-live", Simulated: true, Condition: "after the faults ended the cluster did not converge, or a tested log did not work again"},
	{Name: "nondeterministic", Simulated: true, Condition: "two runs of one schedule differ"},
	{Name: "stale-fingerprint", Simulated: true, Condition: "the run is no longer the one that was saved"},
}

const invariantPrefix = "invariant "

// IsAnomaly reports whether the format knows a finding of that name.
func IsAnomaly(name string) bool {
	if of, ok := strings.CutPrefix(name, invariantPrefix); ok {
		return isPlain(of) && !strings.Contains(of, ",")
	}
	for _, a := range Anomalies {
		if a.Name == name {
			return true
		}
	}
	return false
}

// parseAnomalies splits a comma separated list of names. bad is the first one
// that the format does not know.
func parseAnomalies(list string) (names []string, bad string, ok bool) {
	for name := range strings.SplitSeq(list, ",") {
		if !IsAnomaly(name) {
			return nil, name, false
		}
		names = append(names, name)
	}
	return names, "", true
}
