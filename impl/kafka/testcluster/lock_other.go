//go:build !unix || solaris || illumos || aix

package testcluster

import "os"

// tryLock knows of nobody who has ended: nothing is removed.
func tryLock(*os.File) bool { return false }
