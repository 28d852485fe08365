//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// alone keeps a command in a group of its own, that an interrupt from the
// keyboard does not reach.
func alone(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
