package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A source is one history to read, or why there is none.
type source struct {
	name string // a path, or "-" for stdin
	err  error
}

// sources replaces folders by the histories in them.
func sources(args []string) []source {
	var out []source
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err != nil || !info.IsDir() {
			out = append(out, source{name: arg}) // what cannot be read says so when it is
			continue
		}
		out = append(out, walk(arg)...)
	}
	return out
}

// walk lists the histories in a folder and below, in lexical order. Hidden
// files and folders are left out, and so is whatever is not a file: reading a
// pipe might never end.
func walk(folder string) []source {
	var out []source
	fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.Join(folder, filepath.FromSlash(path))
		hidden := path != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden:
		case err != nil:
			out = append(out, source{name, err})
		case isHistory(path) && isFile(name):
			out = append(out, source{name: name})
		}
		return nil
	})
	if len(out) == 0 {
		return []source{{folder, fmt.Errorf("%s: expected histories (%s) in the folder, %w", label(folder), strings.Join(extensions, ", "), errNoHistories)}}
	}
	return out
}

var errNoHistories = errors.New("there are none")

// extensions are the names of the encodings.
var extensions = []string{".hist", ".jsonl", ".jsonl.gz", ".jsonl.zst"}

func isHistory(path string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(path, e) })
}

// isFile follows links. What is gone meanwhile counts, so that reading it says so.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// read returns the history in a file, or on stdin for "-".
func (a *app) read(name string) (*histories.History, error) {
	a.file = name
	if name == "-" {
		return histories.Read(name, a.in)
	}
	return histories.ReadFile(name)
}
