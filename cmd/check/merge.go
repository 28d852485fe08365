package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) merge() *cobra.Command {
	report := ""
	cmd := &cobra.Command{
		Use:   "merge REPORT...",
		Short: "Put the reports of a gate's shards together",
		Long: "merge reads the JSON reports of all shards of one gate and gives the verdict of the\n" +
			"whole: the gravest of each part, with the exit code that goes with it. A shard that is\n" +
			"missing, there twice or of another gate is an error.",
		Example: "  check merge gate-*.json --json gate.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			merged, err := a.mergeReports(args)
			if err != nil {
				a.fail(exitInput, err)
				return nil
			}
			for _, p := range merged.Parts {
				a.printPart(p)
			}
			fmt.Fprintf(a.out, "verdict %s  of %s (check gate --seed %d --runs %d)\n",
				a.column(merged.Verdict), count(len(args), "shard"), merged.Seed, merged.Runs)
			a.worsen(merged.Exit)
			a.writeReport(report, merged)
			return nil
		},
	}
	cmd.Flags().StringVar(&report, "json", "", "file to write the merged report to")
	return cmd
}

// mergeReports reads all shards of one gate and puts them together.
func (a *app) mergeReports(files []string) (jsonGate, error) {
	var shards []jsonGate
	seen := make([]string, len(files)) // the file of each shard
	for _, file := range files {
		r, s, err := a.readReport(file)
		switch {
		case err != nil:
			return r, err
		case s.of != len(files):
			return r, fmt.Errorf("%s: the report is of shard %s; expected the reports of all %d, found %d", label(file), r.Shard, s.of, len(files))
		case seen[s.number-1] != "":
			return r, fmt.Errorf("%s: the report is of shard %s, as %s is", label(file), r.Shard, label(seen[s.number-1]))
		case len(shards) > 0 && (r.Seed != shards[0].Seed || r.Runs != shards[0].Runs):
			return r, fmt.Errorf("%s: the report is of another gate (--seed %d --runs %d) than %s (--seed %d --runs %d)",
				label(file), r.Seed, r.Runs, label(files[0]), shards[0].Seed, shards[0].Runs)
		}
		seen[s.number-1] = file
		shards = append(shards, r)
	}
	return mergeShards(shards), nil
}

// readReport reads the report of a shard.
func (a *app) readReport(file string) (r jsonGate, s shard, err error) {
	text, err := a.bytesOf(file)
	if err != nil {
		return r, s, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&r); err == nil {
		if err = s.Set(r.Shard); err == nil && len(r.Parts) == 0 {
			err = errors.New("the report has no parts")
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: expected a report of check gate --json: %w", label(file), err)
	}
	return r, s, err
}

// mergeShards gives each part the gravest verdict, and what all shards say.
func mergeShards(shards []jsonGate) jsonGate {
	all := jsonGate{Seed: shards[0].Seed, Runs: shards[0].Runs, Shard: "1/1"}
	lenient := true
	for _, r := range shards {
		all.Ms += r.Ms
		lenient = lenient && (r.Verdict != "unknown" || r.Exit == exitOK)
		for _, p := range r.Parts {
			i := slices.IndexFunc(all.Parts, func(q part) bool { return q.Name == p.Name })
			if i < 0 {
				all.Parts = append(all.Parts, p)
				continue
			}
			q := &all.Parts[i]
			q.Verdict, _ = verdictOfParts([]part{*q, p})
			if q.Says != p.Says {
				q.Says += "; " + p.Says
			}
			for _, problem := range p.Problems {
				if !slices.Contains(q.Problems, problem) {
					q.Problems = append(q.Problems, problem)
				}
			}
		}
	}
	if all.Verdict, all.Exit = verdictOfParts(all.Parts); all.Verdict == "unknown" && lenient {
		all.Exit = exitOK
	}
	return all
}
