package checker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
)

const importedFolder = "../histories/importers/testdata/"

// TestImportedCases judges the cases of Jepsen's Kafka checker, told in other
// words, and demands its findings, under our names. docs/import.md says where
// they differ, and why.
func TestImportedCases(t *testing.T) {
	idempotent := histories.Config{{Key: idemKey, Value: "true"}}
	cases := map[string]struct {
		config histories.Config
		want   string // the names, or the verdict if there are none
		says   []string
	}{
		"lost-write":             {nil, "lost-write,realtime-order", []string{"Record 10 was acknowledged at offset 0 and is gone", "Record 11 was acknowledged at offset 1 and is gone"}},
		"lost-write-unproven":    {nil, "ok", nil},
		"lost-write-atomic":      {nil, "lost-write", []string{"Record 20 was acknowledged at offset 0 and is gone"}},
		"poll-skip-3":            {nil, "poll-skip", []string{"Record 101 at offset 1 was skipped", "Record 102 at offset 2 was skipped"}},
		"poll-skip-5":            {nil, "poll-skip", []string{"Record 101 at", "Record 102 at", "Record 103 at", "Record 104 at"}},
		"poll-rewinds":           {nil, "ok", nil},
		"group-polls":            {nil, "ok", nil},
		"duplicate-aborted-poll": {idempotent, "offset-mismatch", []string{"Record 100 was acknowledged to P0 at offset 1, and readers find it at offset 11"}},
		"info-conflict":          {nil, "ok", nil},
		"info-conflict-proven":   {nil, "inconsistent-offsets", []string{"Offset 0 has two records: record 10 was acknowledged to P0, record 11 was acknowledged to P1"}},
	}
	files, _ := filepath.Glob(importedFolder + "jepsen/*.edn")
	if len(files) != len(cases) {
		t.Errorf("%d files, and %d are expected", len(files), len(cases))
	}
	for name, want := range cases {
		r, err := importers.ReadFile(importedFolder+"jepsen/"+name+".edn", importers.Options{Config: want.config})
		if err != nil {
			t.Fatal(err)
		}
		got := Check(context.Background(), r.History, Options{Engine: Both})
		verdict := got.Verdict.String()
		if got.Verdict == Violates {
			verdict = strings.Join(got.Names(), ",")
		}
		var says []string
		for _, f := range got.Findings {
			if f.Allowed == "" {
				says = append(says, f.Says)
			}
		}
		if verdict != want.want {
			t.Errorf("%s: %s (%s), want %s: %q", name, verdict, got.Reason, want.want, says)
		}
		for _, s := range want.says {
			if !strings.Contains(strings.Join(says, "\n"), s) {
				t.Errorf("%s: no finding says %q: %q", name, s, says)
			}
		}
	}
}

