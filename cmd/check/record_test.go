package main

import (
	"bytes"
	"cmp"
	"errors"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// TestInterruptedRecording interrupts a recording that would go on for an hour:
// or closes its terminal: the partitions are read all the same. A second one ends
// it at once, and what is there by then can be read.
func TestInterruptedRecording(t *testing.T) {
	brokers := startBrokers(t)
	for _, signals := range [][]os.Signal{{os.Interrupt}, {syscall.SIGHUP}, {os.Interrupt, os.Interrupt}} {
		if signals[0] == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
			continue // so does the recorder, which inherits that: somebody began the test so (nohup)
		}
		twice := len(signals) > 1
		path := filepath.Join(t.TempDir(), "run.jsonl.zst")
		var out strings.Builder
		cmd := checkCommand(t, "record", "--bootstrap", brokers, "--duration", "1h", "-o", path)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			if info, err := os.Stat(path); err == nil && info.Size() > 10_000 {
				break
			} else if time.Since(begun) > time.Minute {
				t.Fatal("nothing is recorded")
			}
		}
		for _, signal := range signals {
			cmd.Process.Signal(signal)
			time.Sleep(time.Millisecond)
		}
		err := cmd.Wait()
		h, reading := histories.ReadFile(path)
		if reading != nil {
			t.Fatalf("twice %v: %v\n%s", twice, reading, &out)
		}
		scans := 0
		for _, o := range h.Ops() {
			if o.Kind == histories.Scan && o.Outcome == histories.OK {
				scans++
			}
		}
		if !twice && (err != nil || scans != 1 || !strings.Contains(out.String(), "1 of 1 partition read to the end")) {
			t.Errorf("%v, %d scans\n%s", err, scans, &out)
		}
	}
}

// TestInterruptedStart interrupts recorders that wait for a broker that does not
// answer: no input was wrong, and nothing is there.
func TestInterruptedStart(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for command, path := range map[string]string{"record": "run.jsonl", "live": filepath.Join("new", "out")} {
		folder := t.TempDir()
		cmd := checkCommand(t, command, "--bootstrap", silent.Addr().String(), "--request-timeout", "1m", "-o", filepath.Join(folder, path))
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := silent.Accept(); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || said.String() != "check: interrupted; nothing was written\n" {
			t.Errorf("%s: exit code %d\n%s", command, code, &said)
		}
		if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
			t.Errorf("%s leaves %v behind: %v", command, left, err)
		}
	}
}

