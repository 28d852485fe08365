package main

import (
	"bytes"
	"path/filepath"
	"strings"
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
			if got := timeline(h, evidence, maxFaults); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// TestExplanationsAreShort holds what is printed of each case to ten to twenty
// lines, a legal one's to fewer.
func TestExplanationsAreShort(t *testing.T) {
	files, err := filepath.Glob("../../histories/corpus/*/*.hist")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		h, err := histories.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := checker.Check(t.Context(), h, checker.Options{})
		checker.Explain(t.Context(), h, r, checker.Options{})
		text := (&app{}).explanation(h, judgement{file: file, header: h.Header(), result: r})
		if n := strings.Count(text, "\n"); n > maxExplained || n < 10 && r.Verdict == checker.Violates {
			t.Errorf("%d lines:\n%s", n, text)
		}
	}
}

// TestNothingFloodsTheTerminal gives everything that a history may hold at any
// length a megabyte. Programs, which ask for JSON, get it whole.
func TestNothingFloodsTheTerminal(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	many := strings.Repeat("1,", 1000)
	for _, text := range []string{
		"1-2 P1 send \"" + long + "\" => ok @0\n3 nemesis " + long + "\n4-5 C1 scan => ok [] end=0\n",
		"1-2 \"" + long + "\" send 1 on=\"" + long + "/0\" => ok @0\n3 client \"" + long + "\" crash\n4-5 C1 scan on=\"" + long + "/0\" => ok [] end=0\n",
		"1-2 P1 send " + strings.ReplaceAll(many, "1,", "\""+long[:500]+"\",") + "1 => ok @0\n4-5 C1 scan => ok [] end=0\n",
		"1 client S1 note invariant " + long + " broken: " + long + "\n",
		"1-2 P1 send 1 key=\"" + long + "\" tx=\"" + long + "\" => fail code=\"" + long + "\"\n3-4 C1 scan => ok [0:\"" + long + "\"] end=1\n",
	} {
		for _, command := range []string{"verify", "explain"} {
			var out, err bytes.Buffer
			code := run([]string{command, "-"}, strings.NewReader("history 1\n"+text), &out, &err)
			if out.Len()+err.Len() == 0 || out.Len()+err.Len() > 20_000 {
				t.Errorf("%s of %.40q: exit code %d and %d bytes on stdout, %d on stderr: %.300s", command, text, code, out.Len(), err.Len(), &out)
			}
		}
	}
}
