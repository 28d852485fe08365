package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// GitHub shows ten annotations of a step, and drops a summary of more than a
// mebibyte as a whole.
const (
	maxAnnotations = 10
	maxSummary     = 900 << 10
)

// tellGitHub annotates the problems, where this is a step of a workflow, and
// adds the report to the job's summary.
func (a *app) tellGitHub(r *gateReport, annotate bool) {
	if annotate && os.Getenv("GITHUB_ACTIONS") != "" {
		for _, line := range annotations(r) {
			fmt.Fprintln(a.out, line)
		}
	}
	file := os.Getenv("GITHUB_STEP_SUMMARY")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(summary(r, maxSummary))
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		fmt.Fprintf(a.err, "check: the summary of the job was not written: %v\n", err) // no fault of what was judged
	}
}

// annotations are the workflow commands that annotate problems and useless
// rules. The last says how many more there are.
func annotations(r *gateReport) []string {
	var lines []string
	for _, p := range r.Parts {
		for _, it := range p.problems() {
			lines = append(lines, annotation("error", inWorkspace(it.File), "check gate: "+p.Name+" "+it.Verdict, it.line()+it.again()))
		}
	}
	if !r.Complete {
		lines = append(lines, annotation("error", "", "check gate", "the gate was ended before it was complete"))
	}
	for _, trouble := range r.Troubles {
		lines = append(lines, annotation("error", "", "check gate", trouble))
	}
	for _, rule := range r.Baseline {
		if s := r.stale(rule); s != "" && r.Shard == "1/1" && r.Complete {
			lines = append(lines, annotation("warning", "", "check gate: baseline", rule.Name+": "+s))
		}
	}
	if more := len(lines) - maxAnnotations + 1; more > 1 {
		lines = append(lines[:maxAnnotations-1], annotation("error", "", "check gate", fmt.Sprintf("and %d more, see the summary of the job", more)))
	}
	return lines
}

// inWorkspace is a file's path as GitHub looks for it, from the workspace on,
// whatever folder this step works in. What is not there, or not in the workspace,
// stays as it is.
func inWorkspace(file string) string {
	workspace := os.Getenv("GITHUB_WORKSPACE")
	if _, err := os.Stat(file); err != nil || workspace == "" {
		return file
	}
	if folder, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = folder
	}
	path, err := filepath.Rel(workspace, resolved(file))
	if err != nil || !filepath.IsLocal(path) {
		return file
	}
	return filepath.ToSlash(path)
}

// annotation is a workflow command.
func annotation(level, file, title, text string) string {
	properties := "title=" + escapeProperty.Replace(title)
	if file != "" {
		properties = "file=" + escapeProperty.Replace(file) + ",line=1," + properties
	}
	return "::" + level + " " + properties + "::" + escapeMessage.Replace(text)
}

var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// summary is the report as Markdown of at most so many bytes. The command and what
// was found stand in blocks of code, where nothing means anything.
func summary(r *gateReport, limit int) string {
	var head, problems strings.Builder
	again := []string{r.again()}
	fmt.Fprintf(&head, "## check gate: %s\n\n%[2]s\n%[3]s\n%[2]s\n\n| part | verdict | covered |\n|---|---|---|\n", r.Verdict, fenceFor(again), again[0])
	var lines []string
	for _, p := range r.Parts {
		fmt.Fprintf(&head, "| %s | %s | %s |\n", p.Name, p.Verdict, p.Says)
		for _, it := range p.problems() {
			lines = append(lines, seen(p.Name+": "+strings.ReplaceAll(it.line()+it.again(), "\n", "\n    ")+"\n"))
		}
	}
	for _, trouble := range r.Troubles {
		lines = append(lines, seen("trouble: "+oneLine.Replace(trouble)+"\n"))
	}
	if !r.Complete {
		head.WriteString("\nThe gate was ended before it was complete.\n")
	}
	for _, rule := range r.Baseline {
		if s := r.stale(rule); s != "" && r.Shard == "1/1" && r.Complete {
			lines = append(lines, "baseline "+label(rule.Name)+": "+s+"\n")
		}
	}
	if len(lines) == 0 {
		return head.String() + "\n"
	}
	fence := fenceFor(lines)
	left := limit - head.Len() - 2*len(fence) - len("\n\nand 1234567890 more\n\n\n")
	for i, line := range lines {
		if left -= len(line); left < 0 {
			fmt.Fprintf(&problems, "and %d more\n", len(lines)-i)
			break
		}
		problems.WriteString(line)
	}
	return head.String() + "\n" + fence + "\n" + problems.String() + fence + "\n\n"
}

// seen is a text in which all can be seen.
func seen(text string) string {
	var b bytes.Buffer
	visible{&b}.Write([]byte(text))
	return b.String()
}

// fenceFor is a fence of a block of code that none of the lines can end.
func fenceFor(lines []string) string {
	longest := 3
	for _, line := range lines {
		run := 0
		for _, r := range line {
			if run++; r != '~' {
				run = 0
			}
			longest = max(longest, run+1)
		}
	}
	return strings.Repeat("~", longest)
}
