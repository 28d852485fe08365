package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
)

func (a *app) live() *cobra.Command {
	r := &recorder{app: a}
	cmd := &cobra.Command{
		Use:   "live --bootstrap HOST:PORT,... -o DIR",
		Short: "Record what clients of a live cluster see, and judge it",
		Long: "live does what record does, judges the recording as verify does, and prints the verdict. In\n" +
			"DIR it leaves " + liveRecording + " and, of a violation, " + livePage + ". The exit code is the\n" +
			"verdict's, or 3 if there is no violation and the recording lacks something, such as a\n" +
			"partition that could not be read to its end; both are said on stdout.",
		Example: "  check live --bootstrap localhost:9092 --partitions 3 --duration 1m -o out",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			recording, made, err := liveFolder(r.to, r.force)
			if err == nil {
				ctx, stop := interruptible()
				defer stop()
				err = r.live(ctx, recording)
			}
			for _, dir := range made {
				os.Remove(dir) // if nothing is in it
			}
			if err != nil {
				a.fail(exitInput, err)
			}
			return nil
		},
	}
	r.flags(cmd, "the folder to write", "replace a recording that is there")
	return cmd
}

// live records and judges.
func (r *recorder) live(ctx context.Context, path string) error {
	recorded, err := r.record(ctx, path)
	if err != nil {
		r.app.noRecording(ctx, err)
		return nil
	}
	v := &verifier{app: r.app, check: r.app.checkFile}
	v.opts.Steps, v.opts.Memory = checker.DefaultSteps, checker.DefaultMemory
	j := v.judge(source{name: path})
	r.app.worsen(j.exit())
	if j.err != nil {
		return j.err
	}
	page := ""
	if j.exit() == exitViolation {
		page = filepath.Join(r.to, livePage)
		if err := writePage(page, report.Page{History: recorded.History, Result: j.result, Next: command(j)}); err != nil {
			return err
		}
	}
	if r.json {
		r.app.encode(jsonLive{recorded.json(), asJSON(j), page})
		return nil
	}
	fmt.Fprint(r.app.out, recorded.text())
	r.app.printText(j, true)
	if recorded.lacks != nil {
		fmt.Fprintf(r.app.out, "  but the recording lacks something, see above; the exit code is %d\n", r.app.exit)
	}
	if page != "" {
		fmt.Fprintf(r.app.out, "  page: %s\n", label(page))
	}
	return nil
}

// jsonLive is the JSON of a recording and its verdict. Names are part of the
// command line's contract.
type jsonLive struct {
	Recording jsonRecording `json:"recording"`      // as record prints it
	Case      jsonJudgement `json:"case"`           // as verify prints it
	Page      string        `json:"page,omitempty"` // of a violation
}

// liveNames are the files that live writes into its folder.
const (
	liveRecording = "recording.jsonl.zst"
	livePage      = "report.html"
)

// liveFolder makes the folder of live, in which there is no recording yet, and
// returns the folders that it made, the innermost first.
func liveFolder(dir string, replace bool) (recording string, made []string, err error) {
	recording = filepath.Join(dir, liveRecording)
	if err := fileIsNew(recording, replace); err != nil {
		return "", nil, err
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", made, err
	}
	return recording, made, nil
}
