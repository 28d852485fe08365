package main

import (
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// nasty is a text that may stand in a history, and so in a problem.
const nasty = "]]> <b>&amp;\"'\x00\x1b]0;\xff\ufffe | ` ~~~~ ::error::x %0A, {{x}}\r\n::warning::y"

// aReport has an item of every verdict, in the words of a hostile history.
func aReport() gateReport {
	r := gateReport{Version: reportVersion, Complete: true, Seed: 7, Shard: "1/1", Unknown: "fail", Flags: []string{"--corpus=" + nasty}, Ms: 1234}
	r.Baseline = []allowance{{Name: "review", Kind: wrongVerdict, On: "allowed.hist", Until: "9999-12-31", Reason: nasty}}
	r.Parts = []part{
		{Name: "corpus", Of: 6, Items: []item{
			{Index: 0, Name: "fine.hist", Verdict: "ok", File: "cases/fine.hist", Ms: 3},
			{Index: 1, Name: nasty, Verdict: "violation", Kind: wrongVerdict, Says: nasty, File: nasty, Again: "check verify " + nasty},
			{Index: 2, Name: "thin.hist", Verdict: "unknown", Kind: undecidedItem, Says: "thin"},
			{Index: 3, Name: "torn.hist", Verdict: "error", Kind: internalError, Says: "panic: x"},
			{Index: 5, Name: "unread.hist", Verdict: "input", Kind: unreadableCase, Says: "unread.hist:1:1: what"},
			{Index: 4, Name: "allowed.hist", Verdict: "violation", Kind: wrongVerdict, Says: "known", Allowed: "review"},
		}},
		{Name: "rules", Items: []item{}},
		{Name: "replay", Of: 1, Items: []item{{Name: "old.hist", Verdict: "stale", Kind: staleFingerprint, Says: "moved"}}},
		{Name: "bugs", Items: []item{}},
		{Name: "safe", Drawn: &drawn{Schedules: 9}, Items: []item{{Index: whole, Name: "schedules", Verdict: "ok"}}},
	}
	r.judge()
	return r
}

func TestJUnit(t *testing.T) {
	for _, test := range []struct {
		unknown                   string
		complete                  bool
		failures, errors, skipped int
	}{
		{"fail", true, 2, 3, 1},
		{"pass", true, 2, 2, 2},
		{"fail", false, 2, 4, 1},
	} {
		r := aReport()
		r.Unknown, r.Complete = test.unknown, test.complete
		text := junitOf(&r)
		var all junit.Testsuites
		if err := xml.Unmarshal(text, &all); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if all.Failures != test.failures || all.Errors != test.errors || all.Skipped != test.skipped {
			t.Errorf("%+v: %d failures, %d errors, %d skipped\n%s", test, all.Failures, all.Errors, all.Skipped, text)
		}
		if got := all.Suites[0].Testcases[0]; got.Name != "fine.hist" || got.Classname != "cases/fine.hist" || got.Time != "0.003" {
			t.Errorf("the first test case is %+v", got)
		}
		if got := all.Suites[0].Testcases[1].Failure; got.Type != wrongVerdict || !strings.Contains(got.Data, "]]> <b>&amp;") {
			t.Errorf("the failure is %+v", got)
		}
	}
}

// TestJUnitSchema holds the XML against a schema and against what reads it.
// What is not installed is skipped; .ci/run installs it.
func TestJUnitSchema(t *testing.T) {
	r := aReport()
	file := write(t, "gate.xml", string(junitOf(&r)))
	page := write(t, "page.html", "")
	for _, consumer := range [][]string{
		{"xmllint", "--noout", "--schema", "testdata/junit/junit.xsd", file},
		{"junitparser", "verify", file},
		{"junit2html", file, page},
	} {
		t.Run(consumer[0], func(t *testing.T) {
			if _, err := exec.LookPath(consumer[0]); err != nil {
				t.Skip(err)
			}
			out, err := exec.Command(consumer[0], consumer[1:]...).CombinedOutput()
			// junitparser's verify exits with 1 for a report that is not green, as this one is.
			if failed := err != nil; failed != (consumer[0] == "junitparser") || strings.Contains(string(out), "Traceback") {
				t.Errorf("%v: %v\n%s", consumer, err, out)
			}
		})
	}
}
