//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
)

func TestInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var out, err bytes.Buffer
	a := &app{out: &results{to: &out}, err: &err}
	h := &hunter{app: a, opts: hunt.Options{Runs: 1000, Seed: 1}, folder: t.TempDir()}
	h.run(ctx)
	if a.exit != exitInterrupted {
		t.Errorf("exit code %d, want %d", a.exit, exitInterrupted)
	}
	if want := "interrupted after 0 of 1,000 schedules, none failed (seed 1)\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("stdout is %q, want it to begin with %q", out.String(), want)
	}
}

// TestSignalsEndTheContext sends them to the test itself.
func TestSignalsEndTheContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, stop := interruptible()
		defer stop()
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
}

// TestInterruptedReading ends commands that wait for a pipe, which leave
// nothing behind.
func TestInterruptedReading(t *testing.T) {
	for _, command := range []string{"convert", "minimize"} {
		ctx, interrupt := context.WithCancel(t.Context())
		never, w := io.Pipe()
		defer w.Close()
		var out, err bytes.Buffer
		a := &app{in: never, out: &results{to: &out}, err: &err}
		dir := t.TempDir()
		interrupt()
		switch command {
		case "convert":
			a.convertFile(ctx, "-", dir+"/out.hist", false)
		case "minimize":
			s := &shortener{app: a, to: dir + "/out.hist", budget: 1}
			a.failOrStop(ctx, s.run(ctx, "-"))
		}
		if a.exit != exitInterrupted || err.String() != "check: interrupted; nothing was written\n" {
			t.Errorf("%s: exit code %d, want %d\n%s", command, a.exit, exitInterrupted, &err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 || out.Len() > 0 {
			t.Errorf("%s: %d files are left, stdout is %q", command, len(left), &out)
		}
	}
}

func TestProgress(t *testing.T) {
	tests := []struct {
		what string
		p    progress
		want string
	}{
		{"too early", progress{every: time.Hour, said: time.Now()}, ""},
		{"in a log", progress{}, "run 1\nrun 2\n"},
	}
	for _, test := range tests {
		var out bytes.Buffer
		test.p.to = &out
		test.p.say(1, 2, "run %d", 1)
		test.p.say(2, 2, "run %d", 2)
		test.p.done()
		if out.String() != test.want {
			t.Errorf("%s: %q, want %q", test.what, out.String(), test.want)
		}
	}
}

// TestProgressOnATerminal demands a bar that says how far it is, and that is
// gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	p := progress{to: &out, terminal: true}
	p.say(1, 4, "run %d", 1)
	p.done()
	if text := out.String(); !strings.Contains(text, "run 1") || !strings.Contains(text, "25%") {
		t.Errorf("the bar is %q", text)
	}
	if text := out.String(); strings.TrimRight(text[strings.LastIndexByte(strings.TrimRight(text, "\r"), '\r')+1:], " \r") != "" {
		t.Errorf("the bar stays: %q", text)
	}
}

func TestProgressIntoAFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p := newProgress(f); p.terminal || p.every != 10*time.Second {
		t.Errorf("a file is taken for a terminal: %+v", p)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "isr", 3}, {"isr", "", 3}, {"isr", "isr", 0},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) is %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 21: "21st", 113: "113th", 1002: "1,002nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("ordinal(%d) is %q, want %q", n, got, want)
		}
	}
}

// TestFailureByAnotherFinding hunts for a finding that the bug does not have:
// what the bug breaks instead is reported and saved like any failure.
func TestFailureByAnotherFinding(t *testing.T) {
	for _, json := range []bool{false, true} {
		var out, err bytes.Buffer
		a := &app{out: &results{to: &out}, err: &err}
		h := &hunter{app: a, opts: hunt.Options{Runs: 20, Seed: 1, Bug: "ack-before-commit", Rules: []string{"end-regression"}}, folder: t.TempDir(), shrink: 20, json: json}
		h.run(t.Context())
		if a.exit != exitViolation || err.Len() > 0 {
			t.Errorf("exit code %d, want %d, stderr %q", a.exit, exitViolation, &err)
		}
		if saved, _ := os.ReadDir(h.folder); len(saved) != 1 {
			t.Errorf("%d cases are saved, want 1", len(saved))
		}
		wanted := []string{"of 20, and none by what the bug is known for (seed 1, ", "AckAfterCommit", "\n  again       check run --seed 1 --first ", "check replay " + h.folder}
		if json {
			wanted = []string{`"exit":1`, `"failure":{"schedule":`, `"replay":"check replay ` + h.folder}
		}
		for _, want := range wanted {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
	}
}
