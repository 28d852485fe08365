package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

func TestWorsen(t *testing.T) {
	tests := []struct {
		codes []int
		want  int
	}{
		{nil, exitOK},
		{[]int{exitOK, exitUnknown, exitOK}, exitUnknown},
		{[]int{exitUnknown, exitInput}, exitInput},
		{[]int{exitInternal, exitInput, exitUnknown}, exitInternal},
		{[]int{exitInternal, exitViolation, exitInput}, exitViolation},
	}
	for _, test := range tests {
		var a app
		for _, code := range test.codes {
			a.worsen(code)
		}
		if a.exit != test.want {
			t.Errorf("of %v the exit code is %d, want %d", test.codes, a.exit, test.want)
		}
	}
}

const legal = "history 1\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [0:1] end=1\n"

// write puts a file into a folder of the test's own and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInternalErrors has checks that go wrong on the first of two files; the
// second gets its verdict all the same.
func TestInternalErrors(t *testing.T) {
	tests := []struct {
		what   string
		first  func() *checker.Result
		reason string
	}{
		{"a panic", func() *checker.Result { panic("out of cheese") }, "panic: out of cheese"},
		{"a contradiction", func() *checker.Result {
			return &checker.Result{Verdict: checker.Contradictory, Reason: "two engines differ"}
		}, "two engines differ"},
		{"no verdict", func() *checker.Result { return &checker.Result{} }, ""},
	}
	for _, test := range tests {
		for _, expect := range []bool{false, true} {
			t.Run(test.what, func(t *testing.T) {
				bad, good := write(t, "bad.hist", "history 1\nexpect ok\n"+strings.TrimPrefix(legal, "history 1\n")), write(t, "good.hist", legal)
				var out, err bytes.Buffer
				a := &app{out: &results{to: &out}, err: &err}
				v := &verifier{app: a, expect: expect, check: func(_ context.Context, name string, _ checker.Options) (*checker.Result, histories.Header, error) {
					header := histories.Header{Expect: histories.Expect{Verdict: "ok"}}
					if name == bad {
						return test.first(), header, nil
					}
					return &checker.Result{Verdict: checker.Conforms}, header, nil
				}}
				v.run([]string{bad, good})
				if a.exit != exitInternal {
					t.Errorf("exit code %d, want %d", a.exit, exitInternal)
				}
				for _, want := range []string{bad + ": ", test.reason} {
					if !strings.Contains(out.String(), want) {
						t.Errorf("stdout lacks %q:\n%s", want, out.String())
					}
				}
				if !expect && !strings.Contains(out.String(), good+": ok") {
					t.Errorf("the second file got no verdict:\n%s", out.String())
				}
				for _, want := range []string{"internal error: " + test.reason, "Please report it with " + bad, issues} {
					if !strings.Contains(err.String(), want) {
						t.Errorf("stderr lacks %q:\n%s", want, err.String())
					}
				}
			})
		}
	}
}

func TestTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Hour} {
		v := &verifier{app: &app{}, judging: judging{timeout: timeout}}
		v.check = func(ctx context.Context, _ string, _ checker.Options) (*checker.Result, histories.Header, error) {
			if _, ends := ctx.Deadline(); ends != (timeout > 0) {
				t.Errorf("with a timeout of %v the check has a deadline: %v", timeout, ends)
			}
			return &checker.Result{Verdict: checker.Conforms}, histories.Header{}, nil
		}
		v.judge(source{name: write(t, "good.hist", legal)})
	}
}

// TestTimeIsOver demands that what ends a search tells why in the words of the
// command line.
func TestTimeIsOver(t *testing.T) {
	v := &verifier{app: &app{}, judging: judging{timeout: time.Nanosecond}}
	v.check = func(ctx context.Context, _ string, _ checker.Options) (*checker.Result, histories.Header, error) {
		<-ctx.Done()
		if got := context.Cause(ctx).Error(); got != "time is over (--timeout 1ns)" {
			t.Errorf("the check is ended for %q", got)
		}
		return &checker.Result{Verdict: checker.Undecided}, histories.Header{}, nil
	}
	v.judge(source{name: write(t, "good.hist", legal)})
}

func TestPanicOfACommand(t *testing.T) {
	tests := []struct {
		args   []string
		report string
	}{
		{[]string{"version"}, "Please report it and"},
		{[]string{"verify", "-"}, "Please report it with - and"},
		{[]string{"convert", "-", "-o", "out.hist"}, "Please report it with - and"},
	}
	for _, test := range tests {
		var err bytes.Buffer
		if got := run(test.args, panics{}, panics{}, &err); got != exitInternal {
			t.Errorf("%v: exit code %d, want %d", test.args, got, exitInternal)
		}
		for _, want := range []string{"run_test.go:", "internal error: panic: no cheese", test.report} {
			if !strings.Contains(err.String(), want) {
				t.Errorf("%v: stderr lacks %q:\n%s", test.args, want, err.String())
			}
		}
	}
}

