package checker

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// A chain is the state of the plain model: how long the log is, and a hash of it.
type chain struct {
	length int64
	hash   uint64
}

func (c chain) and(v histories.Value) chain {
	n, _ := v.Integer()
	return chain{c.length + 1, (c.hash ^ uint64(n)) * 0x9e3779b97f4a7c15}
}

// A plainCall is an operation as the plain model takes it: of a read that returned
// the end it has the hash of the log up to there.
type plainCall struct {
	op  *histories.Op
	end chain
}

// plainModel is the porcupine model of a log that a careful user writes: a read
// compares the length and the hash, a send of unknown outcome may have happened or
// not, at any time until the end.
func plainModel(full *atomic.Bool) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{chain{}} },
		Step: func(state, input, _ any) []any {
			log, c := state.(chain), input.(plainCall)
			switch {
			case full.Load():
				return nil // ends the search
			case c.op.Kind == histories.List:
				return only(state, c.op.Offset == log.length)
			case c.op.Kind == histories.Fetch:
				return only(state, c.end == log)
			case c.op.Outcome == histories.OK && c.op.Offset != log.length:
				return nil
			}
			longer := log
			for _, v := range c.op.Values {
				longer = longer.and(v)
			}
			if c.op.Outcome == histories.OK {
				return []any{longer}
			}
			return []any{log, longer}
		},
	}
	return m.ToModel()
}

func only(state any, ok bool) []any {
	if !ok {
		return nil
	}
	return []any{state}
}

// What ends a judgement that a peer does not finish.
const (
	peerLimit  = 30 * time.Second
	peerMemory = 6 << 30 // bytes
)

// watchMemory calls judge, and tells it once the heap is larger than peers may make it.
func watchMemory(judge func(full *atomic.Bool) porcupine.CheckResult) (result porcupine.CheckResult, full bool) {
	flag, done := new(atomic.Bool), make(chan bool)
	go func() {
		heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			if metrics.Read(heap); heap[0].Value.Uint64() > peerMemory {
				flag.Store(true)
			}
		}
	}()
	defer close(done)
	return judge(flag), flag.Load()
}

// BenchmarkPeers judges the same legal histories by the engines and by porcupine
// with a plain model, for the verdict alone and with what there is to show besides, as
// the checkers of etcd and of S2 ask for it, in one run. Of what does not end within
// the limits it reports the time until it was given up, and 1 as out-of-time or
// out-of-memory.
func BenchmarkPeers(b *testing.B) {
	for _, clients := range []int{5, 10, 30} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			ops, log := modeltest.LargeLog(modeltest.Load{Ops: n, Clients: clients, Unknown: 10, Seed: 3})
			h, err := histories.New("peers", histories.Header{Config: peerConfig}, ops, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, peer := range []struct {
				name  string
				judge func(full *atomic.Bool) porcupine.CheckResult
			}{
				{"quick", func(*atomic.Bool) porcupine.CheckResult { return result(checkQuickly(h)) }},
				{"linear", func(*atomic.Bool) porcupine.CheckResult { return newJudge(h, Options{}).engine((*search).linear) }},
				{"porcupine", func(full *atomic.Bool) porcupine.CheckResult { return porcupineOn(h, full) }},
				{"plain", func(full *atomic.Bool) porcupine.CheckResult {
					return porcupine.CheckOperationsTimeout(plainModel(full), plainCalls(h, log), peerLimit)
				}},
				{"verbose", func(full *atomic.Bool) porcupine.CheckResult {
					result, _ := porcupine.CheckOperationsVerbose(plainModel(full), plainCalls(h, log), peerLimit)
					return result
				}},
			} {
				b.Run(fmt.Sprintf("clients=%d/ops=%d/%s", clients, n, peer.name), func(b *testing.B) { benchmarkPeer(b, peer.judge) })
			}
		}
	}
}

func benchmarkPeer(b *testing.B, judge func(full *atomic.Bool) porcupine.CheckResult) {
	var outOfTime, outOfMemory float64
	for b.Loop() {
		result, full := watchMemory(judge)
		if full {
			outOfMemory = 1
			runtime.GC() // for the next peer
		} else if result == porcupine.Unknown {
			outOfTime = 1
		} else if result == porcupine.Illegal {
			b.Fatal("a legal history is called illegal")
		}
	}
	b.ReportMetric(outOfTime, "out-of-time")
	b.ReportMetric(outOfMemory, "out-of-memory")
}

var peerConfig = histories.Config{{Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
	{Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"}}

func result(_ *Result, ok bool) porcupine.CheckResult {
	if ok {
		return porcupine.Ok
	}
	return porcupine.Unknown
}

// engine judges the only partition by one engine, with the rules left out.
func (j *judge) engine(decide func(*search) porcupine.CheckResult) porcupine.CheckResult {
	return decide(j.newSearch(context.Background(), j.partitions[0]))
}

func porcupineOn(h *histories.History, full *atomic.Bool) porcupine.CheckResult {
	var ops []model.Op
	for i := range h.Ops() {
		if op, ok := model.Translate(&h.Ops()[i], peerConfig, h.Ops()[i].From); ok {
			ops = append(ops, op)
		}
	}
	log := model.Compile(ops, model.Options{Dense: true})
	return porcupine.CheckOperationsTimeout(log.CommittedLog(whileRoom{full}), log.Operations(), peerLimit)
}

// whileRoom is a budget that lasts until the memory is full.
type whileRoom struct{ full *atomic.Bool }

func (w whileRoom) Step() bool       { return !w.full.Load() }
func (w whileRoom) Hold(model.State) {}
func (w whileRoom) Drop(model.State) {}

// plainCalls is the history as the plain model takes it.
func plainCalls(h *histories.History, log []histories.Value) (ops []porcupine.Operation) {
	ends := make([]chain, 1, len(log)+1)
	for _, v := range log {
		ends = append(ends, ends[len(ends)-1].and(v))
	}
	for i := range h.Ops() {
		o := &h.Ops()[i]
		call, end := plainCall{op: o}, o.Return
		if o.Kind == histories.Fetch {
			call.end = ends[o.HW]
		}
		if o.Outcome != histories.OK {
			end = 1 << 62
		}
		ops = append(ops, porcupine.Operation{ClientId: i, Input: call, Call: o.Call, Return: end})
	}
	return ops
}
