package checker

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/model"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// plainModel is the porcupine model of a log that a careful user writes: the
// state is the records, a read compares them, a send of unknown outcome may have
// happened or not, at any time until the end.
var plainModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{[]histories.Value{}} },
	Step: func(state, input, _ any) []any {
		log, o := state.([]histories.Value), input.(*histories.Op)
		switch {
		case o.Kind == histories.List:
			return only(state, o.Offset == int64(len(log)))
		case o.Kind == histories.Fetch:
			return only(state, o.HW == int64(len(log)) && answers(log, o))
		case o.Outcome == histories.OK:
			if o.Offset != int64(len(log)) {
				return nil
			}
			return []any{append(slices.Clone(log), o.Values...)}
		}
		return []any{log, append(slices.Clone(log), o.Values...)}
	},
	Equal: func(a, b any) bool { return slices.Equal(a.([]histories.Value), b.([]histories.Value)) },
}

func only(state any, ok bool) []any {
	if !ok {
		return nil
	}
	return []any{state}
}

func answers(log []histories.Value, o *histories.Op) bool {
	for _, r := range o.Records {
		if r.Offset >= int64(len(log)) || log[r.Offset] != r.Value {
			return false
		}
	}
	return true
}

// peerLimit ends a judgement that a peer does not finish.
const peerLimit = 10 * time.Second

// BenchmarkPeers judges the same legal histories by the engines and by porcupine
// with a plain model, in one run. What does not end within the limit reports it
// as its time and 1 as given-up.
func BenchmarkPeers(b *testing.B) {
	for _, clients := range []int{5, 10, 30} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			ops := modeltest.Large(modeltest.Load{Ops: n, Clients: clients, Unknown: 10, Seed: 3})
			config := histories.Config{{Key: "acks", Value: "all"}, {Key: "enable.idempotence", Value: "true"},
				{Key: "offsets", Value: "dense"}, {Key: "reads", Value: "linearizable"}}
			h, err := histories.New("peers", histories.Header{Config: config}, ops, nil)
			if err != nil {
				b.Fatal(err)
			}
			judges := []struct {
				name  string
				most  int
				judge func() porcupine.CheckResult
			}{
				{"quick", 100_000, func() porcupine.CheckResult { return result(checkQuickly(h)) }},
				{"linear", 100_000, func() porcupine.CheckResult { return newJudge(h, Options{}).engine((*search).linear) }},
				{"porcupine", 10_000, func() porcupine.CheckResult { return porcupineOn(h, config) }},
				{"plain", 10_000, func() porcupine.CheckResult { return plainOn(h) }},
			}
			for _, j := range judges {
				if n > j.most {
					continue
				}
				b.Run(fmt.Sprintf("clients=%d/ops=%d/%s", clients, n, j.name), func(b *testing.B) {
					gaveUp := 0.0
					for b.Loop() {
						switch j.judge() {
						case porcupine.Illegal:
							b.Fatal("a legal history is called illegal")
						case porcupine.Unknown:
							gaveUp = 1
						}
					}
					b.ReportMetric(gaveUp, "given-up")
				})
			}
		}
	}
}

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

func porcupineOn(h *histories.History, config histories.Config) porcupine.CheckResult {
	var ops []model.Op
	for i := range h.Ops() {
		if op, ok := model.Translate(&h.Ops()[i], config, h.Ops()[i].From); ok {
			ops = append(ops, op)
		}
	}
	log := model.Compile(ops, model.Options{Dense: true})
	return porcupine.CheckOperationsTimeout(log.CommittedLog(unlimited{}), log.Operations(), peerLimit)
}

type unlimited struct{}

func (unlimited) Step() bool       { return true }
func (unlimited) Hold(model.State) {}
func (unlimited) Drop(model.State) {}

func plainOn(h *histories.History) porcupine.CheckResult {
	var ops []porcupine.Operation
	for i := range h.Ops() {
		o := &h.Ops()[i]
		end := o.Return
		if o.Outcome != histories.OK {
			end = 1 << 62
		}
		ops = append(ops, porcupine.Operation{ClientId: i, Input: o, Call: o.Call, Return: end})
	}
	return porcupine.CheckOperationsTimeout(plainModel.ToModel(), ops, peerLimit)
}
