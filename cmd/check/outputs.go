package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// An output is a file or folder to be written, and what names it, such as a flag.
type output struct{ by, path string }

// apart demands that outputs are different files and none of them an input: one
// would be written over the other. "" and "-" are no file, and a pipe or a
// device takes what it is given.
func apart(outputs []output, inputs ...string) error {
	for i, o := range outputs {
		for _, other := range outputs[:i] {
			if sameFile(o.path, other.path) {
				return fmt.Errorf("%s and %s name one file, %s; expected two", other.by, o.by, label(o.path))
			}
		}
		for _, in := range inputs {
			if sameFile(o.path, in) {
				return fmt.Errorf("%s would be written over %s, which is read; expected another file", o.by, label(in))
			}
		}
	}
	return nil
}

// noHistory demands that outputs which are no histories do not have the name of
// one: in a folder they would be read as such.
func noHistory(outputs ...output) error {
	for _, o := range outputs {
		if isHistory(o.path) {
			return fmt.Errorf("%s would be read as a history in a folder, by its name %s; expected another name", o.by, label(o.path))
		}
	}
	return nil
}

// fileIsNew refuses a file that is there already, if it is not to be replaced,
// and what is no file.
func fileIsNew(path string, replace bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; expected the name of a file", label(path))
	}
	if _, err := os.Lstat(path); err == nil && !replace {
		return fmt.Errorf("%s is there already; --force replaces it", label(path))
	}
	return nil
}

// sameFile reports whether two paths lead to one file, which need not be there.
func sameFile(a, b string) bool {
	for _, path := range []string{a, b} {
		if path == "" || path == "-" {
			return false
		}
	}
	one, err := os.Stat(a)
	two, also := os.Stat(b)
	if err == nil && also == nil {
		return os.SameFile(one, two) && (one.Mode().IsRegular() || one.IsDir())
	}
	return err != nil && also != nil && resolved(a) == resolved(b)
}

// resolved is a path without links as far as it is there.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}
