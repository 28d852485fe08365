//go:build unix && !solaris && !illumos && !aix

package testcluster

import (
	"os"
	"syscall"
)

// tryLock locks a file until it is closed or we have ended, unless somebody else
// does.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
