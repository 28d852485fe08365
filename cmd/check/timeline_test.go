package main

import (
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

func TestTimeline(t *testing.T) {
	tests := []struct {
		what, history string
		evidence      []int
		want          string
	}{
		{"concurrent, at one instant, and never answered",
			`history 1
1-5 P1 send 1 => ok @0
2- P2 send 2
5-5 C1 assign from=0 => ok
5-6 C1 poll => ok [0:1]
`, []int{0, 1, 2, 3},
			`    line      time  P1        P2        C1
       2         1  + send 1
       3         2            + send 2
       2         5  ' ok @0
       4         5                      + assign from=0
       4         5                      ' ok
       5         5                      + poll
       5         6                      ' ok [0:1]
`},
		{"names and values of any kind",
			`history 1
1-2 "a b" send " => ","über" => ok @0
3 client "a b" note hidden
3 client c2 reset 7
4-5 c2 scan => ok [0:" => " 1:"über"] end=2
`, []int{0, 3},
			`    line      time  a b                   c2
       2         1  + send " => ","über"
       2         2  ' ok @0
       4         3  ~~~ client c2 reset 7
       5         4                        + scan
       5         5                        ' ok [0:" => " 1:"über"] end=2
`},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			h, err := histories.Parse("test", []byte(test.history))
			if err != nil {
				t.Fatal(err)
			}
			var evidence []checker.Evidence
			for _, i := range test.evidence {
				evidence = append(evidence, checker.Evidence{Index: i})
			}
			if got := timeline(h, evidence); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}
