//go:build unix

package process

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func sleeper(name string) *Process {
	return &Process{Name: name, Command: func() *exec.Cmd { return exec.Command("sleep", "600") }}
}

func start(t *testing.T, p *Process) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill(t.Context()) })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually asks until what has to become true is.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never came to be that %s", what)
}

// state is what the system says a process does: S sleeps, T is stopped.
func state(pid int) string {
	out, _ := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	return strings.TrimSpace(string(out))
}

func TestLifecycle(t *testing.T) {
	p := sleeper("broker 1")
	if p.Running() || p.Ended() != nil {
		t.Error("it runs before it is started")
	}
	if err := p.Pause(); !errors.Is(err, ErrEnded) {
		t.Errorf("pausing what does not run: %v", err)
	}
	start(t, p)
	if err := p.Start(); err == nil || !strings.Contains(err.Error(), "broker 1: runs already") {
		t.Errorf("starting it twice: %v", err)
	}
	must(t, p.Pause())
	eventually(t, "it is stopped", func() bool { return state(p.run.pid) == "T" })
	must(t, p.Resume())
	eventually(t, "it goes on", func() bool { return state(p.run.pid) == "S" })
	for name, end := range map[string]func() error{
		"kill":      func() error { return p.Kill(t.Context()) },
		"terminate": func() error { return p.Terminate(t.Context()) },
	} {
		first := p.Ended()
		must(t, end())
		<-first
		if p.Running() {
			t.Errorf("it runs after %s", name)
		}
		start(t, p)
	}
}

// A paused process cannot end in its own way; a kill ends it all the same.
func TestKillPaused(t *testing.T) {
	p := sleeper("broker 1")
	start(t, p)
	must(t, p.Pause())
	must(t, p.Kill(t.Context()))
	if p.Running() {
		t.Error("it runs")
	}
}

// A command for the shell is more than one process, and all of them are meant.
func TestGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := &Process{Name: "broker 1", Command: func() *exec.Cmd {
		return exec.Command("sh", "-c", "sleep 600 & echo $! >"+file+"; wait")
	}}
	start(t, p)
	child := FromFile(file)
	var pid int
	eventually(t, "the child tells its number", func() (ok bool) {
		var err error
		pid, err = child()
		return err == nil
	})
	must(t, p.Kill(t.Context()))
	eventually(t, "the child is gone", func() bool { s := state(pid); return s == "" || s == "Z" })
}

func TestNoCommand(t *testing.T) {
	if err := (&Process{Name: "broker 7"}).Start(); err == nil || !strings.Contains(err.Error(), "broker 7: no command is known") {
		t.Errorf("%v", err)
	}
	if err := (&Process{Name: "broker 7", Command: func() *exec.Cmd { return exec.Command("/no/such/program") }}).Start(); err == nil || !strings.Contains(err.Error(), "broker 7: ") {
		t.Errorf("%v", err)
	}
}

// Somebody else's process is signalled, and started again by our command.
func TestAdopt(t *testing.T) {
	theirs := exec.Command("sleep", "600")
	must(t, theirs.Start())
	go theirs.Wait()
	p := sleeper("broker 2")
	p.Adopt(theirs.Process.Pid)
	if !p.Running() {
		t.Error("it does not run")
	}
	must(t, p.Kill(t.Context()))
	start(t, p)
	if p.run.pid == theirs.Process.Pid || !p.Running() {
		t.Error("it was not started again")
	}
}

