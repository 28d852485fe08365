package checker

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

func TestLosses(t *testing.T) {
	h, err := histories.Parse("test", []byte(`history 1
1-2 P1 send 1 => ok @0
3-4 P2 send 2,3 => ok @1
5-6 P1 send 4,5 => ok @3
7-8 P1 send 6 => ok @5
9-10 P2 send 7 => ok @6
11-12 P2 send 8 => info @-
13-14 P3 send 9 => ok @7
15-16 P4 send 10 on=t/1 => ok @0
17-18 C1 scan => ok [0:1 2:3 5:6] end=6
19-20 C1 scan on=t/1 => ok [0:10] end=1
`))
	if err != nil {
		t.Fatal(err)
	}
	value := histories.Int
	want := []Loss{
		{"t/0", "P1", "middle", 2, 4, value(4), value(5)},
		{"t/0", "P2", "first", 1, 3, value(2), value(2)},
		{"t/0", "P2", "last", 1, 3, value(7), value(7)},
		{"t/0", "P3", "all", 1, 1, value(9), value(9)},
	}
	if got := Check(context.Background(), h, Options{}).Lost; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestMovedIsNotLost has records that are elsewhere at the end, and one that nobody was
// promised and where another was before it was sent.
func TestMovedIsNotLost(t *testing.T) {
	for _, text := range []string{`history 1
1-2 P1 send 1 => ok @0
3-4 P2 send 2 => ok @1
5-6 S1 scan => ok [0:1 1:2] end=2
7-8 S1 scan => ok [0:2 1:1] end=2
`, `history 1
1-2 P1 send 1,2 => ok @0
3-9 P2 send 3,4 => info
5-6 S1 scan => ok [0:1 1:2 2:4] end=3
`} {
		h, err := histories.Parse("test", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if r := Check(context.Background(), h, Options{}); !slices.Contains(r.Names(), lostWrite) || len(r.Lost) != 0 {
			t.Errorf("%v, of which %v is lost\n%s", r.Names(), r.Lost, text)
		}
	}
}
