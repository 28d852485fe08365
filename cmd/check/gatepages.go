package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
)

// page writes a page about a history if something is wrong with the item, and
// pages are wanted. One that cannot be written is no problem of the item.
func (g *gate) page(ctx context.Context, it *item, h *histories.History, r *checker.Result) {
	if g.files.html == "" || it.Verdict == "ok" || it.Verdict == "" {
		return
	}
	checker.Explain(ctx, h, r, checker.Options{})
	part := g.report.Parts[len(g.report.Parts)-1].Name
	file := filepath.Join(g.files.html, pageName(part, it))
	problem := report.Problem{By: "check gate, part " + part, Name: it.Name, Verdict: it.Verdict, Kind: it.Kind, Says: it.Says, Shown: shownBy[part]}
	if err := writePage(file, report.Page{History: h, Result: r, Next: it.Again, Problem: &problem}); err != nil {
		g.app.fail(exitInput, err)
		g.report.Troubles = append(g.report.Troubles, err.Error())
		return
	}
	it.Page = filepath.ToSlash(file)
}

// shownBy says which history the pages of each part show.
var shownBy = map[string]string{"corpus": "the case as it was saved", "replay": "the run that the schedule makes now", "safe": "the run of the schedule"}

// pageOfTrial is page for a run, as a case with its schedule.
func (g *gate) pageOfTrial(ctx context.Context, it *item, t *hunt.Trial) {
	h, err := t.Case()
	if err != nil {
		panic(err) // a schedule that was run has a text
	}
	g.page(ctx, it, h, t.Result)
}

var errNoPage = errors.New("expected the name of an .html file")

// gatherPages copies the pages that a shard's report names into one folder, and
// has the report name them there. They are where the gate wrote them, or at the
// same place seen from the folder that its report is in now.
func (a *app) gatherPages(r *gateReport, folder, to string) {
	for i := range r.Parts {
		for j := range r.Parts[i].Items {
			it := &r.Parts[i].Items[j]
			if it.Page == "" {
				continue
			}
			page := filepath.FromSlash(it.Page)
			if beside := filepath.Join(folder, page); !filepath.IsAbs(page) {
				if _, err := os.Stat(beside); err == nil {
					page = beside
				}
			}
			file := filepath.Join(to, filepath.Base(page))
			var text []byte
			err := errNoPage // a report may be anybody's: nothing else is copied to where all can read it
			if filepath.Ext(page) == ".html" {
				text, err = os.ReadFile(page)
			}
			if err == nil && !sameFile(file, page) {
				err = replaceFile(file, text)
			}
			if err != nil {
				a.fail(exitInput, fmt.Errorf("the page about %s: %w", label(it.Name), err))
				r.Troubles = append(r.Troubles, fmt.Sprintf("the page about %s: %v", label(it.Name), err))
				continue
			}
			it.Page = filepath.ToSlash(file)
		}
	}
}

// pageNames are what pageName gives, and drawnBy is what the head of a page has.
var (
	pageNames = regexp.MustCompile(`^(corpus|rules|replay|bugs|safe)-(\d+)-.*\.html$`)
	drawnBy   = []byte(`<meta name="generator" content="isrcheck">`)
)

// sweep removes the pages of earlier gates from a folder, those that old is true
// of: what has the name of a page and says in its head that it is one. Nobody
// then takes a problem of the last run for one of this.
func sweep(folder string, old func(part string, index int) bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := pageNames.FindStringSubmatch(e.Name())
		if name == nil || !e.Type().IsRegular() {
			continue
		}
		index, err := strconv.Atoi(name[2])
		file := filepath.Join(folder, e.Name())
		if err != nil || !old(name[1], index) || !isPage(file) {
			continue
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// isPage reports whether a file begins as a page does.
func isPage(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1024))
	return err == nil && bytes.Contains(head, drawnBy)
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
