//go:build unix

package process

import (
	"syscall"
)

type signal = syscall.Signal

const (
	sigNone      = signal(0)
	sigPause     = syscall.SIGSTOP
	sigResume    = syscall.SIGCONT
	sigKill      = syscall.SIGKILL
	sigTerminate = syscall.SIGTERM
)

// send sends a signal to the process, and to those it began where they are a
// group of their own.
func (t target) send(sig signal) error {
	pid := t.pid
	if t.group {
		pid = -pid
	}
	return syscall.Kill(pid, sig)
}
