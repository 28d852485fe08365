package testcluster

import (
	"os"
	"path/filepath"
)

// folders is the pattern of the names of clusters' folders.
const folders = "isrcheck-kafka-*"

// lockName is the file in a cluster's folder that its owner keeps locked, for as
// long as it lives.
const lockName = "lock"

// Folder makes an empty folder for the data of a cluster, and removes those that
// were left behind by somebody who was killed. Who calls remove removes it.
func Folder() (dir string, remove func() error, err error) {
	all, err := filepath.Glob(filepath.Join(os.TempDir(), folders))
	if err != nil {
		return "", nil, err
	}
	for _, old := range all {
		// One without the file is just being made.
		if lock, err := os.OpenFile(filepath.Join(old, lockName), os.O_RDWR, 0); err == nil {
			if tryLock(lock) {
				_ = os.RemoveAll(old) // somebody else's, if it cannot be
			}
			lock.Close()
		}
	}
	dir, err = os.MkdirTemp("", folders)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Create(filepath.Join(dir, lockName))
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, err
	}
	tryLock(lock)
	return dir, func() error {
		defer lock.Close()
		return os.RemoveAll(dir)
	}, nil
}
