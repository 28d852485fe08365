//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl/kafka/links"
	"github.com/isrcheck/isrcheck/impl/kafka/process"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// targets are two brokers that sleep, a link from a client to each, which is used,
// and where somebody answers every byte with the same, and a command that keeps a diary.
func targets(t *testing.T) (all Targets, addrs []string, diary string) {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); _, _ = io.Copy(conn, conn) }()
		}
	}()
	all.Network = links.New()
	t.Cleanup(func() { server.Close(); all.Network.Close() })
	for _, id := range []string{"1", "2"} {
		p := &process.Process{Name: id, Command: func() *exec.Cmd { return exec.Command("sleep", "600") }}
		must(t, p.Start())
		t.Cleanup(func() { _ = p.Kill(context.Background()) })
		all.Brokers = append(all.Brokers, p)
		addr, err := all.Network.Add("clients", id, "127.0.0.1:0", server.Addr().String())
		must(t, err)
		conn, err := net.Dial("tcp", addr)
		must(t, err)
		for ; !all.Network.Used("clients", id); time.Sleep(time.Millisecond) {
		}
		conn.Close()
		addrs = append(addrs, addr)
	}
	diary = filepath.Join(t.TempDir(), "diary")
	all.Exec = "echo >>" + diary
	return all, addrs, diary
}

// healthy reports what is still broken.
func healthy(t *testing.T, all Targets, addrs []string) {
	t.Helper()
	for i, p := range all.Brokers {
		if !p.Running() {
			t.Errorf("broker %s does not run", p.Name)
		}
		must(t, p.Resume()) // what is stopped would not end below
		must(t, p.Terminate(t.Context()))
		must(t, p.Start())
		conn, err := net.Dial("tcp", addrs[i])
		must(t, err)
		must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		answer := make([]byte, 5)
		_, err = io.WriteString(conn, "hello")
		if _, reading := io.ReadFull(conn, answer); err != nil || reading != nil || string(answer) != "hello" {
			t.Errorf("the link to %s answers %q: %v %v", p.Name, answer, err, reading)
		}
		conn.Close()
	}
}

// run injects faults until enough marks are there.
func run(t *testing.T, n *Nemesis, marks int) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	must(t, n.Run(ctx, func(_ histories.MarkKind, text string) {
		if got = append(got, text); len(got) >= marks {
			cancel()
		}
	}))
	return got
}

func TestEveryFault(t *testing.T) {
	for _, f := range Faults() {
		t.Run(f.Name, func(t *testing.T) {
			all, addrs, diary := targets(t)
			n := &Nemesis{Faults: []string{f.Name}, Interval: 20 * time.Millisecond, Seed: 7, Targets: all}
			marks := run(t, n, 2*3)
			if want := "faults " + f.Name + " every 20ms, drawn from seed 7"; n.String() != want {
				t.Errorf("it is %q, want %q", n, want)
			}
			for i := 0; i < len(marks); i += 2 {
				if !strings.HasPrefix(marks[i], f.Name) || len(marks)%2 != 0 || marks[i+1] != "end of "+marks[i] {
					t.Errorf("marks %q", marks)
				}
			}
			if f.Name == "exec" {
				text, err := os.ReadFile(diary)
				must(t, err)
				if want := strings.Repeat("begin\nend\n", len(marks)/2); string(text) != want {
					t.Errorf("the command was called %q, want %q", text, want)
				}
			}
			healthy(t, all, addrs)
		})
	}
}

// TestBites demands that a fault of a process is one, while it lasts, and is
// ended when the work ends in the middle of it.
func TestBites(t *testing.T) {
	for name, bitten := range map[string]string{"pause": "T", "kill": "gone", "stop": "gone"} {
		all, addrs, _ := targets(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		bit := false
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			for ; ctx.Err() == nil && !bit; time.Sleep(time.Millisecond) {
				bit = state(all.Brokers[1]) == bitten
			}
			cancel()
		}()
		var marks []string
		f, err := find(name)
		must(t, err)
		must(t, (&Nemesis{Targets: all}).inject(ctx, f, last(), time.Hour, func(_ histories.MarkKind, text string) { marks = append(marks, text) }))
		<-watched
		if !bit || !slices.Equal(marks, []string{name + " 2", "end of " + name + " 2"}) {
			t.Errorf("%s: it is %t that broker 2 was seen to be %s; marks %q", name, bit, bitten, marks)
		}
		healthy(t, all, addrs)
	}
}