// The command that starts a service ends at once; the service says in a file
// who it is.
func TestPIDFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := &Process{Name: "broker 3", PID: FromFile(file), Command: func() *exec.Cmd {
		return exec.Command("sh", "-c", "sleep 600 >&- 2>&- & echo $! >"+file)
	}}
	if err := p.Pause(); err == nil || !strings.Contains(err.Error(), "broker 3: open ") {
		t.Errorf("no file: %v", err)
	}
	start(t, p)
	eventually(t, "it tells its number", p.Running)
	pid, err := FromFile(file)()
	must(t, err)
	must(t, p.Pause())
	eventually(t, "it is stopped", func() bool { return state(pid) == "T" })
	for _, bad := range []string{"", "x", "-1", "0", "1"} {
		must(t, os.WriteFile(file, []byte(bad), 0o666))
		if err := p.Resume(); err == nil || !strings.Contains(err.Error(), "expected the number of a process") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	must(t, os.WriteFile(file, fmt.Append(nil, pid), 0o666))
	must(t, p.Kill(t.Context()))
}

// TestEndsWithUs kills the one who started processes. It is this test in
// another process. Of those, one is paused, one has begun another, and one has
// ended and left another behind.
func TestEndsWithUs(t *testing.T) {
	shell := func(name, command string) *Process {
		return &Process{Name: name, Command: func() *exec.Cmd { return exec.Command("sh", "-c", command) }}
	}
	if folder := os.Getenv("STARTER"); folder != "" {
		ours, paused, lasting := sleeper("ours"), sleeper("paused"), sleeper("lasting")
		lasting.Lasting = true
		parent := shell("parent", "sleep 600 & echo $! >"+folder+"/child; wait; true")
		gone := shell("gone", "sleep 600 >&- 2>&- & echo $! >"+folder+"/orphan")
		for _, p := range []*Process{ours, paused, lasting, parent, gone} {
			must(t, p.Start())
		}
		must(t, paused.Pause())
		<-gone.Ended()
		runtime.GC()
		numbers := []int{ours.run.pid, paused.run.pid, parent.run.pid}
		for _, file := range []string{"child", "orphan"} {
			eventually(t, file+" tells its number", func() bool {
				pid, err := FromFile(filepath.Join(folder, file))()
				numbers = append(numbers, pid)
				if err != nil {
					numbers = numbers[:len(numbers)-1]
				}
				return err == nil
			})
		}
		fmt.Println(lasting.run.pid, numbers)
		select {}
	}
	starter := exec.Command(os.Args[0], "-test.run=^TestEndsWithUs$")
	starter.Env = append(os.Environ(), "STARTER="+t.TempDir())
	out, err := starter.StdoutPipe()
	must(t, err)
	must(t, starter.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	var lasting int
	ours := make([]int, 5)
	if _, err := fmt.Sscanf(line, "%d [%d %d %d %d %d]", &lasting, &ours[0], &ours[1], &ours[2], &ours[3], &ours[4]); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	for _, pid := range ours {
		if s := state(pid); s == "" || s == "Z" {
			t.Errorf("%d of %v is gone already", pid, ours)
		}
	}
	must(t, starter.Process.Kill())
	_ = starter.Wait()
	for _, pid := range ours {
		eventually(t, fmt.Sprintf("%d of %v is gone", pid, ours), func() bool { s := state(pid); return s == "" || s == "Z" })
	}
	left := &Process{Name: "lasting"}
	left.Adopt(lasting)
	if !left.Running() || state(lasting) == "Z" {
		t.Error("the lasting process is gone as well")
	}
	must(t, target{pid: lasting}.send(sigKill))
}

// TestHow demands to be told how a command ended.
func TestHow(t *testing.T) {
	for command, want := range map[string]string{
		"true":                                "<nil>",
		"echo first >&2; exit 7":              "exit status 7: first",
		"printf 'a\\nlast\\n\\n' >&2; exit 1": "exit status 1: last",
		"kill -9 $$":                          "signal: killed",
		"sleep 600 & exit 0":                  "<nil>",
	} {
		p := &Process{Name: "broker 1", Command: func() *exec.Cmd { return exec.Command("sh", "-c", command) }}
		start(t, p)
		<-p.Ended()
		if got := fmt.Sprint(p.How()); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
		_ = target{pid: p.run.pid, group: true}.send(sigKill)
	}
}
