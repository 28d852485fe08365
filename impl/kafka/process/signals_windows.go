package process

import (
	"errors"
	"fmt"
	"os"
)

type signal int

const (
	sigNone signal = iota
	sigPause
	sigResume
	sigKill
	sigTerminate
)

// send can do no more than kill: the system has no signals.
func (t target) send(sig signal) error {
	p, err := os.FindProcess(t.pid)
	if err != nil || sig == sigNone {
		return err
	}
	if sig != sigKill {
		return fmt.Errorf("signals to process %d: %w", t.pid, errors.ErrUnsupported)
	}
	return p.Kill()
}
