package logtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	pages "github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/histories"
)

// draw writes a page about a failure that has a file into the folder of new
// failures, where pages are wanted.
func (s *suite) draw(ctx context.Context, f *Failure) {
	if !s.draws || f.File == "" {
		return
	}
	path := filepath.Join(s.saveIn, strings.TrimSuffix(filepath.Base(f.File), histories.Encodings[0])+".html")
	text, err := f.page(ctx)
	if err == nil {
		err = os.MkdirAll(s.saveIn, 0o777)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		f.Unsaved = fmt.Errorf("its page: %w", err)
		return
	}
	f.Page = path
}

// page is about what is in the file, and leads with what is said of it: with a
// rule that the history alone does not show, too.
func (f *Failure) page(ctx context.Context) ([]byte, error) {
	text, err := os.ReadFile(f.File)
	if err != nil {
		return nil, err
	}
	h, err := histories.Parse(filepath.Base(f.File), text)
	if err != nil {
		return nil, err
	}
	r := checker.Check(context.WithoutCancel(ctx), h, checker.Options{})
	checker.Explain(ctx, h, r, checker.Options{})
	i := slices.IndexFunc(r.Findings, func(g checker.Finding) bool { return g.Name == f.Rule && g.Allowed == "" })
	lead := f.Finding
	if i >= 0 {
		lead = r.Findings[i]
		r.Findings = slices.Delete(r.Findings, i, i+1)
	}
	r.Verdict, r.Findings = checker.Violates, slices.Insert(r.Findings, 0, lead)
	var page bytes.Buffer
	err = pages.Page{History: h, Result: r, Next: f.rerun}.Write(&page)
	return page.Bytes(), err
}
