package process

import (
	"os/exec"
	"syscall"
)

// alone keeps a command in a group of its own, that an interrupt from the
// keyboard does not reach, and that ends with us if it is ours.
func alone(cmd *exec.Cmd, ours bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if ours {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
