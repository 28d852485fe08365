package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
)

// makePages makes the folder that pages go to, if one was named.
func (g *gate) makePages() error {
	if g.pages == "" {
		return nil
	}
	return os.MkdirAll(g.pages, 0o777)
}

// page writes a page about a history if something is wrong with the item, and
// pages are wanted. One that cannot be written is no problem of the item.
func (g *gate) page(ctx context.Context, it *item, h *histories.History, r *checker.Result) {
	if g.pages == "" || it.Verdict == "ok" || it.Verdict == "" {
		return
	}
	checker.Explain(ctx, h, r, checker.Options{})
	part := g.report.Parts[len(g.report.Parts)-1].Name
	file := filepath.Join(g.pages, pageName(part, it))
	if err := writePage(file, h, r, it.Again); err != nil {
		g.app.fail(exitInput, err)
		return
	}
	it.Page = filepath.ToSlash(file)
}

// pageOfTrial is page for a run, as a case with its schedule.
func (g *gate) pageOfTrial(ctx context.Context, it *item, t *hunt.Trial) {
	h, err := t.Case()
	if err != nil {
		panic(err) // a schedule that was run has a text
	}
	g.page(ctx, it, h, t.Result)
}

// pageName is a file's name that says what it is about; the number tells items
// of equal names apart.
func pageName(part string, it *item) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, it.Name)
	const most = 120
	return part + "-" + strconv.Itoa(it.Index) + "-" + plain[max(0, len(plain)-most):] + ".html"
}