type panics struct{}

func (panics) Read([]byte) (int, error)  { panic("no cheese") }
func (panics) Write([]byte) (int, error) { panic("no cheese") }

func TestResultsNobodyTakes(t *testing.T) {
	good := write(t, "good.hist", legal)
	lost := write(t, "lost.hist", "history 1\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [] end=0\n")
	tests := []struct {
		what, file string
		err        error
		want       int
		says       string
	}{
		{"a reader that left", good, syscall.EPIPE, exitOK, ""},
		{"a reader that left before a violation", lost, syscall.EPIPE, exitViolation, ""},
		{"a full disk", good, syscall.ENOSPC, exitInput, "check: results are lost: " + syscall.ENOSPC.Error() + "\n"},
		{"a full disk before a violation", lost, syscall.ENOSPC, exitInput, "check: results are lost: " + syscall.ENOSPC.Error() + "\n"},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			var err bytes.Buffer
			if got := run([]string{"verify", test.file}, nil, fails{test.err}, &err); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
			if err.String() != test.says {
				t.Errorf("stderr is %q, want %q", err.String(), test.says)
			}
		})
	}
}

type fails struct{ err error }

func (f fails) Write([]byte) (int, error) {
	return 0, f.err
}

// TestCorpus judges every case that comes with the project.
func TestCorpus(t *testing.T) {
	corpus, err := histories.Corpus()
	if err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	if got := run([]string{"verify", "--expect", "../../histories/corpus"}, nil, &out, &stderr); got != exitOK {
		t.Errorf("exit code %d\n%s%s", got, stderr.String(), out.String())
	}
	if lines := strings.Count(out.String(), "\n"); lines != len(corpus) {
		t.Errorf("%d lines for %d cases\n%s", lines, len(corpus), out.String())
	}
}

func TestUnreadableParts(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is unreadable to root")
	}
	folder := t.TempDir()
	closed := filepath.Join(folder, "closed")
	if err := errors.Join(os.Mkdir(closed, 0), os.WriteFile(filepath.Join(folder, "ok.hist"), []byte(legal), 0o666)); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	if got := run([]string{"verify", folder}, nil, &out, &err); got != exitInput {
		t.Errorf("exit code %d, want %d", got, exitInput)
	}
	if !strings.Contains(out.String(), closed+": input error\n") || !strings.Contains(out.String(), "ok.hist: ok") {
		t.Errorf("stdout:\n%s", out.String())
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 reads", 1: "1 read", 999: "999 reads", 1017: "1,017 reads", 1234567: "1,234,567 reads"} {
		if got := count(n, "read"); got != want {
			t.Errorf("count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestNamesThatNeedQuotes(t *testing.T) {
	tests := []struct{ name, label, word string }{
		{"a/b-1.hist", "a/b-1.hist", "a/b-1.hist"},
		{"a b", "a b", "'a b'"},
		{"it's", "it's", `'it'\''s'`},
		{"größe", "größe", "'größe'"},
		{"a\nb", `"a\nb"`, `$'a\012b'`},
		{"\x1b[2J'\\", `"\x1b[2J'\\"`, `$'\033[2J\'\\'`},
		{"\xff1", "\xff1", `$'\3771'`},
		{"-f.hist", "-f.hist", "./-f.hist"},
		{"$(exit)", "$(exit)", "'$(exit)'"},
		{"", `""`, "''"},
	}
	for _, test := range tests {
		if got := label(test.name); got != test.label {
			t.Errorf("label(%q) is %s, want %s", test.name, got, test.label)
		}
		if got := shellWord(test.name); got != test.word {
			t.Errorf("shellWord(%q) is %s, want %s", test.name, got, test.word)
		}
		if read, err := exec.Command("bash", "-c", "printf %s "+test.word).Output(); err != nil || strings.TrimPrefix(string(read), "./") != test.name {
			t.Errorf("a shell reads %s as %q, want %q; %v", test.word, read, test.name, err)
		}
	}
}

func TestInk(t *testing.T) {
	var got bytes.Buffer
	if (visible{&got}).Write([]byte(ink(true).red("violation"))); got.String() != "\x1b[31mviolation\x1b[0m" {
		t.Errorf("ink gives %q", &got)
	}
	if got := ink(false).red("violation"); got != "violation" {
		t.Errorf("no ink gives %q", got)
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		t.Skip("no terminal to look at")
	}
	defer terminal.Close()
	t.Setenv("NO_COLOR", "1")
	if inkFor(terminal) {
		t.Error("NO_COLOR does not keep the output plain")
	}
}
