package hunt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// Save writes the trial's case into a folder, which it makes if there is none,
// under a name made of the rule and the run's fingerprint. It writes over
// nothing: where the name is taken, it appends a number. It returns the path.
func (t *Trial) Save(folder string) (string, error) {
	h, err := t.Case()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	path, err := reserve(folder, t.FileName())
	if err != nil {
		return "", err
	}
	if err := h.WriteFile(path); err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// FileName is what the trial's case is called, without the ending.
func (t *Trial) FileName() string {
	rule := t.Rule()
	if rule == "" {
		rule = t.Result.Verdict.String()
	}
	return strings.ReplaceAll(rule, " ", "-") + "-" + t.Run.Fingerprint
}

// reserve creates an empty file that was not there before.
func reserve(folder, name string) (string, error) {
	for i := 1; ; i++ {
		path := filepath.Join(folder, name+histories.Encodings[0])
		if i > 1 {
			path = filepath.Join(folder, fmt.Sprintf("%s-%d%s", name, i, histories.Encodings[0]))
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
