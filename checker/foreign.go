package checker

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// logtestNote begins the line of a note by which package logtest says where it
// found a case that it saved.
const logtestNote = "logtest: found in "

// logtestTest begins the line by which it says which test that is.
const logtestTest = "logtest: test "

// LogtestNoteOf is the note of a case that package logtest found somewhere. The
// test and its package are "" for none.
func LogtestNoteOf(where, test, tested string) string {
	note := logtestNote + where
	if test != "" && tested != "" {
		note += "\n" + logtestTest + test + " of " + tested
	}
	return note
}

// WithoutLogtest is a note without what package logtest wrote into it.
func WithoutLogtest(note string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(note, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, logtestNote) || strings.HasPrefix(line, logtestTest)
	}), "\n")
}

// LogtestCommand is the command that runs the test again which saved a case, "" if
// the case does not say which. Nothing but such a command comes of any note.
func LogtestCommand(hd histories.Header) string {
	for line := range strings.SplitSeq(hd.Note, "\n") {
		named := logtestNamed.FindStringSubmatch(line)
		if named == nil {
			continue
		}
		return "go test -count=1 -run '" + RunPattern(named[1]) + "' " + named[2]
	}
	return ""
}

// RunPattern is what the flag -run of go test takes for one test.
func RunPattern(test string) string {
	levels := strings.Split(test, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

var logtestNamed = regexp.MustCompile(`^` + logtestTest + `(Test[\pL\d_/.,=:#-]*) of ([a-z0-9][\w./~-]*)$`)

// LogPromises are those that package logtest finds broken beside the rules of
// histories, by the name of the finding: what every client of the log that is
// tested may rely on.
var LogPromises = map[string]string{
	"invariant no-panic":     "an answer or an error whatever happens, and no panic",
	noHang:                   "every call coming back once its context has ended",
	"invariant real-offsets": "offsets from 0 on in every answer, or NoOffset from an append that does not tell",
	notLive:                  "a log that works again, and can be read to its end, once all faults have ended",
	"nondeterministic":       "a schedule being the whole cause of its run",
}

const (
	noHang  = "invariant no-hang"
	notLive = "not-live"
)

// aboutLog words a finding that a mark tells of as one about the log that package
// logtest tested, if it is one. What hangs is shown.
func (j *judge) aboutLog(f *Finding, m *histories.Mark) {
	promise, ok := LogPromises[f.Name]
	if !ok || f.Name == notLive && !j.ofLogtest {
		return
	}
	f.Rule = promise
	_, f.Says, _ = strings.Cut(m.Text, ": ")
	if f.Name != noHang {
		return
	}
	var hang, open []Evidence
	for i := range j.ops {
		o := &j.ops[i]
		if o.Outcome != histories.Open {
			continue
		}
		e := Evidence{Index: o.Index, Line: o.Line, Text: Brief(o), Should: "come back"}
		if open = append(open, e); strings.Contains(f.Says, fmt.Sprintf(" a %s of %s within ", o.Kind, o.Process)) {
			hang = append(hang, e)
		}
	}
	if len(hang) == 0 {
		hang = open
	}
	f.Evidence = append(f.Evidence, hang...)
	slices.SortFunc(f.Evidence, func(a, b Evidence) int { return a.Index - b.Index })
}

// OfLogtest reports whether a case has a schedule that package logtest saved. It is
// for the log that was tested: the reference cluster makes another run of it.
func OfLogtest(hd histories.Header) bool {
	if hd.Schedule == "" {
		return false
	}
	for line := range strings.Lines(hd.Note) {
		if strings.HasPrefix(line, logtestNote) {
			return true
		}
	}
	return false
}
