package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/cmd/check/internal/matrix"
)

// A matrixRun is the command matrix: what each configuration shows under each
// fault, beside what it may.
type matrixRun struct {
	app            *app
	opts           matrix.Options
	folder         string
	json, markdown bool
	saved          map[*hunt.Trial]string // where the case of a trial is
}

func (a *app) matrix() *cobra.Command {
	m := &matrixRun{app: a, saved: map[*hunt.Trial]string{}}
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Show what each configuration loses under each fault",
		Long: "matrix runs schedules for each pair of a fault and a configuration, confined to that fault,\n" +
			"and shows what clients saw, and what the replicas came to, beside what the protocol permits\n" +
			"there. What is forbidden and was seen is red, its schedule is saved for 'check replay', and\n" +
			"the exit code is 1. What is permitted and was not seen is listed as not yet demonstrated.\n" +
			"Only schedules count in which the conditions of the fault held: that the struck broker led,\n" +
			"say, or was alone in the ISR. Equal flags give equal output.",
		Example: "  check matrix\n" +
			"  check matrix --runs 500 --markdown\n" +
			"  check matrix --bug lost-disk-stays-eligible",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if m.opts.Runs < 1 {
				return errors.New("expected --runs of 1 or more")
			}
			if m.opts.Bug != "" {
				if _, err := bugByName(m.opts.Bug); err != nil {
					return err
				}
			}
			ctx, stop := interruptible()
			defer stop()
			m.run(ctx)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&m.opts.Runs, "runs", 50, "schedules for each fault and configuration")
	flags.Uint64Var(&m.opts.Seed, "seed", defaultSeed, "of the schedules")
	flags.StringVar(&m.opts.Bug, "bug", "", "switch on a seeded bug (see 'check bugs')")
	jsonFlag(cmd, &m.json)
	flags.BoolVar(&m.markdown, "markdown", false, "the table in Markdown")
	flags.StringVarP(&m.folder, "output", "o", "failures", "folder for the cases of what is forbidden")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

func (m *matrixRun) run(ctx context.Context) {
	progress := newProgress(m.app.err)
	m.opts.Progress = func(done, all int) { progress.say(done, all, "%d of %s", done, count(all, "cell")) }
	cells, err := matrix.Run(ctx, m.opts)
	progress.done()
	if err != nil {
		m.app.fail(exitInput, err)
		return
	}
	if ctx.Err() != nil {
		m.app.failOrStop(ctx, ctx.Err())
		return
	}
	verdict := m.judge(cells)
	switch {
	case m.json:
		m.app.encode(m.asJSON(cells, verdict))
	case m.markdown:
		matrix.WriteMarkdown(m.app.out, cells)
		m.printRed(cells)
	default:
		m.print(cells, verdict)
	}
}

// judge saves the cases of what is forbidden, and sets the exit code: a cell
// without a single schedule says nothing.
func (m *matrixRun) judge(cells []*matrix.Cell) string {
	verdict := "ok"
	for _, c := range cells {
		if c.Applies() && c.Runs == 0 && verdict == "ok" {
			verdict = "unknown"
			m.app.worsen(exitUnknown)
		}
		for _, r := range c.Red {
			verdict = "violation"
			m.app.worsen(exitViolation)
			m.save(r.Trial)
		}
	}
	return verdict
}

// save writes the case of a trial, once.
func (m *matrixRun) save(t *hunt.Trial) {
	if _, ok := m.saved[t]; ok {
		return
	}
	path, err := t.Save(m.folder)
	if err != nil {
		m.app.fail(exitInput, fmt.Errorf("a case was not saved, it is in the results: %w", err))
	}
	m.saved[t] = path
}

// unsaved is the text of a case that could not be saved, "" of any other.
func (m *matrixRun) unsaved(t *hunt.Trial) string {
	if m.saved[t] != "" {
		return ""
	}
	_, text := judged(t, "-")
	return string(text)
}

