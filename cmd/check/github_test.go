package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnnotations(t *testing.T) {
	r := aReport()
	lines := annotations(&r)
	if len(lines) != 5 {
		t.Fatalf("%d annotations, want 5: %q", len(lines), lines)
	}
	for _, line := range lines {
		properties, text, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		if strings.ContainsAny(line, "\r\n") || strings.Count(properties, ":") > 0 {
			t.Errorf("what a history holds breaks out of %q", line)
		}
		if strings.Contains(text, "%0A, {{x}}") && !strings.Contains(text, "%250A") {
			t.Errorf("a percent sign stands for itself in %q", line)
		}
	}
	var out bytes.Buffer
	for _, p := range r.Parts {
		(&app{out: &results{to: visible{&out}}}).printPart(p)
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("what a history holds is a command: %s", line)
		}
	}
	for range 20 {
		p := &r.Parts[0]
		p.Items = append(p.Items, item{Index: len(p.Items), Name: "more", Verdict: "violation", Kind: wrongVerdict, Says: "x"})
	}
	if lines = annotations(&r); len(lines) != 10 || !strings.HasSuffix(lines[9], "::and 16 more, see the summary of the job") {
		t.Errorf("of 25 problems the annotations are %q", lines)
	}
}

func TestSummary(t *testing.T) {
	r := aReport()
	text := summary(&r, maxSummary)
	blocks := strings.Split(text, "\n~~~~~\n") // the second and the fourth are code
	if len(blocks) != 5 || !strings.Contains(blocks[1], "check gate") || !strings.Contains(blocks[3], "<b>&amp;") {
		t.Fatalf("the summary has no blocks of code for the command and what was found:\n%s", text)
	}
	for _, outside := range []string{blocks[0], blocks[2], blocks[4]} {
		if strings.ContainsAny(outside, "<`&") {
			t.Errorf("what histories and flags hold stands outside of the blocks:\n%s", outside)
		}
	}
	if strings.ContainsAny(text, "\x00\x1b\r") {
		t.Errorf("the summary has control characters: %q", text)
	}
	const n = 20_000
	for i := range n {
		r.Parts[0].Items = append(r.Parts[0].Items, item{Index: 5 + i, Name: fmt.Sprint("case ", i), Verdict: "violation", Kind: wrongVerdict, Says: strings.Repeat("\x00", 40)})
	}
	text = summary(&r, maxSummary)
	shown := strings.Count(text, "\ncorpus: case ")
	if len(text) > maxSummary || len(text) < maxSummary/2 || !strings.Contains(text, fmt.Sprintf("\nand %d more\n", n-shown+1)) {
		t.Errorf("of %d problems the summary has %d in %d bytes, and ends %q", n, shown, len(text), text[len(text)-100:])
	}
}

// TestInWorkspace has the files of a step that works in a folder of the workspace.
func TestInWorkspace(t *testing.T) {
	workspace := t.TempDir()
	step, outside := filepath.Join(workspace, "a log", "tests"), filepath.Join(t.TempDir(), "outside.hist")
	if err := os.MkdirAll(filepath.Join(step, "cases"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(step)
	inside := filepath.Join(step, "cases", "lost.hist")
	for _, file := range []string{inside, outside} {
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GITHUB_WORKSPACE", "")
	if got := inWorkspace("cases/lost.hist"); got != "cases/lost.hist" {
		t.Errorf("without a workspace the file is %s", got)
	}
	t.Setenv("GITHUB_WORKSPACE", workspace)
	for file, want := range map[string]string{
		"cases/lost.hist": "a log/tests/cases/lost.hist", inside: "a log/tests/cases/lost.hist",
		outside: outside, "histories/corpus/failing/embedded.hist": "histories/corpus/failing/embedded.hist", "": "",
	} {
		if got := inWorkspace(file); got != want {
			t.Errorf("%s is %s in the workspace, want %s", file, got, want)
		}
	}
}
