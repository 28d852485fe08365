package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/histories"
)

// topics are the pages of "check help" that belong to no command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodes},
		{Use: "anomalies", Short: "The names of findings", Long: anomalies()},
		{Use: "settings", Short: "What the header of a history may state", Long: settings()},
	}
}

const exitCodes = `0  ok           the history is legal (allowed findings are listed)
1  violation    clients saw what they must not see
2  input error  wrong usage, or an input that cannot be read
3  unknown      a budget ran out, or the evidence is too thin
4  error        the checker contradicts itself: a bug, please report it

Several files are judged each for itself; the exit code is the first of 1, 4, 2, 3, 0
that occurred. With --expect, 0 says that every file has the verdict it documents.`

func anomalies() string {
	rows := make([][]string, len(histories.Anomalies))
	for i, a := range histories.Anomalies {
		rows[i] = []string{a.Name, a.Condition}
	}
	return table(rows)
}

func settings() string {
	rows := make([][]string, len(histories.ConfigKeys))
	for i, k := range histories.ConfigKeys {
		rows[i] = []string{k.Name, values(k), k.Says}
	}
	return "The default comes first.\n\n" + table(rows)
}

func values(k histories.ConfigKey) string {
	switch {
	case k.List:
		return "names, comma separated"
	case k.Integer && len(k.Values) > 0:
		return k.Values[0] + ", or another integer"
	case k.Integer:
		return "an integer"
	}
	return strings.Join(k.Values, " ")
}

func table(rows [][]string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
