// Package process runs processes of this machine and makes them fail: paused as
// by a long garbage collection, killed as by a crash, stopped in good order.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Process is a program that can be started again after it ended. It is safe
// for use by several goroutines.
type Process struct {
	// Name is what errors call it.
	Name string
	// Command makes the command that runs it; nil if nobody knows how it is
	// started, so that it cannot be started again.
	Command func() *exec.Cmd
	// PID asks for the process each time, where the command may end before what
	// it starts does; nil if the command is the process.
	PID func() (int, error)
	// Lasting processes go on when we end.
	Lasting bool

	mu  sync.Mutex
	run target // the last that began; its pid is 0 if there is none
	how error  // it ended, once it has
}

// ErrEnded says that a process does not run.
var ErrEnded = errors.New("does not run")

// FromFile reads a process's number from the file it keeps it in.
func FromFile(name string) func() (int, error) {
	return func() (int, error) {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid <= 1 {
			return 0, fmt.Errorf("%s:1: expected the number of a process, got %q", name, text)
		}
		return pid, nil
	}
}

// Adopt makes the process one that something else has started.
func (p *Process) Adopt(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = target{name: p.Name, pid: pid}
}

// Start runs the command, with what it begins in a group of processes of its own.
// On a Unix all of the group ends with us, even if we are killed, unless the
// process is Lasting.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Command == nil {
		return fmt.Errorf("%s: no command is known that starts it", p.Name)
	}
	if p.run.there() {
		return fmt.Errorf("%s: runs already", p.Name)
	}
	cmd := p.Command()
	alone(cmd, !p.Lasting)
	var said tail
	if cmd.Stderr == nil && !p.Lasting { // what lasts must not write to us
		cmd.Stderr = &said
	}
	cmd.WaitDelay = outputDelay
	began := make(chan error)
	ended := make(chan struct{})
	go func() {
		// The system ends a child with the thread that began it, so the thread stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		dismiss, err := begin(cmd, !p.Lasting)
		began <- err
		if err != nil {
			return
		}
		p.ended(fate(cmd.Wait(), &said))
		close(ended)
		if empty(cmd.Process.Pid) {
			dismiss()
		} else {
			left.Store(cmd.Process.Pid, dismiss)
		}
	}()
	if err := <-began; err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	p.run = target{name: p.Name, pid: cmd.Process.Pid, group: true, ended: ended}
	return nil
}

// left are the groups of which somebody goes on after the command has ended. Who
// watches them has to be held, or it would be told of our end too early.
var left sync.Map

// outputDelay is how long a command that has ended may have others write to its
// output, before nobody listens any more.
const outputDelay = time.Second

// begin runs a command, and has it watched if it is ours.
func begin(cmd *exec.Cmd, ours bool) (dismiss func(), err error) {
	if err := cmd.Start(); err != nil || !ours {
		return func() {}, err
	}
	dismiss, err = watch(cmd.Process.Pid)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return dismiss, err
}

// fate is how a command ended, with the last words that it said of it; nil if
// it ended well.
func fate(err error, said *tail) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well, and something that it began goes on
	}
	if line := said.line(); err != nil && line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}

func (p *Process) ended(how error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.how = how
}

// How says how what [Process.Start] started has ended: nil if it ended well, or
// else its exit status or the signal, with the last line that it wrote to its
// standard error.
func (p *Process) How() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.how
}

// Ended is closed when what [Process.Start] started has ended; nil before.
func (p *Process) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run.ended
}

// Number is the number of the process, 0 if it does not run.
func (p *Process) Number() int {
	t, err := p.target()
	if err != nil {
		return 0
	}
	return t.pid
}

// Running says whether the process is there, paused or not.
func (p *Process) Running() bool { return p.Alive() == nil }

// Alive says why the process is not there, with [ErrEnded] or an error of PID.
func (p *Process) Alive() error {
	t, err := p.target()
	if err == nil && !t.there() {
		err = fmt.Errorf("%s: process %d %w", p.Name, t.pid, ErrEnded)
	}
	return err
}

// Pause stops the process from doing anything: for the others it is silent,
// while its connections stay open. See [Process.Resume].
func (p *Process) Pause() error {
	_, err := p.signal(sigPause)
	return err
}

// Resume lets a paused process go on. One that was not paused does not notice.
func (p *Process) Resume() error {
	_, err := p.signal(sigResume)
	return err
}

// Kill ends the process at once, and returns when it is gone. What it wrote to
// files stays written, since the system lives on.
func (p *Process) Kill(ctx context.Context) error { return p.end(ctx, sigKill) }

// Terminate asks the process to end in its own way, and returns when it is
// gone. It is still there if the context ends before.
func (p *Process) Terminate(ctx context.Context) error { return p.end(ctx, sigTerminate) }

func (p *Process) end(ctx context.Context, sig signal) error {
	t, err := p.signal(sig)
	if err != nil {
		return err
	}
	return t.gone(ctx)
}

func (p *Process) signal(sig signal) (target, error) {
	t, err := p.target()
	if err != nil {
		return t, err
	}
	if err := t.send(sig); err != nil {
		return t, fmt.Errorf("%s: process %d: %w", p.Name, t.pid, err)
	}
	return t, nil
}

// A target is what a signal is for.
type target struct {
	name  string
	pid   int
	group bool          // of processes, whose leader is pid
	ended chan struct{} // nil if the process is not our child
}

func (p *Process) target() (target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.PID != nil {
		pid, err := p.PID()
		if err != nil {
			return target{}, fmt.Errorf("%s: %w", p.Name, err)
		}
		return target{name: p.Name, pid: pid}, nil
	}
	if !p.run.there() {
		return target{}, fmt.Errorf("%s: %w", p.Name, ErrEnded)
	}
	return p.run, nil
}

func (t target) there() bool {
	return t.pid != 0 && (t.ended == nil || !isClosed(t.ended)) && t.send(sigNone) == nil
}

// gone waits until the process has ended. Of a process that is not our child
// the system does not tell when it ends, so it is asked for.
func (t target) gone(ctx context.Context) error {
	ask := time.NewTicker(10 * time.Millisecond)
	defer ask.Stop()
	for {
		if !t.there() {
			return nil
		}
		select {
		case <-t.ended:
			return nil
		case <-ask.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: process %d is still there: %w", t.name, t.pid, context.Cause(ctx))
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
