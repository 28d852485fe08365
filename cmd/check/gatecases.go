package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/zeebo/xxh3"

	"github.com/isrcheck/isrcheck/histories"
)

// A gateCase is a file of the corpus: a history, or why it cannot be read.
type gateCase struct {
	name    string
	history *histories.History
	err     error
}

// sources are the files of the folders, each of them once.
func (g *gate) sources() ([]source, error) {
	var all []source
	once := map[string]bool{}
	for _, folder := range g.folders {
		if _, err := os.Stat(folder); err != nil {
			return all, fmt.Errorf("--corpus: %w", err)
		}
		for _, file := range g.app.sources([]string{folder}) {
			if path := resolved(file.name); !errors.Is(file.err, errNoHistories) && !once[path] {
				once[path] = true
				all = append(all, file)
			}
		}
	}
	return all, nil
}

// cases returns the corpus. None at all is for the gate to judge, and so is one
// that cannot be read.
func (g *gate) cases(ctx context.Context, sources []source) ([]gateCase, error) {
	var all []gateCase
	if len(g.folders) == 0 {
		corpus, err := histories.Corpus()
		for _, h := range corpus {
			all = append(all, gateCase{name: path.Join("histories/corpus", h.Name()), history: h})
		}
		return all, err
	}
	for _, file := range sources {
		c := gateCase{name: file.name, err: file.err}
		if c.err == nil {
			c.history, c.err = g.app.read(ctx, file.name)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, c)
	}
	return all, nil
}

// digestOf tells corpora apart: by the names of the cases and by what is in them.
func digestOf(cases []gateCase) string {
	sum := xxh3.New()
	for _, c := range cases {
		fmt.Fprintf(sum, "%q %v\n", c.name, c.err)
		if c.history != nil {
			sum.Write(c.history.AppendNotation(nil))
		}
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}
