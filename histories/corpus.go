package histories

import (
	"embed"
	"errors"
	"io/fs"
	"path"
)

// The corpus is a folder of cases, each stating the verdict it must get. The
// names are the files' paths below corpus/: passing/ holds what a checker must
// accept, failing/ what it must reject.
//
//go:embed corpus
var corpus embed.FS

// Corpus returns the cases of the corpus, in order of their paths. The names
// of the histories are those paths, without the leading "corpus/". A corpus
// without cases is an error.
func Corpus() ([]*History, error) {
	files, err := fs.Sub(corpus, "corpus")
	if err != nil {
		return nil, err
	}
	return readAll(files)
}

// readAll reads every history below a folder; other files are not there.
func readAll(files fs.FS) ([]*History, error) {
	var all []*History
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".md" {
			return err
		}
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		h, err := Read(name, f)
		if err != nil {
			return err
		}
		all = append(all, h)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = errors.New("the corpus holds no history")
	}
	return all, err
}
