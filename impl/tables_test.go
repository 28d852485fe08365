package impl

import (
	"slices"
	"strings"
	"testing"
)

// TestTables demands that every row says what it is, once.
func TestTables(t *testing.T) {
	var names []string
	row := func(table, name, says string) {
		if name == "" || says == "" || strings.HasSuffix(says, ".") {
			t.Errorf("%s %q says %q", table, name, says)
		}
		if slices.Contains(names, table+name) {
			t.Errorf("%s %s is there twice", table, name)
		}
		names = append(names, table+name)
	}
	for _, s := range Settings {
		row("setting", s.Name, s.Says)
		if _, err := s.parse(s.Default); err != nil {
			t.Errorf("the default: %v", err)
		}
	}
	for _, f := range Faults {
		row("fault", f.Verb, f.Says)
	}
	for _, v := range ClientVerbs {
		row("verb", v.Verb, v.Says)
	}
	for _, b := range Bugs {
		row("bug", b.Name, b.Says)
	}
	for _, m := range Moments {
		row("moment", m.Name, m.Says)
	}
	for _, r := range Roles {
		row("role", r.Name, r.Says)
	}
	for _, i := range Invariants {
		row("invariant", i.Name, i.Says)
	}
}

// TestTableOrder holds the constants of invariants and bugs against the rows
// they stand for.
func TestTableOrder(t *testing.T) {
	if len(Invariants) != int(invariantCount) || Invariants[appliedHwMono].Name != "AppliedHwMono" ||
		Invariants[quorumSuperset].Name != "QuorumSuperset" || Invariants[ackAfterCommit].Name != "AckAfterCommit" ||
		Invariants[noTruncBelowCommit].Name != "NoTruncBelowCommit" || Invariants[leaderComplete].Name != "LeaderComplete" {
		t.Error("the table of invariants is not in the order of its constants")
	}
	if len(Bugs) != int(bugCount) || Bugs[staleEndOffset].Name != "stale-end-offset" ||
		Bugs[readUncommittedTail].Name != "read-uncommitted-tail" {
		t.Error("the table of bugs is not in the order of its constants")
	}
	for k := fetchRequest; k <= alarmTimer; k++ {
		if int(k) >= len(kindNames) || kindNames[k] == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if len(kindNames) != int(alarmTimer)+1 || kindNames[metadataUpdate] != "metadata" || kindNames[produceResponse] != "produce-response" ||
		kindNames[alterPartitionResponse] != "alter-partition-response" || kindNames[disconnected] != "disconnected" {
		t.Error("the names of kinds are not in the order of their constants")
	}
	if len(errorNames) != int(logTruncation)+1 || errorNames[requestTimedOut] != "REQUEST_TIMED_OUT" ||
		errorNames[duplicateBrokerRegistration] != "DUPLICATE_BROKER_REGISTRATION" {
		t.Error("the names of errors are not in the order of their constants")
	}
}
