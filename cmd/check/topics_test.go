package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/impl"
)

// TestExamplesOfTheHelp keeps what the pages show true.
func TestExamplesOfTheHelp(t *testing.T) {
	tests := []struct{ command, example, topic string }{
		{"verify", formatExample, format()},
		{"replay", scheduleExample, schedules()},
	}
	for _, test := range tests {
		if !strings.Contains(test.topic, indent(test.example)) {
			t.Errorf("the page does not show the example:\n%s", test.topic)
		}
		var out, err bytes.Buffer
		if got := run([]string{test.command, "-"}, strings.NewReader(test.example), &out, &err); got != exitOK {
			t.Errorf("check %s: exit code %d\n%s%s", test.command, got, &out, &err)
		}
	}
}

func TestPagesNameWhatThereIs(t *testing.T) {
	faults, schedule := faultsHelp(), schedules()
	for _, f := range impl.Faults {
		if !strings.Contains(faults, "\n"+f.Verb+" ") {
			t.Errorf("the page about faults lacks %s", f.Verb)
		}
	}
	for _, s := range impl.Settings {
		if !strings.Contains(schedule, "   "+s.Name+" ") {
			t.Errorf("the page about schedules lacks %s", s.Name)
		}
	}
}

// TestExamplesOfCommands demands that the flags in the commands' examples
// exist.
func TestExamplesOfCommands(t *testing.T) {
	a := &app{out: &results{to: &bytes.Buffer{}}, err: &bytes.Buffer{}}
	flag := regexp.MustCompile(`\s--?([a-z-]+)`)
	root := a.root()
	for _, cmd := range root.Commands() {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(line, " | ")
			words := strings.Fields(line)
			shown, _, err := root.Find(words[1:])
			if err != nil || words[0] != "check" || shown == root {
				t.Errorf("%s: expected an example of a command, found %q", cmd.Name(), line)
				continue
			}
			for _, m := range flag.FindAllStringSubmatch(line, -1) {
				if name := m[1]; shown.Flags().Lookup(name) == nil && (len(name) > 1 || shown.Flags().ShorthandLookup(name) == nil) {
					t.Errorf("%s has no flag %s: %s", shown.Name(), name, line)
				}
			}
		}
	}
}
