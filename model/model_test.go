package model

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

type freely struct{}

func (freely) Step() bool { return true }
func (freely) Hold(State) {}
func (freely) Drop(State) {}

// positionOf knows the position of reads that state it.
func positionOf(o *histories.Op) int64 {
	position := o.From
	if o.Kind == histories.Scan {
		position = 0
	}
	for _, r := range o.Records { // which may be in any order
		position = min(position, r.Offset)
	}
	return position
}

// accepts asks porcupine whether the model accepts the operations.
func accepts(ops []histories.Op, opt modeltest.Options) bool {
	var reduced []Op
	for i := range ops {
		if op, ok := Translate(&ops[i], opt.Config(), positionOf(&ops[i])); ok {
			reduced = append(reduced, op)
		}
	}
	log := Compile(reduced, Options{Dense: opt.Dense, Start: modeltest.StartOf(ops, opt)})
	return porcupine.CheckOperations(log.CommittedLog(freely{}), log.Operations())
}

// TestAgreesWithEnumeration compares porcupine over this model with an
// enumeration of all linearizations, on legal and on corrupted histories, for
// both promises and both kinds of offsets.
func TestAgreesWithEnumeration(t *testing.T) {
	for _, opt := range []modeltest.Options{{}, {Linearizable: true}, {Dense: true}, {Dense: true, Linearizable: true},
		{Start: 2}, {Start: 2, Linearizable: true}, {Start: 2, Dense: true}, {Start: 2, Dense: true, Linearizable: true}} {
		t.Run(fmt.Sprintf("linearizable=%v,dense=%v,start=%d", opt.Linearizable, opt.Dense, opt.Start), func(t *testing.T) {
			opt.Clients, opt.Ops, opt.Resend, opt.Deletes = 3, 7, true, true
			var legal, illegal int
			rapid.Check(t, func(t *rapid.T) {
				for range 50 {
					ops := modeltest.Legal(t, opt)
					for range draw.Int(t, 0, 3, "corruptions") {
						ops = modeltest.Corrupt(t, ops)
					}
					if _, err := histories.New("drawn", histories.Header{}, ops, nil); err != nil {
						continue
					}
					want, known := modeltest.Linearizable(ops, opt, positionOf, modeltest.Patient)
					if got := accepts(ops, opt); known && got != want {
						t.Fatalf("porcupine says %v, enumeration says %v\n%s", got, want, list(ops))
					}
					if want {
						legal++
					} else {
						illegal++
					}
				}
			})
			t.Logf("%d legal and %d illegal histories", legal, illegal)
			if total := legal + illegal; legal < total/25 || illegal < total/25 {
				t.Errorf("only %d legal and %d illegal histories were drawn", legal, illegal)
			}
		})
	}
}

// TestAcceptsLegal draws histories that a committed log produced.
func TestAcceptsLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opt := modeltest.Options{Linearizable: rapid.Bool().Draw(t, "linearizable"), Dense: rapid.Bool().Draw(t, "dense"),
			Start: int64(draw.Int(t, 0, 2, "start")), Clients: 5, Ops: 40, Scan: true}
		ops := modeltest.Legal(t, opt)
		if !accepts(ops, opt) {
			t.Fatalf("a legal history is rejected\n%s", list(ops))
		}
	})
}

func list(ops []histories.Op) string {
	s := ""
	for i := range ops {
		s += ops[i].String() + "\n"
	}
	return s
}
