package logtest_test

import (
	"context"
	"io"
	"log"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker/logtest"
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
)

// A raftLog is three of etcd's raft nodes in memory. An offset is a place among
// the values a node has applied. The broken one acknowledges what is appended
// and may not be committed. Nothing ticks: who cannot append calls an election.
type raftLog struct {
	nodes   [4]*raft.RawNode
	disks   [4]*raft.MemoryStorage
	applied [4][]logtest.Record
	cut     [4]bool
	leader  int
	broken  bool
}

func (l *raftLog) Nodes() int                   { return 3 }
func (l *raftLog) Isolate(id int) error         { l.cut[id] = true; return nil }
func (l *raftLog) Reconnect(id int) error       { l.cut[id] = false; return nil }
func (l *raftLog) Settle(context.Context) error { l.elect(); return nil }
func (l *raftLog) Append(_ context.Context, _ string, values []string) (int64, error) {
	l.nodes[l.leader].Propose([]byte(strings.Join(values, " ")))
	l.talk()
	base := slices.IndexFunc(l.applied[l.leader], func(r logtest.Record) bool { return r.Value == values[0] })
	if base < 0 && !l.broken {
		l.elect()
		return 0, context.DeadlineExceeded // a majority may have it one day
	}
	return int64(base), nil // of the broken one, -1 is NoOffset
}
func (l *raftLog) Read(_ context.Context, _ string, from int64) ([]logtest.Record, error) {
	return l.applied[l.leader][min(from, int64(len(l.applied[l.leader]))):], nil
}
func (l *raftLog) elect() { // whoever is not cut off and does not lead gets its turn
	for id := 1; id < 4; id++ {
		if !l.cut[id] && l.nodes[id].BasicStatus().RaftState != raft.StateLeader {
			l.nodes[id].Campaign()
			if l.talk(); l.nodes[id].BasicStatus().RaftState == raft.StateLeader {
				l.leader = id
			}
		}
	}
}
func (l *raftLog) talk() { // until nobody has anything to say
	for id := 1; id < 4; id++ {
		if n := l.nodes[id]; n.HasReady() {
			r := n.Ready()
			l.disks[id].Append(r.Entries)
			for _, e := range r.CommittedEntries {
				for _, v := range strings.Fields(string(e.Data)) {
					l.applied[id] = append(l.applied[id], logtest.Record{Offset: int64(len(l.applied[id])), Value: v})
				}
			}
			for _, m := range r.Messages {
				if !l.cut[id] && !l.cut[m.GetTo()] {
					l.nodes[m.GetTo()].Step(m)
				}
			}
			n.Advance(r)
			id = 0 // who has heard of it may have something to say
		}
	}
}

// A log on go.etcd.io/raft/v3, and its broken twin.
func Example_raft() {
	show(func(broken bool) logtest.Log {
		l := &raftLog{broken: broken}
		for id := uint64(1); id < 4; id++ {
			l.disks[id] = raft.NewMemoryStorage()
			l.disks[id].ApplySnapshot(&pb.Snapshot{Metadata: &pb.SnapshotMetadata{ConfState: &pb.ConfState{Voters: []uint64{1, 2, 3}}, Index: new(uint64(1)), Term: new(uint64(1))}})
			l.nodes[id], _ = raft.NewRawNode(&raft.Config{ID: id, ElectionTick: 10, HeartbeatTick: 1, Storage: l.disks[id], Applied: 1,
				MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}})
		}
		l.elect()
		return l
	})
	// Output:
	// <nil>
	// lost-write: Record 10 was acknowledged and is gone: S1 read the whole log without it
}
