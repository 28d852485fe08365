package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/isrcheck/isrcheck/checker"
)

// smallest makes a history about which the checker contradicts itself as small
// as it can, and returns the file that it was written to. Where that does not
// work, the file that showed it has to do.
func (a *app) smallest(name string, opts checker.Options) string {
	ctx := context.Background()
	if name == "-" { // it was read already
		return name
	}
	h, err := a.read(ctx, name)
	if err != nil {
		return name
	}
	short, _ := checker.Minimize(ctx, h, checker.MinimizeOptions{Options: opts, Budget: defaultShrink})
	if short == h {
		return name
	}
	hash := fnv.New64a()
	hash.Write(short.AppendNotation(nil))
	path := filepath.Join("failures", fmt.Sprintf("contradiction-%016x.hist", hash.Sum64()))
	if os.MkdirAll("failures", 0o777) != nil || short.WriteFile(path) != nil {
		return name
	}
	return path
}
