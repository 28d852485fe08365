package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/isrcheck/isrcheck/histories"
)

// hostile would set the title of a terminal, move its cursor, turn its text
// around and break its lines.
const hostile = "\x1b]0;title\x07\x1b[31m\r\x1b[K\u009b2J\u202e\u2066\r\b\x7f\u2028\u00ad\U000e0001"

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n":                         "a\tb\n",
		"größe \U0001f600":               "größe \U0001f600",
		ink(true).red("x"):               "\x1b[31mx\x1b[0m",
		"\x1b[31mx\x1b[0m\r\x1b[K":       `\u001b[31mx\u001b[0m\u000d\u001b[K`,
		"\x1b[2J\r\u009b":                `\u001b[2J\u000d\u009b`,
		"\u202e\U000e0001\xff\ufffd\x00": `\u202e\udb40\udc01\xff` + "\ufffd" + `\u0000`,
	} {
		var out bytes.Buffer
		if n, err := (visible{&out}).Write([]byte(text)); n != len(text) || err != nil || out.String() != want {
			t.Errorf("%q is written as %q (%d, %v), want %q", text, out.String(), n, err, want)
		}
	}
}

// TestNothingDrivesTheTerminal puts all that into every place of a history that
// takes any text, and has every command speak of it. Programs, which ask for
// JSON, get the text itself.
func TestNothingDrivesTheTerminal(t *testing.T) {
	text := strings.Trim(string(mustJSON(t, hostile)), `"`)
	marked := "\u009b2J\u202ek\u2028" // a fault is the text of its line, which control characters cannot be in
	for what, body := range map[string]string{
		"process":   `1-2 "P" send 1 => ok @0` + "\n3 nemesis " + marked + "\n4-5 \"S" + text + `" scan => ok [] end=0`,
		"value":     `1-2 P send "` + text + `" => ok @0` + "\n3 client P note " + marked + "\n4-5 S scan => ok [] end=0",
		"partition": `1-2 P send 1 on="` + text + `/0" => ok @0` + "\n3-4 S scan on=\"" + text + `/0" => ok [] end=0`,
		"code":      `1-2 P send 1 tx="` + text + `" key="` + text + `" => fail code="` + text + `"` + "\n3-4 S scan => ok [0:1] end=1",
		"invariant": "1 client S note invariant " + marked + " broken: " + marked + "\n2-3 S scan => ok [] end=0",
		"error":     `1-2 P ` + marked + ` => ok`,
		"word":      `1-2 P send 1 => ` + marked,
		"twice":     `1-2 P send 1 ` + text + `=1 => ok`,
		"schedule":  "schedule\n0 " + marked + "\nend\n1-2 P send 1 => ok @0",
	} {
		path := filepath.Join(t.TempDir(), "h"+marked+".hist")
		if err := os.WriteFile(path, []byte("history 1\n"+body+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"verify", path}, {"verify", "--json", path}, {"verify", "--expect", path}, {"explain", path},
			{"minimize", path, "-o", path + ".hist", "--force"}, {"convert", path, "-o", path + ".jsonl"}, {"replay", path}} {
			var out, err bytes.Buffer
			run(args, nil, &out, &err)
			if said := out.String() + err.String(); said == "" || strings.ContainsFunc(said, drives) {
				t.Errorf("%s: %s says %q", what, args[0], said)
			}
			if args[1] == "--json" && !json.Valid(out.Bytes()) {
				t.Errorf("%s: %s says %q, which is no JSON", what, args[0], &out)
			}
		}
	}
}

func drives(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028')
}

// TestJSONKeepsValues reads from the JSON of verify what the history holds:
// integers of 64 bits and the text itself.
func TestJSONKeepsValues(t *testing.T) {
	value := mustJSON(t, hostile)
	in := "history 1\n1-2 P send 9223372036854775807 => ok @0\n3-4 \"" + `\u202e` + "\" send " + string(value) + " => ok @1\n5-6 S scan => ok [] end=0\n"
	var out, err bytes.Buffer
	if code := run([]string{"verify", "--json", "-"}, strings.NewReader(in), &out, &err); code != exitViolation {
		t.Fatalf("exit code %d: %s", code, &err)
	}
	var j jsonJudgement
	if err := json.Unmarshal(out.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, f := range j.Findings {
		all += f.Says
		for _, o := range f.Operations {
			all += o.Text
		}
	}
	if !strings.Contains(all, "9223372036854775807") || !strings.Contains(all, histories.String(hostile).String()) {
		t.Errorf("the findings are %s", all)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(text, []byte("\x7f"), []byte(`\u007f`))
}