// TestSilentStart has a broker that takes connections and never answers: the error
// says whom the recorder waited for.
func TestSilentStart(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd := checkCommand(t, "record", "--bootstrap", silent.Addr().String(), "--request-timeout", "50ms", "-o", path)
	out, _ := cmd.CombinedOutput()
	want := "check: no answer from " + silent.Addr().String() + " within 200ms: topic "
	if code := cmd.ProcessState.ExitCode(); code != exitInput || !strings.HasPrefix(string(out), want) || !strings.Contains(string(out), "with TLS and SASL or without") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestPhases demands that what goes on is told by its phase, from the phase's
// beginning.
func TestPhases(t *testing.T) {
	lines := make(lineWriter)
	next, end := (&progress{to: lines, every: time.Millisecond}).phases("waiting")
	for line := range lines {
		if line == "waiting, for 0s now\n" {
			next("recording")
		} else if line == "recording, for 0s now\n" {
			break
		} else {
			t.Fatalf("%q", line)
		}
	}
	go func() {
		for range lines { // what is said until the end
		}
	}()
	end()
	close(lines)
}

// A lineWriter hands over what is written, each time.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// TestSettingsUntold has a cluster that does not tell what a verdict depends on.
func TestSettingsUntold(t *testing.T) {
	brokers := startBrokers(t, func(cluster *kfake.Cluster) {
		cluster.ControlKey(int16(kmsg.DescribeConfigs), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			return nil, errors.New("the connection ends"), true
		})
	})
	for _, command := range []string{"record", "live"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			// What is asked for in vain takes four of these, and what is not must not.
			cmd := checkCommand(t, command, "--bootstrap", brokers, "--request-timeout", "500ms", "-o", filepath.Join(t.TempDir(), "run.jsonl"))
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != exitUnknown || !strings.Contains(string(out), "check: the settings of the topic are not known: ") {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// TestInterruptsIgnored interrupts a recorder that a shell began with interrupts
// ignored, as it does in the background: one ends the work, and a second one the
// wait for a cluster that answers no more.
func TestInterruptsIgnored(t *testing.T) {
	var silent atomic.Bool
	asked := make(chan struct{})
	brokers := startBrokers(t, func(cluster *kfake.Cluster) {
		cluster.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			if silent.Load() {
				return nil, errors.New("the connection ends"), true
			}
			return nil, nil, false
		})
	})
	path := filepath.Join(t.TempDir(), "run.jsonl")
	cmd := checkCommand(t, "record", "--bootstrap", brokers, "--duration", "1h", "--settle", "1h", "-o", path)
	check := filepath.Join(t.TempDir(), "check") // the name that it goes by
	if err := os.Symlink(cmd.Path, check); err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" INT; exec "$0" "$@"`, check}, cmd.Args[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until it is at work
		if text, err := os.ReadFile(path); err == nil && len(text) > 10_000 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	silent.Store(true)
	cmd.Process.Signal(os.Interrupt)
	go func() {
		defer close(asked)
		for cmd.Process.Signal(os.Interrupt) == nil {
			time.Sleep(100 * time.Millisecond)
		}
	}()
	cmd.Wait()
	<-asked
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

// TestRemovedRecording removes the file that is written, or puts another in its
// place: nobody is sent there to judge it.
func TestRemovedRecording(t *testing.T) {
	brokers := startBrokers(t)
	for name, spoil := range map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return cmp.Or(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		cmd := checkCommand(t, "record", "--bootstrap", brokers, "--duration", "1m", "-o", path)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(path); err == nil {
				break
			}
		}
		if err := spoil(path); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		want := ": the file was removed or replaced while it was written; what was written is lost with it, unless it was only moved\n"
		if cmd.ProcessState.Success() || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "check verify") {
			t.Errorf("%s: %v: %s", name, cmd.ProcessState, &out)
		}
	}
}

// TestBypassedProxy gives clients a proxy as --bootstrap, and the cluster sends them
// to its brokers themselves: no fault of the link is one.
func TestBypassedProxy(t *testing.T) {
	brokers := startBrokers(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen := free.Addr().String()
	free.Close()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	first, _, _ := strings.Cut(brokers, ",")
	cmd := checkCommand(t, "record", "--bootstrap", listen, "--duration", "500ms", "--nemesis", "cut,delay", "--nemesis-interval", "50ms",
		"--proxy", "clients:1="+listen+","+first, "-o", path)
	out, err := cmd.CombinedOutput()
	want := "clients pass by --proxy clients:1: the cluster says that its brokers are at " + strings.ReplaceAll(brokers, ",", ", ") + ", not at " + listen
	h, reading := histories.ReadFile(path)
	if err != nil || reading != nil || !strings.Contains(string(out), "check: "+want) || !strings.Contains(string(out), "note: "+want) || !strings.Contains(string(out), ", 0 faults\n") {
		t.Fatalf("%v, %v\n%s", err, reading, out)
	}
	if !strings.Contains(h.Header().Note, want) {
		t.Errorf("the header does not say it: %s", h.Header().Note)
	}
}

// TestUnanswered compares what a recording and the judge say of sends that all failed:
// of two codes that are as frequent both name the same one.
func TestUnanswered(t *testing.T) {
	for ops, want := range map[string]string{
		"1-2 P1 send 1 => fail code=REQUEST_TIMED_OUT\n3-4 P1 send 2 => fail code=NOT_ENOUGH_REPLICAS\n": "none of 2 sends was acknowledged; 1 ended with NOT_ENOUGH_REPLICAS",
		"1-2 P1 send 1 => fail\n3-4 P1 send 2 => info\n5-6 P1 send 3 => fail code=REQUEST_TIMED_OUT\n":   "none of 3 sends was acknowledged; 1 ended with REQUEST_TIMED_OUT",
		"1-2 P1 send 1 => fail\n": "",
		"1-2 P1 send 1 => fail code=REQUEST_TIMED_OUT\n3-4 P1 send 2 acks=1 => ok @0\n": "",
	} {
		h, err := histories.Parse("sends", []byte("history 1\n"+ops))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(unanswered(h), "; "); got != want {
			t.Errorf("%q, want %q of\n%s", got, want, ops)
		}
	}
}