func (m *matrixRun) print(cells []*matrix.Cell, verdict string) {
	out, ink := m.app.out, m.app.ink
	runs := 0
	for _, c := range cells {
		runs += c.Runs
	}
	seed := fmt.Sprintf("(%d a cell, seed %d)", m.opts.Runs, m.opts.Seed)
	switch verdict {
	case "ok":
		fmt.Fprintf(out, "%s: nothing forbidden in %s %s\n\n", ink.green(verdict), count(runs, "schedule"), seed)
	case "unknown":
		fmt.Fprintf(out, "%s: nothing forbidden in %s, and some cells have none %s\n\n", ink.yellow(verdict), count(runs, "schedule"), seed)
	default:
		fmt.Fprintf(out, "%s: what is forbidden was seen in %s %s\n\n", ink.red(verdict), count(runs, "schedule"), seed)
	}
	m.printTable(cells)
	fmt.Fprintln(out, "\nA capital letter was seen, a small one is permitted and was not, one behind ! is forbidden.")
	fmt.Fprintln(out, "S, U and P are permitted almost everywhere, X where sends are retried without idempotence.")
	var legend [][]string
	for _, l := range matrix.Letters {
		legend = append(legend, []string{"  " + l.Letter, l.Says})
	}
	legend = append(legend, []string{""})
	for _, c := range matrix.Configs {
		legend = append(legend, []string{"  " + c.Name, c.Says})
	}
	fmt.Fprintln(out, table(legend))
	m.printMissing(cells)
	m.printRed(cells)
}

func (m *matrixRun) printTable(cells []*matrix.Cell) {
	columns := len(matrix.Configs)
	widths := make([]int, columns)
	for i, c := range cells {
		widths[i%columns] = max(widths[i%columns], len(matrix.Configs[i%columns].Name), len(cellText(c)))
	}
	head := fmt.Sprintf("%-33s", "")
	for i, c := range matrix.Configs {
		head += fmt.Sprintf(" %-*s", widths[i], c.Name)
	}
	fmt.Fprintln(m.app.out, strings.TrimRight(head, " "))
	for i := range matrix.Faults {
		line := fmt.Sprintf("%-33s", matrix.Faults[i].Name)
		for j, c := range cells[i*columns : (i+1)*columns] {
			text := cellText(c)
			padding := strings.Repeat(" ", widths[j]-len(text))
			if len(c.Red) > 0 {
				text = m.app.ink.red(text)
			}
			line += " " + text + padding
		}
		fmt.Fprintln(m.app.out, strings.TrimRight(line, " "))
	}
}

// cellText is a cell in a few letters.
func cellText(c *matrix.Cell) string {
	if !c.Applies() {
		return "n/a"
	}
	var text string
	for _, l := range c.Letters() {
		switch {
		case l.Forbidden:
			text += strings.TrimSuffix("!"+l.Letter, matrix.Violation)
		case l.Runs == 0:
			text += strings.ToLower(l.Letter)
		default:
			text += l.Letter
		}
	}
	if text == "" {
		return "-"
	}
	return text
}

