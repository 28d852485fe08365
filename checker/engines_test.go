package checker

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// drawn returns how many histories a property draws in each of the 100 checks
// that rapid makes: usual histories altogether, or as many as the variable
// ISRCHECK_HISTORIES says.
func drawn(t *testing.T, usual int) int {
	if s := os.Getenv("ISRCHECK_HISTORIES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 100 {
			t.Fatalf("ISRCHECK_HISTORIES is %q, expected a number of at least 100", s)
		}
		usual = n
	}
	return usual / 100
}

// TestEnginesAgree compares the linear engine, porcupine on windows, porcupine
// on everything and an enumeration of all lives of a log.
func TestEnginesAgree(t *testing.T) {
	count := map[string]int{}
	n, patience := drawn(t, 52_000), modeltest.Brief
	if n > 520 {
		patience = modeltest.Patient
	}
	least := n
	if testing.Short() { // four judges of one goroutine each
		n, least = 4, 0
	}
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := drawOptions(t, 9)
			opt.Start = int64(max(0, draw.Int(t, 0, 5, "start")-3))
			if opt.Retries = opt.Retries && draw.OneIn(t, 4, "bounded"); opt.Retries {
				opt.Ops = 4 // the enumeration is exponential in what may land again
			}
			ops := modeltest.Legal(t, opt)
			for range draw.Int(t, 0, 3, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			s := searchOf(h)
			s.options.Start = modeltest.StartOf(ops, opt)
			at, _ := positions(h)
			want := porcupine.Illegal
			legal, known := modeltest.Linearizable(h.Ops(), opt, func(o *histories.Op) int64 { return asked(h, o, at) }, patience)
			if !known {
				count["too many orders"]++
				continue
			} else if legal {
				want = porcupine.Ok
			}
			linear, windows, whole := s.linear(), s.windows(s.log()), s.whole()
			if linear == porcupine.Unknown {
				linear = windows
				count["searched"]++
			}
			count[string(want)]++
			// What retries may add is bounded in the enumeration only.
			if linear != whole || windows != whole || whole != want && !(opt.Retries && whole == porcupine.Ok) {
				t.Fatalf("linear engine %s, windows %s, porcupine %s, enumeration %s with %+v\n%s", linear, windows, whole, want, opt, h.AppendNotation(nil))
			}
		}
	})
	t.Log(count)
	for _, k := range []string{"searched", string(porcupine.Ok), string(porcupine.Illegal)} {
		if count[k] < least {
			t.Errorf("only %d histories were %s", count[k], k)
		}
	}
}

// TestEnginesAgreeOnTheCorpus compares the engines on the cases, whose values
// nobody draws.
func TestEnginesAgreeOnTheCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		s := searchOf(h)
		linear, windows, whole := s.linear(), s.windows(s.log()), s.whole()
		if linear != porcupine.Unknown && linear != whole || windows != whole {
			t.Errorf("%s: linear engine %s, windows %s, porcupine %s", h.Name(), linear, windows, whole)
		}
	}
}

// searchOf returns the engines' work on the only partition of a history, with
// the rules left out.
func searchOf(h *histories.History) *search {
	j := newJudge(h, Options{})
	if len(j.partitions) == 0 {
		j.partitions = append(j.partitions, newPartition("t/0", h.Config(), nil, nil, nil))
	}
	return j.newSearch(context.Background(), j.partitions[0])
}
