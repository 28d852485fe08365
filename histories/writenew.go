package histories

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteNew writes the history in the notation into a folder, which it makes if
// there is none, under that name. It writes over nothing: where the name is
// taken, it appends a number. It returns the path.
func (h *History) WriteNew(folder, name string) (path string, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	path, err = reserve(folder, name)
	if err != nil {
		return "", err
	}
	if err := h.WriteFile(path); err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// reserve creates an empty file that was not there before.
func reserve(folder, name string) (string, error) {
	for i := 1; ; i++ {
		path := filepath.Join(folder, name+Encodings[0])
		if i > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d%s", name, i, Encodings[0]))
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			return path, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}
