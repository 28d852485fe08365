package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
	"github.com/isrcheck/isrcheck/impl/kafka/nemesis"
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
	live := liveFaultsHelp()
	for _, name := range nemesis.Names() {
		if !strings.Contains(live, "\n"+name+" ") {
			t.Errorf("the page about live faults lacks %s", name)
		}
	}
	for _, s := range impl.Settings {
		if !strings.Contains(schedule, "   "+s.Name+" ") {
			t.Errorf("the page about schedules lacks %s", s.Name)
		}
	}
}

// TestFormatIsComplete takes what there is from the reader's own words: its
// errors list the operations, the keys of events and the markers.
func TestFormatIsComplete(t *testing.T) {
	const header = "{\"history\":1}\n"
	page := format()
	for _, list := range []struct{ input, shown string }{
		{header + `{"time":1,"process":"P1","type":"invoke","f":"fly"}`, `"f":"%s"`},
		{header + `{"time":1,"nothing":1}`, `"%s":`},
		{"history 1\n1-2 P1 fly => ok", ` %s `},
		{"history 1\n1 client C1 fly", "client C1 %s"},
		{"history 1\nfly", "\n   %s"},
	} {
		_, err := histories.Parse("x", []byte(list.input))
		_, names, ok := strings.Cut(fmt.Sprint(err), "expected one of ")
		if _, rest, also := strings.Cut(fmt.Sprint(err), "or one of "); also {
			names, ok = rest, true
		}
		if !ok {
			t.Fatalf("%v does not say what it expects", err)
		}
		for name := range strings.SplitSeq(names, ", ") {
			if want := fmt.Sprintf(list.shown, name); name != "or x-..." && name != "index" && !strings.Contains(page, want) {
				t.Errorf("the page about the format lacks %q", want)
			}
		}
	}
	for _, word := range []string{`"index"`, "@-", "list ts=", "lso=", "start=", "expect unknown", "null"} {
		if !strings.Contains(page, word) {
			t.Errorf("the page about the format lacks %s", word)
		}
	}
	if regexp.MustCompile(`poll.*start=`).MatchString(page) {
		t.Error("the page about the format gives a poll a start, which it cannot have")
	}
}

func TestSettingsAreComplete(t *testing.T) {
	page := settings()
	for _, key := range append(strings.Split(configKeys(t), ", "), "isolation.level.P", "x-...") {
		if !strings.Contains(page, "\n"+key+" ") {
			t.Errorf("the page about settings lacks %s", key)
		}
	}
}

// configKeys are the keys that the reader says there are.
func configKeys(t *testing.T) string {
	_, err := histories.Parse("x", []byte("history 1\nconfig colour=red\n"))
	_, keys, ok := strings.Cut(fmt.Sprint(err), "one of ")
	if !ok {
		t.Fatalf("%v does not say what it expects", err)
	}
	return keys
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
