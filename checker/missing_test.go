package checker

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestGapOrLoss names what is wrong where an answer lacks a record that others
// hold and that is lost in the end.
func TestGapOrLoss(t *testing.T) {
	const (
		sent  = "1-2 P1 send 1,2,3 => ok @0\n"
		gap   = "5-6 C2 fetch from=0 => ok [0:1 2:3]\n"
		lost  = "20-21 S1 scan => ok [0:1 2:3] end=3\n"
		there = "20-21 S1 scan => ok [0:1 1:2 2:3] end=3\n"
	)
	for _, c := range []struct {
		name, config, ops string
		want, allowed     []string
	}{
		{"the gap overlaps with the only sight of the record, which is lost",
			"", sent + "3-9 C1 fetch from=0 => ok [0:1 1:2 2:3]\n" + gap + lost, []string{"lost-write", "read-then-lost"}, nil},
		{"the record was seen after the gap, and is lost",
			"", sent + gap + "7-9 C1 fetch from=0 => ok [0:1 1:2 2:3]\n" + lost, []string{"lost-write", "read-then-lost", "int-poll-skip"}, nil},
		{"the gap overlaps with a sight of the record, which is there in the end",
			"", sent + "3-9 C1 fetch from=0 => ok [0:1 1:2 2:3]\n" + gap + there, []string{"int-poll-skip"}, nil},
		{"the record may have been lost between its only sight and the gap",
			" unclean.leader.election.enable=true", sent + "3-9 C1 fetch from=0 => ok [0:1 1:2 2:3]\n" + gap, nil, []string{"lost-write"}},
		{"nothing explains the gap, whatever may be lost",
			" unclean.leader.election.enable=true", sent + gap + "7-9 C1 fetch from=0 => ok [0:1 1:2 2:3]\n", []string{"int-poll-skip"}, nil},
	} {
		h, err := histories.Parse(c.name, []byte("history 1\nconfig acks=all"+c.config+"\n"+c.ops))
		if err != nil {
			t.Fatal(err)
		}
		r := Check(context.Background(), h, Options{Engine: Both})
		var allowed []string
		for _, f := range r.Findings {
			if f.Allowed != "" {
				allowed = append(allowed, f.Name)
			}
		}
		if !slices.Equal(r.Names(), c.want) || !slices.Equal(allowed, c.allowed) || r.Verdict == Contradictory {
			t.Errorf("%s: %s %v, allowed %v; want %v, allowed %v", c.name, r.Verdict, r.Names(), allowed, c.want, c.allowed)
		}
	}
}

// TestHeldIsNotLost judges scans that hold a record behind the end that they tell. The
// end is wrong, or the record was shown too early: it is not lost.
func TestHeldIsNotLost(t *testing.T) {
	for _, ops := range []string{
		"1-2 P1 send 1 => ok @0\n3-4 S1 scan => ok [0:1] end=0\n",
		"1-2 P1 send 1,2,3 => ok @0\n3-4 S1 scan => ok [0:1 1:2 2:3] end=1\n",
		"1-2 P1 send 1 => ok @0\n3-4 C1 fetch from=0 => ok [0:1]\n5-6 S1 scan => ok [0:1] end=0\n",
	} {
		for _, promise := range []string{"", " reads=linearizable", " offsets=dense"} {
			h, err := histories.Parse("held", []byte("history 1\nconfig acks=all"+promise+"\n"+ops))
			if err != nil {
				t.Fatal(err)
			}
			names := Check(context.Background(), h, Options{Engine: Both}).Names()
			if !slices.Contains(names, "early-read") || slices.Contains(names, "lost-write") || slices.Contains(names, "read-then-lost") {
				t.Errorf("%v of%s\n%s", names, promise, ops)
			}
		}
	}
}
