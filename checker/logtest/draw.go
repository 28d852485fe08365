package logtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	pages "github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/histories"
)

// draw writes a page about a failure beside its file.
func (f *Failure) draw(ctx context.Context) {
	r := checker.Check(context.WithoutCancel(ctx), f.History, checker.Options{})
	checker.Explain(ctx, f.History, r, checker.Options{})
	if !slices.Contains(r.Names(), f.Rule) { // the history alone does not show it
		r.Verdict, r.Findings = checker.Violates, append([]checker.Finding{f.Finding}, r.Findings...)
	}
	var page bytes.Buffer
	err := pages.Page{History: f.History, Result: r, Next: f.rerun}.Write(&page)
	path := strings.TrimSuffix(f.File, histories.Encodings[0]) + ".html"
	if err == nil {
		err = os.WriteFile(path, page.Bytes(), 0o644)
	}
	if err != nil {
		f.Unsaved = fmt.Errorf("its page: %w", err)
		return
	}
	f.Page = path
}
