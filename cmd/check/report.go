package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/cmd/check/internal/lanes"
	"github.com/isrcheck/isrcheck/histories"
)

func (a *app) report() *cobra.Command {
	var how judging
	var to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report FILE -o OUT.html",
		Short: "Write the verdict and a timeline as a web page",
		Long: "report judges a history and writes a page for a browser: the verdict in a sentence, the\n" +
			"operations that prove it, the command that repeats it, and a timeline with a lane for each\n" +
			"client. Of a case with a schedule, which is run again, it has a lane for each broker as well:\n" +
			"role, epoch, place in the ISR, log end, high watermark, and the log at the cursor's time.\n" +
			"The page is one file that needs no network. Of a long history it draws what surrounds the\n" +
			"proof, and says what it left out. The exit code is the verdict's. - is stdin.\n" +
			"OUT is replaced as a whole or, if anything goes wrong, left alone.",
		Example: "  check report failures/lost-write-9c1f02ab55d01e77.hist -o report.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			out := output{"--output", to}
			if err := cmp.Or(how.valid(), apart([]output{out}, args[0]), noHistory(out)); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			if err := a.reportFile(ctx, args[0], to, how, asJSON); err != nil {
				a.failOrStop(ctx, err)
			}
			return nil
		},
	}
	a.limitFlag(cmd)
	how.flags(cmd)
	cmd.Flags().StringVarP(&to, "output", "o", "", "the file to write")
	jsonFlag(cmd, &asJSON)
	cmd.MarkFlagRequired("output")
	return cmd
}

func (a *app) reportFile(ctx context.Context, name, to string, how judging, printJSON bool) error {
	h, err := a.read(ctx, name)
	if err != nil {
		return err
	}
	end := newProgress(a.err).during("judging " + label(name))
	r := how.explained(ctx, h)
	end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	j := judgement{file: name, header: h.Header(), result: r}
	if err := writePage(to, report.Page{History: h, Result: r, Next: command(j)}); err != nil {
		return err
	}
	a.worsen(j.exit())
	if printJSON {
		a.encode(jsonReport{name, to, command(j), asJSON(j)})
	} else {
		fmt.Fprintf(a.out, "%s: %s\n", label(to), a.ink.verdict(r))
	}
	if j.exit() == exitInternal {
		a.reportBug(r.Reason, name)
	}
	return nil
}

// jsonReport is the JSON of a report. Names are part of the command line's
// contract.
type jsonReport struct {
	File string        `json:"file"` // path, or - for stdin
	Page string        `json:"page"` // the file that was written
	Next string        `json:"next"` // what to type next, "" if nothing needs to be done
	Case jsonJudgement `json:"case"` // as verify prints it
}

// writePage writes a page about a judged history, as a whole or not at all, with
// what is known beside.
func writePage(path string, p report.Page) error {
	cluster, err := lanes.Of(p.History)
	if err != nil {
		return err
	}
	p.Facts, p.Cluster = facts(p.History.Header(), p.Result), cluster
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		return err
	}
	return replaceFile(path, out.Bytes())
}

// command is what takes a judged history further, "" if nothing needs to be done.
func command(j judgement) string {
	if checker.OfLogtest(j.header) {
		return checker.LogtestCommand(j.header)
	}
	if j.result.Verdict == checker.Violates || j.header.Schedule != "" {
		return next(j)
	}
	return ""
}

// facts are what a page says beside the finding that it is about.
func facts(hd histories.Header, r *checker.Result) []string {
	var out []string
	if text := unmet(hd, r); text != "" {
		out = append(out, text)
	}
	if checker.OfLogtest(hd) && checker.LogtestCommand(hd) == "" {
		out = append(out, "To see it again, run the Go test that saved the case, which begins with it.")
	}
	if r.Legal != nil {
		out = append(out, legalUpTo(r)+".")
	}
	if len(r.Lost) > 0 {
		out = append(out, "Lost: "+losses(r)+".")
	}
	for _, note := range r.Notes {
		out = append(out, sentence(note)+".")
	}
	if len(r.Assumptions) > 0 {
		out = append(out, "Assumed, for the header does not say: "+strings.Join(r.Assumptions, " ")+".")
	}
	return out
}
