package checker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// TestEnding judges recordings that lack their end in several ways, while they
// are read and as a whole: they are never ok, and what is wrong stays wrong.
func TestEnding(t *testing.T) {
	const (
		send = `{"time":1,"process":"P1","type":"invoke","f":"send","values":[1]}
{"time":2,"process":"P1","type":"ok","f":"send","values":[1],"offset":0}
`
		begin = `{"time":1,"process":"P1","type":"invoke","f":"begin","tx":"T"}
{"time":1,"process":"P1","type":"ok","f":"begin","tx":"T"}
`
		commit = `{"time":2,"process":"P1","type":"invoke","f":"commit","tx":"T"}
{"time":2,"process":"P1","type":"ok","f":"commit","tx":"T"}
`
		scan = `{"time":3,"process":"S0","type":"invoke","f":"scan"}
{"time":4,"process":"S0","type":"ok","f":"scan","records":[[0,1]],"end":1}
`
		empty = `{"time":3,"process":"S0","type":"invoke","f":"scan"}
{"time":4,"process":"S0","type":"ok","f":"scan","records":[],"end":0}
`
	)
	note := func(text string) string {
		h, err := histories.New("", histories.Header{}, nil, []histories.Mark{{Time: 5, Kind: histories.Note, Process: "recorder", Text: text, Offset: histories.None}})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := h.WriteEvents(&out); err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(out.String(), "\n")
		return line
	}
	for _, c := range []struct {
		name, header, text string
		want               checker.Verdict
		says               string
	}{
		{"in order", `,"x-end":"marked"`, send + scan + note(histories.Complete), checker.Conforms, ""},
		{"between two lines", `,"x-end":"marked"`, send + scan, checker.Undecided, "does not say that it is complete"},
		{"within a line", "", send + scan + `{"time":5,"proc`, checker.Undecided, histories.CutOff},
		{"within the end mark", `,"x-end":"marked"`, send + scan + note(histories.Complete)[:20], checker.Undecided, histories.CutOff},
		{"made before there were end marks", "", send + scan, checker.Conforms, ""},
		{"what says why it is not complete", `,"x-end":"marked"`, send + scan + note(histories.Incomplete+"no broker answers"), checker.Undecided, "the recording is not complete: no broker answers"},
		{"an answer not judged", "", send + scan + note(histories.Unjudged+"a hash"), checker.Undecided, "not judged: a hash"},
		{"an answer not judged of a transaction", "", strings.ReplaceAll(begin+send+commit+scan, `"f":"send"`, `"f":"send","tx":"T"`) + note(histories.Unjudged+"a hash"), checker.Undecided, "not judged: a hash"},
		{"an answer not judged, and a violation", "", send + empty + note(histories.Unjudged+"a hash"), checker.Violates, "not judged: a hash"},
		{"a violation", `,"x-end":"marked"`, send + empty + `{"time":5,"proc`, checker.Violates, histories.CutOff},
	} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		text := fmt.Sprintf(`{"history":1,"config":{"x-written":"as-it-goes"%s}}`+"\n%s", c.header, c.text)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		h, err := histories.ReadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		streamed, _, err := checker.CheckFile(t.Context(), path, checker.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		thorough := checker.Check(t.Context(), h, checker.Options{Engine: checker.Both})
		for how, r := range map[string]*checker.Result{"streamed": streamed, "thorough": thorough} {
			if r.Verdict != c.want || !strings.Contains(r.Reason+strings.Join(r.Notes, "\n"), c.says) {
				t.Errorf("%s, %s: %v (%s), notes %q", c.name, how, r.Verdict, r.Reason, r.Notes)
			}
		}
	}
}
