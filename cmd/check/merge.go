package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) merge() *cobra.Command {
	var files reportFiles
	cmd := &cobra.Command{
		Use:   "merge REPORT...",
		Short: "Put the reports of a gate's shards together",
		Long: "merge reads the JSON reports of all shards of one gate and gives the verdict of the\n" +
			"whole: the gravest of each part, with the exit code that goes with it. A shard that is\n" +
			"missing, there twice or of another gate is an error, and the others are put together all\n" +
			"the same: what they found is not lost. So is one that was ended before it was complete.\n" +
			"With --html, the pages of all shards are copied into one folder. They are looked for beside\n" +
			"the reports that name them.",
		Example: "  check merge gate-*.json --json gate.json --junit gate.xml --html pages",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(files.check(), apart(files.outputs(), args...)); err != nil {
				return err
			}
			if err := files.makePages(); err != nil {
				a.fail(exitInput, err)
				return nil
			}
			shards, troubles := a.readReports(args, files.html)
			if len(shards) == 0 {
				return nil
			}
			merged := mergeShards(shards, troubles)
			a.worsen(merged.Exit)
			if err := files.sweepMerged(&merged); err != nil {
				a.fail(exitInput, err)
			}
			if err := files.write(&merged); err != nil {
				a.fail(exitInput, err)
			}
			for _, p := range merged.Parts {
				a.printPart(p)
			}
			fmt.Fprintf(a.out, "verdict %s  of %s (%s)\n", a.column(merged.Verdict), count(len(shards), "shard"), merged.again())
			if merged.Complete {
				a.printBaseline(&merged)
			}
			a.tellGitHub(&merged, false)
			return nil
		},
	}
	files.flags(cmd)
	return cmd
}

// readReports reads the reports of the shards of one gate, in the shards' order,
// and says what is wrong with them. Reports it cannot use are left out. Their
// pages are gathered in a folder, unless that is "".
func (a *app) readReports(files []string, pages string) (shards []gateReport, troubles []string) {
	refuse := func(err error) {
		a.fail(exitInput, err)
		troubles = append(troubles, err.Error())
	}
	from := map[string]string{} // the file of each shard
	of := 0
	for _, file := range files {
		r, s, err := a.readReport(file)
		if err == nil && len(shards) > 0 {
			err = sameGate(r, shards[0], file, from[shards[0].Shard])
		}
		if first, twice := from[r.Shard]; err == nil && twice {
			err = fmt.Errorf("%s: the report is of shard %s, as %s is", label(file), r.Shard, label(first))
		}
		if err != nil {
			refuse(err)
			continue
		}
		if !r.Complete {
			fmt.Fprintf(a.err, "check: %s: the gate was ended before it was complete\n", label(file))
		}
		if pages != "" {
			a.gatherPages(&r, filepath.Dir(file), pages)
		}
		from[r.Shard], of = file, s.of
		shards = append(shards, r)
	}
	for _, gap := range missing(from, of) {
		refuse(errors.New(gap))
		shards[0].Complete = false
	}
	slices.SortFunc(shards, func(a, b gateReport) int { return cmp.Compare(shardOf(a), shardOf(b)) })
	return shards, troubles
}

// sweepMerged removes the pages of earlier reports from the folder, which are
// those that this one does not name.
func (f *reportFiles) sweepMerged(r *gateReport) error {
	if f.html == "" {
		return nil
	}
	named := map[string]bool{}
	for _, p := range r.Parts {
		for _, it := range p.Items {
			named[fmt.Sprint(p.Name, it.Index)] = it.Page != "" || named[fmt.Sprint(p.Name, it.Index)]
		}
	}
	return sweep(f.html, func(part string, index int) bool { return !named[fmt.Sprint(part, index)] })
}

// missing says which of so many shards have no report, those in a row at once.
func missing(reports map[string]string, of int) (gaps []string) {
	for i := 1; i <= of; i++ {
		first := shard{i, of}
		last := shard{i - 1, of}
		for i <= of && reports[(&shard{i, of}).String()] == "" {
			last.number = i
			i++
		}
		switch n := last.number - first.number + 1; {
		case n == 1:
			gaps = append(gaps, fmt.Sprintf("the report of shard %s is missing", &first))
		case n > 1:
			gaps = append(gaps, fmt.Sprintf("the reports of shards %s to %s are missing", &first, &last))
		}
	}
	return gaps
}

// shardOf is the number of a report's shard.
func shardOf(r gateReport) int {
	var s shard
	s.Set(r.Shard)
	return s.number
}

// sameGate demands that two reports are of one gate.
func sameGate(r, first gateReport, file, firstFile string) error {
	if r.identity() == first.identity() {
		return nil
	}
	return fmt.Errorf("%s: the report is of another gate (%s) than %s (%s)", label(file), r.identity(), label(firstFile), first.identity())
}