func (m *matrixRun) printMissing(cells []*matrix.Cell) {
	columns := len(matrix.Configs)
	var rows [][]string
	for i := range matrix.Faults {
		row := cells[i*columns : (i+1)*columns]
		if missing := alike(row, (*matrix.Cell).Missing); missing != "" {
			rows = append(rows, []string{"  " + matrix.Faults[i].Name, missing})
		}
		if few := alike(row, m.few); few != "" {
			rows = append(rows, []string{"  " + matrix.Faults[i].Name, few})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(m.app.out, "\nnot yet demonstrated\n%s\n", table(rows))
	}
}

// few says how many schedules a cell has, if it has not all it should have.
func (m *matrixRun) few(c *matrix.Cell) string {
	if !c.Applies() || c.Runs == m.opts.Runs {
		return ""
	}
	return fmt.Sprintf("in only %s", count(c.Runs, "schedule"))
}

// alike says of which cells the same is to be said, as "L: C1 C6; S: C2".
func alike(row []*matrix.Cell, of func(*matrix.Cell) string) string {
	var order []string
	names := map[string]string{}
	for _, c := range row {
		if says := of(c); says != "" {
			if names[says] == "" {
				order = append(order, says)
			}
			names[says] += " " + c.Config.Name
		}
	}
	for i, says := range order {
		order[i] = says + ":" + names[says]
	}
	return strings.Join(order, "; ")
}

func (m *matrixRun) printRed(cells []*matrix.Cell) {
	for _, c := range cells {
		for _, r := range c.Red {
			fmt.Fprintf(m.app.out, "\n%s: %s, %s: %s\n", m.app.ink.red("forbidden "+r.Letter), c.Fault.Name, c.Config.Name, r.Says)
			if path := m.saved[r.Trial]; path != "" {
				fmt.Fprintf(m.app.out, "  next: check replay %s\n", shellWord(path))
			} else {
				fmt.Fprintf(m.app.out, "\n%s", m.unsaved(r.Trial))
			}
		}
	}
}

// The JSON of a matrix. Names are part of the command line's contract.
type (
	jsonMatrix struct {
		Seed    uint64           `json:"seed"`          // of the schedules
		Runs    int              `json:"runs"`          // asked for, a cell
		Bug     string           `json:"bug,omitempty"` // that is switched on
		Verdict string           `json:"verdict"`       // ok, violation or unknown
		Exit    int              `json:"exit"`          // code
		Letters []jsonLetter     `json:"letters"`       // what can be seen
		Configs []jsonLetter     `json:"configs"`       // configurations, the columns
		Cells   []jsonMatrixCell `json:"cells"`         // row by row
	}
	jsonLetter struct {
		Name string `json:"name"` // of a letter or a configuration
		Says string `json:"says"` // what it means
	}
	jsonMatrixCell struct {
		Fault     string         `json:"fault"`     // the row
		Config    string         `json:"config"`    // the column
		Applies   bool           `json:"applies"`   // the fault can happen there
		Drawn     int            `json:"drawn"`     // schedules
		Runs      int            `json:"runs"`      // of those drawn, the ones of this cell
		Undecided int            `json:"undecided"` // runs with the verdict unknown
		Permitted string         `json:"permitted"` // the letters that are to be expected
		Missing   string         `json:"missing"`   // of those, the ones not yet demonstrated
		Seen      map[string]int `json:"seen"`      // runs by letter
		Forbidden []jsonRed      `json:"forbidden"` // what was seen and is not permitted
	}
	jsonRed struct {
		Letter   string `json:"letter"`         // "!" for a violation that is none of the letters
		Says     string `json:"says"`           // in a sentence
		Schedule int    `json:"schedule"`       // its number among those drawn for the cell
		Case     string `json:"case"`           // the file, "" if it could not be saved
		Text     string `json:"text,omitempty"` // of the case, if it could not be saved
	}
)

func (m *matrixRun) asJSON(cells []*matrix.Cell, verdict string) jsonMatrix {
	out := jsonMatrix{Seed: m.opts.Seed, Runs: m.opts.Runs, Bug: m.opts.Bug, Verdict: verdict, Exit: m.app.exit}
	for _, l := range matrix.Letters {
		out.Letters = append(out.Letters, jsonLetter{l.Letter, l.Says})
	}
	for _, c := range matrix.Configs {
		out.Configs = append(out.Configs, jsonLetter{c.Name, c.Says})
	}
	for _, c := range cells {
		cell := jsonMatrixCell{c.Fault.Name, c.Config.Name, c.Applies(), c.Drawn, c.Runs, c.Undecided, c.Permitted(), c.Missing(), c.Seen, []jsonRed{}}
		for _, r := range c.Red {
			cell.Forbidden = append(cell.Forbidden, jsonRed{r.Letter, r.Says, r.Schedule, m.saved[r.Trial], m.unsaved(r.Trial)})
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}
