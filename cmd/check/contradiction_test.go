package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// TestLyingEngine builds the command with a linear engine that lets a send take
// effect after its deadline, and has both engines judge a history that only this
// rules out. It takes a build, so it runs only where ISRCHECK_MUTANTS is set.
func TestLyingEngine(t *testing.T) {
	if os.Getenv("ISRCHECK_MUTANTS") == "" {
		t.Skip("set ISRCHECK_MUTANTS=1 to build and run a command whose engine lies")
	}
	engine, err := filepath.Abs("../../checker/linear.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(engine)
	if err != nil {
		t.Fatal(err)
	}
	const honest, lying = "if now > a.deadline {", "if false {"
	if !strings.Contains(string(text), honest) {
		t.Fatalf("the engine does not have %q any more", honest)
	}
	lie := write(t, "linear.go", strings.Replace(string(text), honest, lying, 1))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {engine: lie}})
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(t.TempDir(), "check")
	if out, err := exec.Command("go", "build", "-overlay", write(t, "overlay.json", string(overlay)), "-o", command, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	verify := exec.Command(command, "verify", "--engine", "both", write(t, "late.hist", `history 1
config acks=all enable.idempotence=true offsets=dense reads=linearizable
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 C1 list latest => ok @1
7-8 P2 send 3 => ok @2
9-10 C1 scan => ok [0:1 1:2 2:3] end=3
`))
	verify.Dir = t.TempDir()
	out, err := verify.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInternal {
		t.Fatalf("%v, want exit code %d\n%s", err, exitInternal, out)
	}
	written, err := filepath.Glob(filepath.Join(verify.Dir, "failures", "contradiction-*.hist"))
	if err != nil || len(written) != 1 {
		t.Fatalf("%v files were written (%v)\n%s", written, err, out)
	}
	h, err := histories.ReadFile(written[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Ops()) > 3 || !strings.Contains(string(out), filepath.Base(written[0])) {
		t.Errorf("%d operations are left, want at most 3\n%s", len(h.Ops()), out)
	}
}
