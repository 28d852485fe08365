//go:build unix

package process

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// watch has a shell wait beside us until we have ended, however that was, and
// kill what is left of a group of processes then. The system tells it by the end
// of its input, whose only writer we are; a line before that dismisses it.
func watch(group int) (dismiss func(), err error) {
	cmd := exec.Command("sh", "-c", fmt.Sprintf("read -r dismissed || kill -KILL -%d", group))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Dir = "/"
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_, _ = io.WriteString(in, "dismissed\n")
		_ = cmd.Wait()
	}, nil
}

// empty reports whether nobody is left of a group.
func empty(group int) bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) }