// TestUntoldAnswers reads a recording whose poll lacks what it is about: that is no
// answer to be judged, and the verdict is not ok.
func TestUntoldAnswers(t *testing.T) {
	const text = `{:index 0 :type :invoke :process 0 :f :send :value [[:send 0 1]]}
{:index 1 :type :ok :process 0 :f :send :value [[:send 0 [0 1]]]}
{:index 2 :type :invoke :process 1 :f :poll :value [[:poll]]}
{:index 3 :type :ok :process 1 :f :poll :value [[:poll {0 [[0 1] [nil 2]]}]]}
`
	for polled, want := range map[string]Verdict{text: Undecided, strings.Replace(text, " [nil 2]", "", 1): Conforms} {
		r, err := importers.Read("jepsen", strings.NewReader(polled), importers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := Check(t.Context(), r.History, Options{Engine: Both}); got.Verdict != want || want == Undecided && got.Reason != "not judged: a polled record without an offset (line 4)" {
			t.Errorf("%v (%s), want %v\n%s", got.Verdict, got.Reason, want, polled)
		}
	}
}

// TestImportedSamples judges the samples, which are of systems that are fine.
func TestImportedSamples(t *testing.T) {
	for _, name := range []string{"jepsen.edn", "maelstrom.edn", "maelstrom.txt", "s2.jsonl", "kv.txt"} {
		r, err := importers.ReadFile(importedFolder+name, importers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := Check(context.Background(), r.History, Options{Engine: Both}); got.Verdict != Conforms {
			t.Errorf("%s: %v", name, got.Err())
		}
	}
}

// TestImportedMistakes spoils the samples, and names what is wrong then.
func TestImportedMistakes(t *testing.T) {
	for _, test := range []struct{ file, old, new, want string }{
		{"jepsen.edn", "[[0 1] [1 2] [3 3]]", "[[0 1] [3 3]]", "lost-write"},
		{"jepsen.edn", "[[0 1] [1 2] [3 3]]", "[[0 1] [1 7] [3 3]]", "phantom"},
		{"jepsen.edn", "[[0 1] [1 2] [3 3]]", "[[1 2] [0 1] [3 3]]", "int-nonmonotonic-poll"},
		{"maelstrom.edn", `[[:poll {"9" [[1000 1] [1001 2]]}]], :time 5017000000`, `[[:poll {"9" [[1001 2]]}]], :time 5017000000`, "read-then-lost"},
		{"s2.jsonl", `{"CheckTailSuccess":{"tail":0}}`, `{"CheckTailSuccess":{"tail":1}}`, "not-linearizable"},
		{"s2.jsonl", `"tail":4,"stream_hash":17696474094527840933`, `"tail":4,"stream_hash":1`, "phantom"},
		{"s2.jsonl", `"tail":4,"stream_hash":17696474094527840933`, `"tail":3,"stream_hash":12527285318832583114`, "stale-read"},
		{"s2.jsonl", `"fencing_token":"tok-a7","match_seq_num":null`, `"fencing_token":"tok-a7","match_seq_num":0`, "aborted-read"},
		{"kv.txt", `"x 0 2 yx 0 5 y"`, `"x 0 2 y"`, "not-linearizable"},
		{"kv.txt", `"x 0 9 yx 2 0 y"`, `"x 0 9 yx 9 9 y"`, "phantom"},
		{"kv.txt", `"x 0 9 yx 2 0 y"`, `""`, "stale-read"},
		{"kv.txt", `"x 0 9 yx 2 0 y"`, `"x 0 2 yx 0 5 y"`, "stale-read"},
	} {
		text, err := os.ReadFile(importedFolder + test.file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), test.old) != 1 {
			t.Fatalf("%s holds %q %d times", test.file, test.old, strings.Count(string(text), test.old))
		}
		r, err := importers.Read(test.file, strings.NewReader(strings.Replace(string(text), test.old, test.new, 1)), importers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := Check(context.Background(), r.History, Options{})
		if !got.Meets(histories.Expect{Verdict: "violation", Names: []string{test.want}}) {
			t.Errorf("%s with %s: %v, want %s", test.file, test.new, got.Err(), test.want)
		}
	}
}

// TestPorcupineLogs judges the logs of a key-value store that porcupine's own
// tests judge, as they lie in its module. Their names tell the verdict.
func TestPorcupineLogs(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anishathalye/porcupine").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "test_data", "kv", "*.txt"))
	if len(files) != 6 {
		t.Fatalf("%d logs, want 6", len(files))
	}
	for _, file := range files {
		r, err := importers.ReadFile(file, importers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bad := strings.Contains(filepath.Base(file), "bad")
		if got := Check(context.Background(), r.History, Options{Engine: Both}); r.Source != "porcupine-kv" || (got.Verdict == Violates) != bad || got.Verdict == Contradictory {
			t.Errorf("%s: %v", filepath.Base(file), got.Err())
		} else if bad && got.first().Name != "stale-read" && got.first().Name != notLinearizable {
			t.Errorf("%s: every word in it was written, and the first finding is %s", filepath.Base(file), got.Err())
		}
	}
}

// TestSupersededReads has gets of what another put had taken the place of, or was
// not written yet: what they hold was written by somebody.
func TestSupersededReads(t *testing.T) {
	for _, test := range []struct {
		ops  string // one after the other: put or append a value, fail to put it, or get it
		want string // the first finding
		lost int    // kinds of what is not translated
	}{
		{"put 1, put 2, get 2", "", 1},
		{"put 1, put 2, get 1", "stale-read", 2},
		{"put 1, append x, put 2, get 1x", "stale-read", 3},
		{"append x, put 2, get x", "stale-read", 2},
		{"append x, put 2, get ", "stale-read", 1},
		{"put 1, put 2, put 3, get 1, get 3", "stale-read", 2},
		{"get 1, put 1, get 1", "early-read", 0},
		{"put 1, put 2, get 9", "phantom", 1}, // nobody wrote it
		{"put 1, fail 2, get 2", "aborted-read", 0},
		{"put 1, fail 2, get 1", "", 1},
	} {
		var log strings.Builder
		for op := range strings.SplitSeq(test.ops, ", ") {
			f, value, _ := strings.Cut(op, " ")
			asked, ended := `"`+value+`"`, "ok"
			if f == "fail" {
				f, ended = "put", "fail"
			}
			if f == "get" {
				asked = "nil"
			}
			fmt.Fprintf(&log, "{:process 0, :type :invoke, :f :%s, :key \"a\", :value %s}\n{:process 0, :type :%s, :f :%s, :key \"a\", :value \"%s\"}\n", f, asked, ended, f, value)
		}
		r, err := importers.Read("log", strings.NewReader(log.String()), importers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := Check(t.Context(), r.History, Options{Engine: Both})
		if first := got.first().Name; first != test.want || len(r.Untranslated) != test.lost {
			t.Errorf("%s: %v (%v), want %q; not translated: %q", test.ops, first, got.Err(), test.want, r.Untranslated)
		}
	}
}
