package hunt

import (
	"errors"
	"io"
	"log"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// A call is an event of the floor: a node gets a message or hears a timer.
type call struct {
	tick, seq int64
	from, to  int32
	hops      int64
	says      [4]int64
}

func (c call) before(d call) bool { return c.tick < d.tick || c.tick == d.tick && c.seq < d.seq }

// queueEvents lets three nodes and ten clients, each with a few timers, hand
// things to each other through a binary heap of plain values, which is the least
// a simulation does.
func queueEvents() (int, error) {
	const nodes, timers, events = 13, 4, 200_000
	var heap []call
	var seq int64
	push := func(c call) {
		seq++
		c.seq = seq
		heap = append(heap, c)
		for i := len(heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if !heap[i].before(heap[parent]) {
				break
			}
			heap[i], heap[parent] = heap[parent], heap[i]
			i = parent
		}
	}
	pop := func() call {
		top, n := heap[0], len(heap)-1
		heap[0] = heap[n]
		heap = heap[:n]
		for i := 0; 2*i+1 < n; {
			child := 2*i + 1
			if child+1 < n && heap[child+1].before(heap[child]) {
				child++
			}
			if !heap[child].before(heap[i]) {
				break
			}
			heap[i], heap[child] = heap[child], heap[i]
			i = child
		}
		return top
	}
	for i := range int32(nodes * timers) {
		push(call{tick: int64(i), to: i % nodes})
	}
	var state [nodes]int64
	for range events {
		c := pop()
		state[c.to] += c.hops + c.says[0]
		push(call{tick: c.tick + 1 + state[c.to]%31, from: c.to, to: (c.to + 1) % nodes, hops: c.hops + 1, says: [4]int64{c.tick}})
	}
	if len(heap) != nodes*timers {
		return 0, errors.New("an event is missing")
	}
	return events, nil
}

// raftMessages has three of etcd's RawNodes agree on proposals, one after
// another, and counts the messages that takes.
func raftMessages() (int, error) {
	const proposals = 1_000
	nodes := make([]*raft.RawNode, 4)
	stores := make([]*raft.MemoryStorage, 4)
	for id := 1; id < len(nodes); id++ {
		stores[id] = raft.NewMemoryStorage()
		err := stores[id].ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
			ConfState: &raftpb.ConfState{Voters: []uint64{1, 2, 3}}, Index: proto.Uint64(1), Term: proto.Uint64(1)}})
		if err != nil {
			return 0, err
		}
		nodes[id], err = raft.NewRawNode(&raft.Config{ID: uint64(id), ElectionTick: 10, HeartbeatTick: 1, Storage: stores[id],
			MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 256, Applied: 1, Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}})
		if err != nil {
			return 0, err
		}
	}
	if err := nodes[1].Campaign(); err != nil {
		return 0, err
	}
	messages, committed := 0, 0
	settle := func() error {
		for busy := true; busy; {
			busy = false
			for id := 1; id < len(nodes); id++ {
				if !nodes[id].HasReady() {
					continue
				}
				busy = true
				ready := nodes[id].Ready()
				if err := stores[id].Append(ready.Entries); err != nil {
					return err
				}
				if id == 1 {
					committed += len(ready.CommittedEntries)
				}
				for _, m := range ready.Messages {
					messages++
					if err := nodes[m.GetTo()].Step(m); err != nil {
						return err
					}
				}
				nodes[id].Advance(ready)
			}
		}
		return nil
	}
	for range proposals {
		if err := settle(); err != nil {
			return 0, err
		}
		if err := nodes[1].Propose([]byte("value")); err != nil {
			return 0, err
		}
	}
	if committed < proposals-1 {
		return 0, errors.New("raft committed too little")
	}
	return messages, nil
}
