package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// A verifier judges files.
type verifier struct {
	app   *app
	check func(context.Context, string, checker.Options) (*checker.Result, histories.Header, error)
	judging
	expect  bool // compare with the verdicts that the files document
	json    bool
	verbose bool
	tally   [exitInternal + 1]int // files by exit code
}

func (a *app) verify() *cobra.Command {
	v := &verifier{app: a, check: a.checkFile}
	cmd := &cobra.Command{
		Use:   "verify FILE|FOLDER|-...",
		Short: "Judge histories",
		Long: "verify judges each history for itself: is what the clients saw legal for the settings\n" +
			"in its header, and if not, which few operations prove it. The encoding is recognised by\n" +
			"content; - is stdin; a folder stands for the histories in it and below.",
		Example: "  check verify run.jsonl.zst\n" +
			"  check verify --expect histories/corpus\n" +
			"  check verify --json run.hist | jq .findings",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := v.valid(); err != nil {
				return err
			}
			v.run(args)
			return nil
		},
	}
	a.limitFlag(cmd)
	v.judging.flags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&v.expect, "expect", false, "succeed if every file has the verdict that its header expects")
	flags.BoolVar(&v.json, "json", false, "one JSON object a file (see docs/json.md)")
	flags.BoolVarP(&v.verbose, "verbose", "v", false, "say everything about every file, not only about those that need it")
	return cmd
}

func (v *verifier) run(args []string) {
	files := v.app.sources(args)
	if len(files) > 1 {
		defer v.summarize(len(files))
	}
	for _, file := range files {
		j := v.judge(file)
		v.app.worsen(j.exit())
		v.tally[j.exit()]++
		if j.err != nil {
			v.app.fail(exitInput, j.err)
		}
		if v.json {
			v.app.encode(asJSON(j))
			continue
		}
		v.app.printText(j, v.verbose || len(files) == 1)
	}
}

// summarize says how many files had which result, the gravest first.
func (v *verifier) summarize(files int) {
	words := [...]string{exitOK: "ok", exitViolation: "violation", exitInput: "input error", exitUnknown: "unknown", exitInternal: "internal error"}
	if v.expect {
		words[exitOK], words[exitViolation] = "as expected", "not as expected"
	}
	var parts []string
	for _, code := range severity {
		if n := v.tally[code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[code]))
		}
	}
	fmt.Fprintf(v.app.err, "%s: %s\n", count(files, "file"), strings.Join(parts, ", "))
}

// judge reads and checks one file. A panic in that is a bug of ours and the
// file's result, so that the other files still get their verdicts.
func (v *verifier) judge(file source) (j judgement) {
	j = judgement{file: file.name, err: file.err, expecting: v.expect}
	if j.err != nil {
		return j
	}
	defer func() {
		report := file.name
		if p := recover(); p != nil {
			v.app.err.Write(debug.Stack())
			j.result = &checker.Result{Verdict: checker.Contradictory, Reason: fmt.Sprintf("panic: %v", p)}
		} else if j.exit() == exitInternal {
			report = v.app.smallest(file.name, v.opts)
		}
		if j.exit() == exitInternal {
			v.app.reportBug(j.result.Reason, report)
		}
	}()
	ctx, cancel := v.within(context.Background())
	defer cancel()
	end := newProgress(v.app.err).during("judging " + label(file.name))
	defer end()
	j.result, j.header, j.err = v.check(ctx, file.name, v.opts)
	if j.err == nil && v.expect && j.header.Expect.Verdict == "" {
		j.err = fmt.Errorf("%s: expected a header that states the verdict, such as \"expect ok\"; it states none", label(file.name))
	}
	return j
}

// checkFile judges a file, or the standard input.
func (a *app) checkFile(ctx context.Context, name string, opts checker.Options) (*checker.Result, histories.Header, error) {
	a.file = name
	if a.isFileOfHistory(name) {
		opts.MaxInput = a.limit
		r, h, err := checker.CheckFile(ctx, name, opts)
		return r, h, tooLong(err)
	}
	rec, err := a.load(ctx, name, importers.Options{Limit: a.limit})
	if err != nil {
		return nil, histories.Header{}, err
	}
	r := checker.Check(ctx, rec.History, opts)
	checker.Explain(ctx, rec.History, r, opts)
	if rec.Source != "" {
		r.Notes = append(r.Notes, "this is a recording of "+rec.Source+" (see check help import)")
	}
	for _, lost := range rec.Untranslated {
		if unjudged := histories.Unjudged + lost; r.Reason == unjudged || slices.Contains(r.Notes, unjudged) {
			continue // which says more
		}
		r.Notes = append(r.Notes, "not translated: "+lost)
	}
	return r, rec.Header(), nil
}

// isFileOfHistory reports whether a name is that of a file that can be read
// more than once and is no recording of another tool. What cannot be read says
// so when it is.
func (a *app) isFileOfHistory(name string) bool {
	return name != "-" && isFile(name) && importers.MayBeHistory(name)
}
