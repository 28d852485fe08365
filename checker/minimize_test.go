package checker

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/model/modeltest"
	"pgregory.net/rapid"
)

func TestMinimize(t *testing.T) {
	tests := []struct{ name, history, want string }{
		{"what proves it, and no more",
			`history 1
config acks=all
# A comment about an operation that goes.
1-2 P1 send 1 => ok @0
3-4 P2 send 2 on=t/1 => ok @0
5-6 P1 send 3 => ok @1
7 nemesis crash broker=1
8-9 C1 list latest => ok @2
10-11 C1 scan => ok [0:1] end=1
12-13 C2 scan on=t/1 => ok [0:2] end=1
`, `history 1
config acks=all
note minimized: records whose sends are left out are left out of the answers too
expect violation lost-write
5-6 P1 send 3 => ok @1
10-11 C1 scan => ok [] end=1
`},
		{"values that are not needed leave their batch and every answer",
			`history 1
note source=somewhere
1-2 P1 send 1,2,3,4 => ok @0
3-4 C1 scan => ok [0:1 1:2 3:4] end=4
`, `history 1
note source=somewhere
note minimized: records whose sends are left out are left out of the answers too
expect violation lost-write
1-2 P1 send 2,3 => ok @1
3-4 C1 scan => ok [1:2] end=4
`},
		{"a dense log that loses records is sparse",
			`history 1
config offsets=dense
1-2 P1 send 1,2,3 => ok @0
3-4 C1 scan => ok [0:1 1:2] end=2
`, `history 1
config offsets=sparse
note minimized: records whose sends are left out are left out of the answers too
expect violation lost-write
1-2 P1 send 3 => ok @2
3-4 C1 scan => ok [] end=2
`},
		{"a lost tail is one lost record, and the log's end tells of it",
			`history 1
config acks=all offsets=dense reads=linearizable enable.idempotence=true
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 P1 send 3 => ok @2
7-8 C1 fetch from=0 => ok [0:1 1:2 2:3] hw=3
9-10 C1 scan => ok [0:1] end=1
`, `history 1
config acks=all offsets=sparse reads=linearizable enable.idempotence=true
note minimized: records whose sends are left out are left out of the answers too
expect violation lost-write,stale-read
3-4 P1 send 2 => ok @1
9-10 C1 scan => ok [] end=1
`},
		{"the consequence of an early read has a smaller number",
			`history 1
config acks=all offsets=dense
1-2 P1 send 1 => ok @0
3-4 C1 fetch from=0 => ok [0:1 1:2] hw=2
5-6 P1 send 2 => ok @1
7-8 P1 send 3 => ok @2
9-10 C2 scan => ok [0:1 1:2 2:3] end=3
`, `history 1
config acks=all offsets=sparse
note minimized: records whose sends are left out are left out of the answers too
expect violation early-read,end-regression
3-4 C1 fetch from=0 => ok [1:2] hw=2
5-6 P1 send 2 => ok @1
`},
		{"a cut goes through a hole that is not the finding itself",
			`history 1
config acks=all offsets=dense
1-2 P1 send 1 => ok @-
3-4 P1 send 2 => ok @-
5-6 P1 send 3 => ok @2
7-8 P1 send 4 => ok @3
9-10 C1 scan => ok [2:3 3:4] end=4
`, `history 1
config acks=all offsets=dense
note minimized: records whose sends are left out are left out of the answers too
note minimized: the log is cut off at its end: no answer has or tells more
expect violation lost-write,gap
1-2 P1 send 1 => ok @-
9-10 C1 scan => ok [] end=1
`},
		{"that something has to stay is no progress",
			`history 1
config acks=all enable.idempotence=true offsets=dense
1-2 P1 send 1,"1","1" acks=1 => ok @0
3-4 P2 send 2,"a b","1" => ok @4
5-6 P3 send 1 acks=1 => ok @6
`, `history 1
config acks=all enable.idempotence=true offsets=dense
expect violation not-linearizable
1-2 P1 send 1,"1","1" acks=1 => ok @0
3-4 P2 send 2,"a b","1" => ok @4
`},
		{"a gap is one in a dense log",
			`history 1
config offsets=dense
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @2
5-6 C1 scan => ok [0:1 2:2] end=3
`, `history 1
config offsets=dense
expect violation gap
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @2
5-6 C1 scan => ok [0:1 2:2] end=3
`},
		{"of a dense log a hole is left, with its neighbours",
			`history 1
config offsets=dense
1-2 P1 send 1 => ok @0
3-4 P1 send 2,3 => ok @1
5-6 P1 send 4 => ok @4
7-8 P1 send 5 => ok @5
9-10 C1 fetch from=1 => ok [1:2 2:3]
11-12 C1 scan => ok [0:1 1:2 2:3 4:4 5:5] end=6
`, `history 1
config offsets=dense
note minimized: records whose sends are left out are left out of the answers too
note minimized: what is below the log start that process minimized is told is left out
note minimized: the log is cut off at its end: no answer has or tells more
expect violation gap
3-4 P1 send 2,3 => ok @1
5-6 P1 send 4 => ok @4
11-12 C1 scan => ok [1:2 2:3 4:4] end=5
13-13 minimized list earliest => ok @1
`},
		{"a send that nobody is sure of stays with those who read it",
			`history 1
1- P1 send 1
2-3 P2 send 2 on=t/1 => ok @0
4-5 C1 fetch from=0 => ok [0:1]
6-7 C1 scan => ok [] end=0
`, `history 1
expect violation read-then-lost
1- P1 send 1
4-5 C1 fetch from=0 => ok [0:1]
6-7 C1 scan => ok [] end=0
`},
		{"what an excuse would excuse is not accused",
			`history 1
config unclean.leader.election.enable=true
1-2 P1 send 1 => ok @0
3-4 C1 scan => ok [0:7] end=1
`, `history 1
config unclean.leader.election.enable=true
expect violation phantom
3-4 C1 scan => ok [0:7] end=1
`},
		{"what the cluster confesses",
			`history 1
1-2 P1 send 1 => ok @0
3 nemesis invariant HwBacked broken: broker 2 lacks offset 0
4 nemesis heal
5-6 C1 scan => ok [0:1] end=1
`, `history 1
expect violation invariant HwBacked
3 nemesis invariant HwBacked broken: broker 2 lacks offset 0
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := histories.Parse("test", []byte(test.history))
			if err != nil {
				t.Fatal(err)
			}
			got, checks := Minimize(context.Background(), h, MinimizeOptions{})
			if text := string(got.AppendNotation(nil)); text != test.want {
				t.Errorf("got after %d checks:\n%swant:\n%s", checks, text, test.want)
			}
		})
	}
}

func TestMinimizeWhatIsFine(t *testing.T) {
	h, err := histories.Parse("test", []byte("history 1\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [0:1] end=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, checks := Minimize(context.Background(), h, MinimizeOptions{}); got != h || checks != 1 {
		t.Errorf("a legal history became %q in %d checks", got.AppendNotation(nil), checks)
	}
}

// TestMinimizeCorpus makes every violation of the corpus smaller or leaves it
// as it is; what is left meets the expectation that it states, names the rule
// that was first, and can't be made smaller again.
func TestMinimizeCorpus(t *testing.T) {
	cases, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range cases {
		if h.Header().Expect.Verdict != "violation" {
			continue
		}
		whole := Check(context.Background(), h, Options{})
		small, _ := Minimize(context.Background(), h, MinimizeOptions{Known: whole})
		r := Check(context.Background(), small, Options{})
		if !r.Meets(small.Header().Expect) || r.first().Name != whole.first().Name {
			t.Errorf("%s: minimized, it is %s %v\n%s", h.Name(), r.Verdict, r.Names(), small.AppendNotation(nil))
		}
		if again, _ := Minimize(context.Background(), small, MinimizeOptions{}); !histories.Equal(small, again) {
			t.Errorf("%s: minimized again, it is\n%sinstead of\n%s", h.Name(), again.AppendNotation(nil), small.AppendNotation(nil))
		}
	}
}

// TestMinimizeRecording takes a record out of recordings of thousands of
// operations: two operations are left.
func TestMinimizeRecording(t *testing.T) {
	for _, h := range recordings(t) {
		if len(h.Ops()) < 1000 {
			continue
		}
		lost := spoil(t, h, func(r []histories.Record) []histories.Record { return slices.Delete(r, len(r)/2, len(r)/2+1) })
		small, checks := Minimize(context.Background(), lost, MinimizeOptions{Budget: 100})
		if len(small.Ops()) > 4 || checks > 100 {
			t.Errorf("%s: %d of %d operations are left after %d checks", h.Name(), len(small.Ops()), len(h.Ops()), checks)
		}
	}
}

func TestMinimizeWithinLimits(t *testing.T) {
	h, err := histories.Parse("test", []byte("history 1\n1-2 P1 send 1,2 => ok @0\n3-4 C1 list latest => ok @2\n5-6 C1 scan => ok [0:1] end=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for budget := 1; budget < 12; budget++ {
		if _, checks := Minimize(context.Background(), h, MinimizeOptions{Budget: budget}); checks > budget {
			t.Errorf("%d checks of %d", checks, budget)
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	small, _ := Minimize(ended, h, MinimizeOptions{})
	if len(small.Ops()) != len(h.Ops()) || small.Header().Expect.Verdict != "violation" {
		t.Errorf("without time: %q", small.AppendNotation(nil))
	}
}

// TestMinimizeSaysTheSame corrupts histories. What is left of a violation says
// the same of the same partition, has no findings of other names, and comes
// out the same again.
func TestMinimizeSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 8 {
			opt := drawOptions(t, 10)
			ops := modeltest.Legal(t, opt)
			for range draw.Int(t, 1, 3, "corruptions") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			whole := Check(context.Background(), h, Options{})
			if whole.Verdict != Violates {
				continue
			}
			small, _ := Minimize(context.Background(), h, MinimizeOptions{})
			part := Check(context.Background(), small, Options{})
			checkPart(t, whole, part)
			if !part.Meets(small.Header().Expect) {
				t.Fatalf("%s %v\n%s", part.Verdict, part.Names(), small.AppendNotation(nil))
			}
			if again, _ := Minimize(context.Background(), h, MinimizeOptions{}); !histories.Equal(small, again) {
				t.Fatalf("the second time:\n%sinstead of:\n%s", again.AppendNotation(nil), small.AppendNotation(nil))
			}
		}
	})
}

func checkPart(t *rapid.T, whole, part *Result) {
	target := whole.first()
	if !slices.ContainsFunc(part.Findings, func(f Finding) bool { return says(f, target) }) {
		t.Fatalf("%q is gone, %v is left", target.Says, part.Names())
	}
	for _, name := range part.Names() {
		if !slices.Contains(whole.Names(), name) {
			t.Fatalf("%s appeared: %s", name, strings.Join(whole.Names(), ","))
		}
	}
}