// identity is what the shards of a gate have in common.
func (r *gateReport) identity() string {
	_, of, _ := strings.Cut(r.Shard, "/")
	whole := *r
	whole.Shard = "1/1"
	return fmt.Sprintf("%s in %s shards", whole.again(), of)
}

// readReport reads the report of a shard.
func (a *app) readReport(file string) (r gateReport, s shard, err error) {
	text, err := a.bytesOf(file)
	if err != nil {
		return r, s, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&r); err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			err = errors.New("something follows the report")
		}
	}
	if err == nil {
		err = cmp.Or(s.Set(r.Shard), r.valid())
	}
	if err != nil {
		err = fmt.Errorf("%s: expected a report of check gate --json: %w", label(file), err)
	}
	return r, s, err
}

// valid demands what merging relies on.
func (r *gateReport) valid() error {
	if r.Version != reportVersion {
		return fmt.Errorf("the report has version %d, expected %d", r.Version, reportVersion)
	}
	if r.Parts == nil {
		return errors.New("the report has no parts")
	}
	if r.Complete && len(r.Parts) < len(partNames) {
		return fmt.Errorf("the report has %s, expected %d", count(len(r.Parts), "part"), len(partNames))
	}
	for _, p := range r.Parts {
		if !slices.Contains(partNames, p.Name) {
			return fmt.Errorf("the report has an unknown part %q", p.Name)
		}
		if p.Name == "safe" && p.Drawn == nil {
			return errors.New(`the part "safe" does not say what was drawn`)
		}
		for _, it := range p.Items {
			if !slices.Contains(gravity, it.Verdict) {
				return fmt.Errorf("%s has an unknown verdict %q", label(it.Name), it.Verdict)
			}
		}
	}
	return nil
}

// mergeShards puts the items of all shards together, as one gate alone would
// have found them. Troubles are those of putting them together.
func mergeShards(shards []gateReport, troubles []string) gateReport {
	all := shards[0]
	all.Shard, all.Ms, all.Parts, all.Baseline, all.Troubles = "1/1", 0, []part{}, nil, troubles
	for _, r := range shards {
		all.Ms += r.Ms
		all.Complete = all.Complete && r.Complete
		all.Troubles = append(all.Troubles, r.Troubles...)
		all.addBaseline(r.Baseline)
		for _, p := range r.Parts {
			all.addPart(p)
		}
	}
	for _, says := range differences(shards) {
		all.Build, all.Corpus = "", "" // it is of none
		all.addPart(part{Name: partNames[0], Items: []item{{Index: whole, Name: "shards", Verdict: "unknown", Kind: undecidedItem, Says: says}}})
	}
	slices.SortFunc(all.Parts, func(a, b part) int {
		return cmp.Compare(slices.Index(partNames, a.Name), slices.Index(partNames, b.Name))
	})
	all.judge()
	return all
}

// differences says what shards do not have in common that together should do what
// one gate does.
func differences(shards []gateReport) (says []string) {
	first := shards[0]
	for _, r := range shards[1:] {
		if r.Build != first.Build {
			says = append(says, fmt.Sprintf("shard %s is of another build (%s) than shard %s (%s): together they say nothing of either", r.Shard, r.Build, first.Shard, first.Build))
		} else if r.Corpus != first.Corpus && r.Corpus != "" && first.Corpus != "" { // which one that was ended may not know
			says = append(says, fmt.Sprintf("shard %s judged another corpus (of digest %s) than shard %s (%s): some cases may have been left out", r.Shard, r.Corpus, first.Shard, first.Corpus))
		}
	}
	return says
}

// addPart adds a shard's part to that of the others.
func (r *gateReport) addPart(p part) {
	i := slices.IndexFunc(r.Parts, func(q part) bool { return q.Name == p.Name })
	if i < 0 {
		i = len(r.Parts)
		r.Parts = append(r.Parts, part{Name: p.Name, Items: []item{}})
	}
	q := &r.Parts[i]
	q.Of += p.Of
	if p.Drawn != nil {
		if q.Drawn == nil {
			q.Drawn = &drawn{}
		}
		q.Drawn.add(*p.Drawn)
	}
	for _, it := range p.Items {
		q.addItem(it)
	}
}

// addItem adds an item of a shard. What is said of the part as a whole, every
// shard says: once is enough, and that all is well only if all say so.
func (p *part) addItem(it item) {
	for i, other := range p.Items {
		switch {
		case it.Index != whole || other.Index != whole || it.Name != other.Name:
		case it.Verdict == "ok" || it.Says == other.Says:
			return
		case other.Verdict == "ok":
			p.Items[i] = it
			return
		}
	}
	p.Items = append(p.Items, it)
}
