package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

// TestWitness compares what is said of histories that no rule has a name for with
// the constraints that cross in them. Who should have answered otherwise is marked.
func TestWitness(t *testing.T) {
	const head = "history 1\nconfig acks=all reads=linearizable"
	for _, c := range []struct{ ops, says, named string }{
		{ // an end that a batch lies across, known only by what was read of it
			"\n7-30 P1 send 4,5 => info\n8-10 P2 list latest => ok @1\n11-12 P2 fetch from=0 => ok [0:4]\n",
			"The log ended at 1, as P2 was told, and that is inside a batch, of records 4,5", "7 8! 11"},
		{ // a batch of which the parts are apart
			"\n1-4 P send 1,2 => info\n5-6 S scan => ok [0:1 2:2] end=3\n",
			"S was handed record 1 at offset 0 and handed nothing at offset 1, and P sent records 1,2 together: no order of the sends explains that", "1 5!"},
		{ // an answer against itself
			"\n0-1 P2 fetch from=0 => ok [] hw=0 start=2\n",
			"P2 was told that the log ended at 0, and in the same answer that it had come to 2", "0!"},
		{ // one answer against another
			"\n1- P send 1\n3-4 C fetch from=0 => ok [] hw=1\n5-6 S scan => ok [0:1] end=1\n",
			"Record 1 is at offset 0, as S was told, and C was handed nothing there", "3! 5"},
		{ // two answers that only a search finds to cross
			" offsets=dense\n1-20 P1 send 1,2 => info\n1-20 P2 send 1,2,3 => info\n2-4 C1 list latest => ok @2\n3-5 C2 list latest => ok @3\n",
			"C1 was told that the log ended at 2, and C2 was told that the log ended at 3, and P2 sent records 1,2,3 together: no order of the sends explains that", "1 2 3!"},
		{ // one answer that no send explains
			" offsets=dense\n1-20 P1 send 1,2 => info\n1-20 P2 send 1,3 => info\n2-3 C1 list latest => ok @3\n",
			"C1 was told that the log ended at 3, and P2 sent records 1,3 together: no order of the sends explains that", "1 2!"},
		{ // a send that was told its offset and may have no effect is an answer, too
			" offsets=dense\n4-5 p0 send 1,2 => info @1\n4-7 p1 list latest => ok @2\n",
			"p0 was told that records 1,2 begin at offset 1, and p1 was told that the log ended at 2, and the only send by then has 2 records: no order of the sends explains that", "4! 4"},
		{ // an acknowledgement without an offset: what it says is needed, or not
			" offsets=dense\n22-24 p0 send 1 => ok @-\n38-38 p1 list latest => ok @2\n",
			"p1 was told that the log ended at 2, and no send explains what offset 1 holds", "38!"},
		{ // the same known by an acknowledgement, and by a record
			" offsets=dense\n8-13 p1 send 1 => ok @1\n",
			"p1 was told that record 1 is at offset 1, and no send explains what offset 0 holds", "8!"},
		{ // a record that was acknowledged elsewhere
			" offsets=dense reads=committed\n3-5 p0 send 1 acks=1 => ok @0\n4-6 p2 send 2,3,4 => ok @1\n5-5 p1 fetch from=0 => ok [0:2] hw=1\n9-9 p3 fetch from=3 => ok [3:4]\n",
			"p1 was handed record 2 at offset 0, and p2 was told that it is at offset 1", "4 5!"},
		{ // one that was said to be elsewhere if it took effect
			"\n1-2 P1 send 1 => info @0\n5-6 C1 scan => ok [1:1] end=2\n",
			"C1 was handed record 1 at offset 1, and P1 was told that it is at offset 0", "1 5!"},
		{ // the record that is at the offset, not the first of its batch
			" offsets=dense\n1-2 P1 send 1,7 => ok @0\n3-4 P2 send 7,8 => ok @1\n",
			"Offset 1 was given away twice, both times for record 7", "1 3!"},
		{ // a batch that has to come as a whole, after the sends that were needed before
			" offsets=dense\n1-2 P1 send 1 => ok @0\n3-4 L list latest => ok @1\n5-6 U send 2,3 => info\n7-8 L list latest => ok @2\n",
			"L was told that the log ended at 1, and then L was told that the log ended at 2, and U sent records 2,3 together: no order of the sends explains that", "3 5 7!"},
		{
			" offsets=dense\n22-24 p0 send 1 => ok @-\n38-38 p1 fetch from=0 => ok []\n",
			"p0 was told that record 1 took effect, and then p1 was handed nothing from offset 0 on: no order of the sends explains that", "22 38!"},
		{ // a copy that no landing of its batch explains
			" enable.idempotence=false\n1-2 P send 1,2,3 => ok @-\n5-6 S scan => ok [0:1 1:2 2:3 4:2 5:3] end=6\n",
			"S was handed nothing at offset 3 and handed record 2 at offset 4, and P sent records 1,2,3 together: no order of the sends explains that", "1 5!"},
	} {
		settings := head
		if strings.Contains(c.ops, "reads=") {
			settings = "history 1\nconfig acks=all"
		}
		if !strings.Contains(c.ops, idemKey) {
			settings += " " + idemKey + "=true"
		}
		h, err := histories.Parse("witness", []byte(settings+c.ops))
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
				if e.Should != "" {
					call += "!"
				}
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

// TestRightEnd asks which ends an answer might have told instead of one that fits no
// order.
func TestRightEnd(t *testing.T) {
	for ops, want := range map[string]string{
		"1-2 P send 1 => ok @0\n3-4 L list latest => ok @1\n5-6 U send 2,3 => info\n7-8 L list latest => ok @2\n": "been told that the log ended at 1 or 3",
		"1-2 P send 1 => ok @0\n5-6 U send 2,3 => info\n5-6 V send 4,5,6,7 => info\n7-8 L list latest => ok @4\n": "been told that the log ended at 3 or 5",
		"3-4 U send 2,3 => info\n7-8 L list latest => ok @1\n":                                                    "been told that the log ended at 0 or 2",
	} {
		h, err := histories.Parse("ends", []byte("history 1\nconfig acks=all reads=linearizable enable.idempotence=true offsets=dense\n"+ops))
		if err != nil {
			t.Fatal(err)
		}
		advice := ""
		for _, e := range Check(context.Background(), h, Options{}).first().Evidence {
			advice += e.Should
		}
		if advice != want {
			t.Errorf("%q, want %q:\n%s", advice, want, ops)
		}
	}
}

// TestNamedAlready sees that what a rule says of all answers that cross is not said
// again.
func TestNamedAlready(t *testing.T) {
	for _, c := range []struct{ ops, want string }{
		{"2- p0 send 1\n4-4 p1 scan => ok [0:1] end=0\n", "[early-read]"},
		{"2- p0 send 1\n4-4 p1 scan => ok [0:1] end=0\n6-7 p1 fetch from=3 => ok [] hw=3\n", "[early-read not-linearizable]"},
	} {
		h, err := histories.Parse("named", []byte("history 1\nconfig acks=all reads=linearizable enable.idempotence=true offsets=dense\n"+c.ops))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(Check(context.Background(), h, Options{Engine: Both}).Names()); got != c.want {
			t.Errorf("%s, want %s:\n%s", got, c.want, c.ops)
		}
	}
}

// drawWeak draws a history that is likely illegal, and in which some
// acknowledgements promise less; nil if none came of it.
func drawWeak(t *rapid.T) *histories.History {
	opt := drawOptions(t, 8)
	ops := modeltest.Legal(t, opt)
	for range draw.Int(t, 1, 3, "corruptions") {
		ops = modeltest.Corrupt(t, ops)
	}
	ops = slices.Clone(ops)
	for i := range ops {
		if o := &ops[i]; o.Kind == histories.Send && o.Outcome == histories.OK {
			switch draw.Int(t, 0, 5, "weak") {
			case 0:
				o.Acks = "1"
			case 1:
				o.Offset = histories.None
			case 2:
				o.Outcome = histories.Info // and the offset is known
			}
		}
	}
	if !wellFormed(ops) {
		return nil
	}
	return build(t, opt, ops)
}

// TestWitnessesProve demands of every history that no rule has a name for that
// operations are named, one of which should have answered otherwise. All but a few
// name a handful, and these with what they depend on are a violation by themselves.
func TestWitnessesProve(t *testing.T) {
	witnesses, missed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 60 {
			h := drawWeak(t)
			if h == nil {
				continue
			}
			r := Check(context.Background(), h, Options{})
			for _, f := range r.Findings {
				if f.Name != notLinearizable {
					continue
				}
				witnesses++
				advised := slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Should != "" })
				if f.Says == "" || !advised {
					t.Fatalf("%s: %v\n%s", f.Says, f.Evidence, h.AppendNotation(nil))
				}
				m := newShortening(context.Background(), h, r, MinimizeOptions{})
				if m.target = f; len(f.Evidence) > mostNamed || f.Allowed == "" && !violates(m) {
					missed++
					t.Logf("%s: %v\n%s", f.Says, f.Evidence, h.AppendNotation(nil))
				}
			}
		}
	})
	t.Logf("%d witnesses, %d of which need more", witnesses, missed)
	if witnesses < 20 || missed > 2+witnesses/200 {
		t.Errorf("%d histories had no other name, and %d of them are not proven by what is named", witnesses, missed)
	}
}

// violates reports whether a part of a handful of operations is a violation: of
// fewer answers a rule may have a name.
func violates(m *shortening) bool {
	for k := range m.proofs() {
		if part := m.part(k); part != nil && Check(context.Background(), part, Options{}).Verdict == Violates {
			return true
		}
	}
	return false
}
