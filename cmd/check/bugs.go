package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/impl"
)

func (a *app) bugs() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bugs",
		Short: "List the bugs that can be switched on",
		Long: "bugs lists the seeded bugs of the reference cluster: where each comes from, the\n" +
			"invariant it breaks first, and what clients can see of it.",
		Example: "  check bugs\n" +
			"  check run --bug truncate-to-high-watermark",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				a.encode(bugsJSON())
				return nil
			}
			fmt.Fprintln(a.out, bugsText())
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func bugsText() string {
	rows := [][]string{{"NAME", "SECTION", "REFERENCE", "BREAKS FIRST", "CLIENTS SEE"}}
	for _, b := range impl.Bugs {
		sees := b.Anomaly
		if !b.BlackBox {
			sees += " (only with the invariants)"
		}
		rows = append(rows, []string{b.Name, b.Section, b.Reference, b.Invariant, sees})
	}
	head, lines, _ := strings.Cut(table(rows), "\n")
	out := []string{head}
	for i, line := range strings.Split(lines, "\n") {
		out = append(out, line, "  "+impl.Bugs[i].Says)
	}
	return strings.Join(out, "\n")
}

// The JSON of the zoo. Names are part of the command line's contract.
type (
	jsonBugs struct {
		Bugs []jsonBug `json:"bugs"`
	}
	jsonBug struct {
		Name      string `json:"name"`      // for --bug
		Reference string `json:"reference"` // KIPs, JIRAs and papers
		Section   string `json:"section"`   // of the protocol reference
		Invariant string `json:"invariant"` // the one it breaks first
		Anomaly   string `json:"anomaly"`   // what clients see
		BlackBox  bool   `json:"blackbox"`  // clients can see it without the invariants
		Says      string `json:"says"`      // what goes wrong
	}
)

func bugsJSON() jsonBugs {
	all := jsonBugs{Bugs: []jsonBug{}}
	for _, b := range impl.Bugs {
		all.Bugs = append(all.Bugs, jsonBug{b.Name, b.Reference, b.Section, b.Invariant, b.Anomaly, b.BlackBox, b.Says})
	}
	return all
}

// bugByName returns the row of a bug; the error names the likely ones.
func bugByName(name string) (impl.Bug, error) {
	names := make([]string, len(impl.Bugs))
	for i, b := range impl.Bugs {
		if b.Name == name {
			return b, nil
		}
		names[i] = b.Name
	}
	return impl.Bug{}, fmt.Errorf("unknown bug %q%s ('check bugs' lists them all)", name, didYouMean(name, names))
}

// didYouMean suggests the names that somebody may have meant, the nearest
// first: those few letters away, and those that hold what was typed.
func didYouMean(typed string, names []string) string {
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return distance(typed, name) > max(2, len(name)/4) && (typed == "" || !strings.Contains(name, typed))
	})
	slices.SortStableFunc(near, func(a, b string) int { return distance(typed, a) - distance(typed, b) })
	if len(near) == 0 {
		return ""
	}
	return ", expected " + strings.Join(near[:min(len(near), 3)], " or ")
}

// distance is how many letters must be put in, left out or replaced to make b
// of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
