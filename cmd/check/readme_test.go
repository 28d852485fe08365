package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme keeps what the README shows true: its histories have the verdicts
// it tells, its case is the run it was saved from, its commands exist.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := historiesIn(string(text))
	if len(blocks) != 2 {
		t.Fatalf("the README shows %d histories, want a case and a recording", len(blocks))
	}
	saved, recorded := blocks[0], blocks[1]
	prose := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n>", "\n")), " ")
	for _, test := range []struct {
		command []string
		input   string
		exit    int
	}{
		{[]string{"verify", "--expect", "-"}, saved, exitOK},
		{[]string{"replay", "-"}, saved, exitOK},
		{[]string{"replay", "-"}, regexp.MustCompile("(?m)^(bug|fingerprint) .*\n").ReplaceAllString(scheduleOf(saved), ""), exitOK},
		{[]string{"verify", "-"}, recorded, exitViolation},
		{[]string{"explain", "-"}, saved, exitViolation},
	} {
		var out, errs bytes.Buffer
		if got := run(test.command, strings.NewReader(test.input), &out, &errs); got != test.exit {
			t.Errorf("check %s of\n%sexit code %d, want %d\n%s%s", test.command[0], test.input, got, test.exit, &out, &errs)
		}
		if test.exit != exitViolation {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimPrefix(out.String(), "-: violation "), "\n")
		if !strings.Contains(prose, line) {
			t.Errorf("the README does not say what check %s does: %s", test.command[0], line)
		}
	}
}

// historiesIn returns the indented blocks that are histories.
func historiesIn(markdown string) []string {
	var blocks []string
	inside := false
	for line := range strings.Lines(markdown) {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case code == "history 1\n" && indented:
			blocks, inside = append(blocks, code), true
		case indented && inside:
			blocks[len(blocks)-1] += code
		default:
			inside = false
		}
	}
	return blocks
}

// scheduleOf returns the schedule of a case.
func scheduleOf(saved string) string {
	_, rest, _ := strings.Cut(saved, "\nschedule\n")
	schedule, _, _ := strings.Cut(rest, "\nend\n")
	return schedule + "\n"
}

// TestCommandsOfReadme demands that the commands and flags exist.
func TestCommandsOfReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	a := &app{out: &results{to: &bytes.Buffer{}}, err: &bytes.Buffer{}}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	shown := regexp.MustCompile("(?m)(?:^    |`|\\$ )check ([a-z]+[^`#\n]*)").FindAllStringSubmatch(string(text), -1)
	if len(shown) < 10 {
		t.Errorf("the README shows %d commands", len(shown))
	}
	for _, m := range shown {
		words := strings.Fields(m[1])
		cmd, rest, err := root.Find(words)
		if err != nil || cmd == root {
			t.Errorf("check %s: there is no such command", m[1])
			continue
		}
		for _, word := range rest {
			if name, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(name) == nil {
				t.Errorf("check %s: there is no such flag", m[1])
			}
		}
		if cmd.Name() == "help" && len(rest) > 0 {
			if page, _, err := root.Find(rest); err != nil || page == root {
				t.Errorf("check %s: there is no such page", m[1])
			}
		}
	}
}
