package checker

import (
	"context"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestWitness compares what is said of histories that no rule has a name for with
// the constraints that cross in them.
func TestWitness(t *testing.T) {
	const head = "history 1\nconfig acks=all reads=linearizable enable.idempotence=true"
	for _, c := range []struct{ ops, says, named string }{
		{ // an end that a batch lies across, known only by what was read of it
			"\n7-30 P1 send 4,5 => info\n8-10 P2 list latest => ok @1\n11-12 P2 fetch from=0 => ok [0:4]\n",
			"The log ended at 1, as P2 was told, and that is inside a batch", "7 8"},
		{ // an answer against itself
			"\n1-2 P1 send 1 => info\n3-4 S1 scan => ok [0:1] end=0\n",
			"S1 was handed record 1 at offset 0, and was told that the log ended at 0", "3"},
		{
			"\n0-1 P2 fetch from=0 => ok [] hw=0 start=2\n",
			"P2 was told that the log ended at 0, and in the same answer that it had come to 2", "0"},
		{ // two answers that only a search finds to cross
			" offsets=dense\n1-20 P1 send 1,2 => info\n1-20 P2 send 1,2,3 => info\n2-4 C1 list latest => ok @2\n3-5 C2 list latest => ok @3\n",
			"The first answer fits an order of the log, and with \"3-5 C2 list latest => ok @3\" only without \"2-4 C1 list latest => ok @2\"", "2 3"},
		{ // one answer that no send explains
			" offsets=dense\n1-20 P1 send 1,2 => info\n1-20 P2 send 1,3 => info\n2-3 C1 list latest => ok @3\n",
			"No order of the sends explains \"2-3 C1 list latest => ok @3\"", "2"},
	} {
		h, err := histories.Parse("witness", []byte(head+c.ops))
		if err != nil {
			t.Fatal(err)
		}
		r := Check(context.Background(), h, Options{Engine: Both})
		found := false
		for _, f := range r.Findings {
			if f.Name != notLinearizable {
				continue
			}
			found = true
			var named []string
			for _, e := range f.Evidence {
				call, _, _ := strings.Cut(e.Text, "-")
				named = append(named, call)
			}
			if got := strings.Join(named, " "); f.Says != c.says || got != c.named {
				t.Errorf("%q, naming %s; want %q, naming %s", f.Says, got, c.says, c.named)
			}
		}
		if !found {
			t.Errorf("%s %v, want not-linearizable:%s", r.Verdict, r.Names(), c.ops)
		}
	}
}