// TestStrikesNothing has a link that nobody uses: what is drawn there is said to
// be no fault.
func TestStrikesNothing(t *testing.T) {
	network := links.New()
	t.Cleanup(func() { network.Close() })
	_, err := network.Add("clients", "1", "127.0.0.1:0", "127.0.0.1:1")
	must(t, err)
	for _, f := range faults {
		if f.needs.says != aLink.says {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		said := ""
		n := &Nemesis{Faults: []string{f.name}, Interval: time.Millisecond, Targets: Targets{Network: network}, Say: func(text string) { said = text; cancel() }}
		noted := ""
		must(t, n.Run(ctx, func(kind histories.MarkKind, text string) {
			if noted = text; kind != histories.Note {
				t.Errorf("%s is marked as a %v", text, kind)
			}
		}))
		if want := "would strike nothing, for no connection goes through the link"; !strings.Contains(noted, want) || said != noted || n.Begun() != 0 {
			t.Errorf("%s: noted %q, said %q, %d faults", f.name, noted, said, n.Begun())
		}
	}
}

// TestSameSeed demands that a seed decides what is injected, and where.
func TestSameSeed(t *testing.T) {
	all, _, _ := targets(t)
	var names []string
	for _, f := range Faults() {
		names = append(names, f.Name)
	}
	sequence := func(seed uint64) []string {
		return run(t, &Nemesis{Faults: names, Interval: time.Millisecond, Seed: seed, Targets: all}, 2*10)[:2*10]
	}
	first := sequence(3)
	if again := sequence(3); !slices.Equal(first, again) {
		t.Errorf("one seed gives\n%q\nand\n%q", first, again)
	}
	if other := sequence(4); slices.Equal(first, other) {
		t.Errorf("two seeds give %q", other)
	}
}

// TestWhole demands that a fault waits until the cluster has recovered.
func TestWhole(t *testing.T) {
	all, _, _ := targets(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	n := &Nemesis{Faults: []string{"exec"}, Interval: time.Millisecond, Targets: all, Whole: func(context.Context) error {
		if seen = append(seen, "whole"); len(seen) == 6 {
			cancel()
		}
		return ctx.Err()
	}}
	must(t, n.Run(ctx, func(_ histories.MarkKind, text string) { seen = append(seen, text) }))
	if want := []string{"exec", "end of exec", "whole", "exec", "end of exec", "whole"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	broken := errors.New("a replica is missing")
	n.Whole = func(context.Context) error { return broken }
	if err := n.Run(t.Context(), func(histories.MarkKind, string) {}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestRefused(t *testing.T) {
	all, _, _ := targets(t)
	unstartable := &process.Process{Name: "1"}
	for _, c := range []struct {
		n    Nemesis
		want string
	}{
		{Nemesis{Faults: []string{"flood"}, Targets: all}, `expected one of pause, kill, stop, isolate, cut, cut-one-way, delay, exec, got "flood"`},
		{Nemesis{Faults: []string{"pause"}}, "pause needs a broker's process (--broker-pid or --broker-cmd)"},
		{Nemesis{Faults: []string{"kill"}, Targets: Targets{Brokers: []*process.Process{unstartable}}}, "kill needs the command that starts a broker (--broker-cmd)"},
		{Nemesis{Faults: []string{"cut"}}, "cut needs a link through a proxy (--proxy)"},
		{Nemesis{Faults: []string{"exec"}}, "exec needs a command (--nemesis-exec)"},
		{Nemesis{Interval: -1}, "expected an interval above 0, got -1ns"},
	} {
		err := c.n.Run(t.Context(), func(_ histories.MarkKind, text string) { t.Errorf("marks %q", text) })
		if !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestFailing demands that what cannot be injected is said, and ended.
func TestFailing(t *testing.T) {
	all, addrs, diary := targets(t)
	all.Exec = fmt.Sprintf("sh -c 'echo $0 >>%s; echo no such switch; false'", diary)
	var marks []string
	err := (&Nemesis{Faults: []string{"exec"}, Interval: time.Millisecond, Targets: all}).Run(t.Context(), func(_ histories.MarkKind, text string) { marks = append(marks, text) })
	if err == nil || !strings.Contains(err.Error(), "begin: exit status 1\nno such switch") {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(diary); string(text) != "begin\nend\n" || !slices.Equal(marks, []string{"exec"}) {
		t.Errorf("the command was called %q, marks %q", text, marks)
	}
	must(t, all.Brokers[1].Kill(t.Context()))
	for _, name := range []string{"pause", "kill"} { // the end of a kill starts the broker
		f, _ := find(name)
		if err := (&Nemesis{Targets: all}).inject(t.Context(), f, last(), 0, func(histories.MarkKind, string) {}); err == nil || !strings.Contains(err.Error(), "2: does not run") {
			t.Errorf("%s: %v", name, err)
		}
	}
	healthy(t, all, addrs)
}

// TestHanging has commands that never end: each is killed with all that it began,
// at the limit or soon after somebody waits.
func TestHanging(t *testing.T) {
	defer func(was time.Duration) { hurried = was }(hurried)
	hurried = 200 * time.Millisecond
	folder := t.TempDir()
	hang := func(word string) string {
		return fmt.Sprintf("call() { echo $1 >>%s/diary; if [ $1 = %s ]; then sleep 600 & echo $! >>%s/numbers; wait; fi; }; call", folder, word, folder)
	}
	gone := func() {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, "numbers"))
		must(t, err)
		for _, pid := range strings.Fields(string(text)) {
			out, _ := exec.Command("ps", "-o", "state=", "-p", pid).Output()
			if state := strings.TrimSpace(string(out)); state != "" && state != "Z" {
				t.Errorf("process %s goes on: %s", pid, state)
			}
		}
	}
	for word, want := range map[string]string{"begin": "begin\nend\n", "end": "begin\nend\n"} {
		n := &Nemesis{Faults: []string{"exec"}, Interval: time.Millisecond, Limit: 300 * time.Millisecond, Targets: Targets{Exec: hang(word)}}
		err := n.Run(t.Context(), func(histories.MarkKind, string) {})
		if err == nil || !strings.Contains(err.Error(), word+": it did not end, and was killed: it takes more than 300ms") {
			t.Errorf("%v", err)
		}
		if begun := map[string]int{"begin": 0, "end": 1}[word]; n.Begun() != begun {
			t.Errorf("%d faults were injected, want %d", n.Begun(), begun)
		}
		text, _ := os.ReadFile(filepath.Join(folder, "diary"))
		if string(text) != want {
			t.Errorf("the command was called %q, want %q", text, want)
		}
		gone()
		must(t, os.Remove(filepath.Join(folder, "diary")))
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := &Nemesis{Faults: []string{"exec"}, Interval: time.Millisecond, Hurry: ctx.Done(), Targets: Targets{Exec: hang("begin")}}
	ended := make(chan error)
	go func() { ended <- n.Run(ctx, func(histories.MarkKind, string) {}) }()
	for {
		if text, _ := os.ReadFile(filepath.Join(folder, "diary")); len(text) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	must(t, <-ended)
	gone()
	heal, cancel := n.healing(ctx, time.Hour)
	defer cancel()
	<-heal.Done()
	if err := context.Cause(heal); err == nil || err.Error() != "it takes more than 200ms" {
		t.Errorf("%v", err)
	}
}

// last draws the last of several every time.
func last() *rand.Rand { return rand.New(most{}) }

type most struct{}

func (most) Uint64() uint64 { return 1<<64 - 1 }

// state is what the system says of a process: T for stopped.
func state(p *process.Process) string {
	if !p.Running() {
		return "gone"
	}
	out, _ := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(p.Number())).Output()
	return strings.TrimSpace(string(out))
}
