package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// A source is one history to read, or why there is none.
type source struct {
	name string // a path, or "-" for stdin
	err  error
}

// sources replaces folders by the histories in them, and says on stderr what of
// them is left out.
func (a *app) sources(args []string) []source {
	var out []source
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err != nil || !info.IsDir() {
			out = append(out, source{name: arg}) // what cannot be read says so when it is
			continue
		}
		found, left := walk(arg)
		if left > 0 && len(found) > 0 && found[0].err == nil {
			fmt.Fprintf(a.err, "check: %s: %s left out, not named as a history is (%s)\n", label(arg), count(left, "file"), strings.Join(extensions, ", "))
		}
		out = append(out, found...)
	}
	return out
}

// walk lists the histories in a folder and below, in lexical order. Hidden
// files and folders are left out. What has the name of a history and is no file is
// an error: reading a pipe might never end. left counts files with other names.
func walk(folder string) (out []source, left int) {
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
		case isHistory(path) && !entry.IsDir():
			out = append(out, source{name, fmt.Errorf("%s: expected a file; what else has the name of a history is not read, for that might never end", label(name))})
		case entry.Type().IsRegular():
			left++
		}
		return nil
	})
	if len(out) == 0 {
		return []source{{folder, fmt.Errorf("%s: expected histories (%s) in the folder, %w", label(folder), strings.Join(extensions, ", "), errNoHistories)}}, left
	}
	return out, left
}

var errNoHistories = errors.New("there are none")

// extensions are the names of the encodings, packed or not.
var extensions = append(slices.Clone(histories.Encodings), ".hist.gz", ".hist.zst")

func isHistory(path string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(path, e) })
}

// isFile follows links. What is gone meanwhile counts, so that reading it says so.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular()
}

// read returns the history in a file, or on stdin for "-", or what an importer
// makes of a recording there. What it could not translate is said on stderr.
func (a *app) read(ctx context.Context, name string) (*histories.History, error) {
	r, err := a.load(ctx, name, importers.Options{Limit: a.limit})
	if err != nil {
		return nil, err
	}
	a.tellLost(name, r)
	return r.History, nil
}

// load does the same, and leaves it to the caller to say what was not
// translated. If ctx ends, it returns that at once: what is read may be a pipe
// that never ends.
func (a *app) load(ctx context.Context, name string, opts importers.Options) (*importers.Recording, error) {
	a.file = name
	type outcome struct {
		r      *importers.Recording
		err    error
		failed any // what the reader panicked with
	}
	read := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.failed = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			read <- o
		}()
		if name == "-" {
			o.r, o.err = importers.Read(name, a.in, opts)
		} else {
			o.r, o.err = importers.ReadFile(name, opts)
		}
	}()
	select {
	case o := <-read:
		if o.failed != nil {
			panic(o.failed)
		}
		return o.r, tooLong(o.err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
