package matrix

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the cells that [Run] returns as a table with its legend, and why
// it permits more than §5 of the protocol reference.
func WriteMarkdown(w io.Writer, cells []*Cell) {
	fmt.Fprint(w, "| fault |")
	for i := range Configs {
		fmt.Fprintf(w, " %s |", Configs[i].Name)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(Configs)))
	for i := range Faults {
		fmt.Fprintf(w, "| %s |", Faults[i].Name)
		for _, c := range cells[i*len(Configs) : (i+1)*len(Configs)] {
			fmt.Fprintf(w, " %s |", c.markdown())
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, l := range Letters {
		fmt.Fprintf(w, "- **%s**: %s\n", l.Letter, l.Says)
	}
	fmt.Fprintln(w)
	for _, c := range Configs {
		fmt.Fprintf(w, "- **%s**: %s\n", c.Name, c.Says)
	}
	fmt.Fprintln(w)
	for _, f := range Faults {
		fmt.Fprintf(w, "- **%s**: %s\n", f.Name, f.Says)
	}
	writeWider(w)
}

// markdown is a cell: the letters that were seen with the number of runs that
// showed them, and in parentheses those that are permitted and were not.
func (c *Cell) markdown() string {
	if !c.Applies() {
		return string(notApplicable)
	}
	var seen []string
	for _, l := range c.Letters() {
		if l.Forbidden {
			seen = append(seen, fmt.Sprintf("**forbidden: %s** %d", l.Letter, l.Runs))
		} else if l.Runs > 0 {
			seen = append(seen, fmt.Sprintf("%s %d", l.Letter, l.Runs))
		}
	}
	text := strings.Join(seen, ", ")
	if missing := c.Missing(); missing != "" {
		text += " (" + strings.Join(strings.Split(missing, ""), ", ") + ")"
	}
	if text == "" {
		return "-"
	}
	return strings.TrimSpace(text)
}
