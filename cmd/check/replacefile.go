package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile writes a file so that at every moment, whenever this program is
// killed, it is whole: as it was before or as it is to be. What a killed one
// leaves beside it, under a hidden name, the next one writes over.
func replaceFile(path string, text []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o666) // a pipe or a device cannot be replaced
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	f, err := os.OpenFile(beside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path // which was asked for
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		os.Remove(beside)
	}
	return err
}
