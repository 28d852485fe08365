package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// goodUses has a use of each command that goes as it should, with the file it
// reads, "" for none, as FILE and the one it writes as OUT. BROKERS is a cluster. A gate over a corpus
// that lacks most rules is one that finds something.
var goodUses = map[string]struct {
	args, file, out string
	exit            int
}{
	"bugs":     {"bugs", "", "", exitOK},
	"convert":  {"convert FILE -o OUT", "ok.hist", "ok.jsonl", exitOK},
	"demo":     {"demo", "", "", exitOK},
	"explain":  {"explain FILE", "ok.hist", "", exitOK},
	"gate":     {"gate --budget 1ns --corpus corpus --json OUT", "", "gate.json", exitViolation},
	"import":   {"import FILE -o OUT --force", "ok.edn", "imported.hist", exitOK},
	"live":     {"live --bootstrap BROKERS --duration 1s -o OUT --force", "", "live", exitOK},
	"man":      {"man OUT", "", "man", exitOK},
	"matrix":   {"matrix --runs 1", "", "", exitOK},
	"merge":    {"merge FILE --json OUT", "gate.json", "merged.json", exitViolation}, // after gate, by name
	"minimize": {"minimize FILE -o OUT --force", "lost.hist", "small.hist", exitOK},
	"record":   {"record --bootstrap BROKERS --duration 200ms -o OUT --force", "", "record.jsonl", exitOK},
	"replay":   {"replay FILE", "case.hist", "", exitOK},
	"report":   {"report FILE -o OUT", "ok.hist", "ok.html", exitOK},
	"run":      {"run --runs 20", "", "", exitOK},
	"verify":   {"verify FILE", "ok.hist", "", exitOK},
	"version":  {"version", "", "", exitOK},
}

// TestManners demands of every command alike: results on stdout and everything
// else on stderr, an exit code that tells of results nobody got, and of bad
// flags, bad files and outputs that cannot be written.
func TestManners(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("corpus", 0o777); err != nil {
		t.Fatal(err)
	}
	saved, _ := invoke(t, exitOK, strings.NewReader(scheduleExample), "replay", "-")
	for name, text := range map[string]string{
		"ok.hist":          legal,
		"ok.edn":           "{:process 0, :type :invoke, :f :send, :value [[:send 1 5]]}\n{:process 0, :type :ok, :f :send, :value [[:send 1 [0 5]]]}\n",
		"lost.hist":        "history 1\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [] end=0\n",
		"case.hist":        saved,
		"corpus/case.hist": saved,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	brokers := startBrokers(t)
	for _, cmd := range (&app{}).root().Commands() {
		if cmd.Runnable() {
			t.Run(cmd.Name(), func(t *testing.T) { manners(t, cmd, brokers) })
		}
	}
}

func manners(t *testing.T, cmd *cobra.Command, brokers string) {
	use, ok := goodUses[cmd.Name()]
	if !ok {
		t.Fatalf("there is no good use of %s", cmd.Name())
	}
	words := strings.Fields(strings.ReplaceAll(use.args, "BROKERS", brokers))
	with := func(file, out string) []string {
		args := slices.Clone(words)
		for i, word := range args {
			switch word {
			case "FILE":
				args[i] = file
			case "OUT":
				args[i] = out
			}
		}
		return args
	}
	good := with(use.file, use.out)
	if out, errs := invoke(t, exitInput, nil, append(good, "--nosuch")...); out != "" ||
		!strings.Contains(errs, "unknown flag: --nosuch\nRun 'check "+cmd.Name()+" --help' for usage.\n") {
		t.Errorf("a bad flag: stdout %q, stderr %q", out, errs)
	}
	if cmd.Name() == "demo" {
		return // it takes seconds, and has a script of its own
	}
	if out, errs := invoke(t, use.exit, nil, good...); out == "" || errs != "" {
		t.Errorf("%v prints %q, and on stderr %q", good, out, errs)
	}
	if slices.Contains(words, "FILE") {
		text, err := os.ReadFile(use.file)
		if err != nil {
			t.Fatal(err)
		}
		invoke(t, use.exit, bytes.NewReader(text), with("-", use.out)...)
		if out, errs := invoke(t, exitInput, nil, with("missing.hist", use.out)...); !strings.Contains(errs, "missing.hist: no such file") ||
			out != "" && out != "missing.hist: input error\n" {
			t.Errorf("a file that is not there: stdout %q, stderr %q", out, errs)
		}
	}
	if slices.Contains(words, "OUT") {
		var out, errs bytes.Buffer
		if got := run(with(use.file, "ok.hist/"+use.out), nil, &out, &errs); got != exitInput && got != cmp.Or(use.exit, exitInput) || !strings.Contains(errs.String(), "ok.hist") {
			t.Errorf("an output that cannot be written: exit code %d, stdout %q, stderr %q", got, &out, &errs)
		}
	}
	for failure, want := range map[error]int{syscall.EPIPE: use.exit, syscall.ENOSPC: exitInput} {
		var errs bytes.Buffer
		if got := run(good, nil, fails{failure}, &errs); got != want || strings.Contains(errs.String(), "results are lost") != (failure == syscall.ENOSPC) {
			t.Errorf("stdout fails with %v: exit code %d, want %d, and on stderr %q", failure, got, want, &errs)
		}
	}
}

// invoke runs a command and returns what it prints.
func invoke(t *testing.T, want int, stdin io.Reader, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, stdin, &out, &errs); got != want {
		t.Errorf("check %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, &out, &errs)
	}
	return out.String(), errs.String()
}
