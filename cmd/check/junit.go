package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// junitOf returns a report as JUnit XML: a suite a part, a test case an item. A
// violation and a stale run are failures; an internal error is an error, and so is
// what cannot be read; what is undecided is skipped if it may pass and otherwise an error, as the exit code
// has it. What a baseline allows is skipped.
func junitOf(r *gateReport) []byte {
	all := junit.Testsuites{Name: "check gate", Time: seconds(r.Ms)}
	for _, p := range r.Parts {
		suite := junit.Testsuite{ID: len(all.Suites), Name: "gate." + p.Name}
		suite.AddProperty("seed", fmt.Sprint(r.Seed))
		suite.AddProperty("shard", r.Shard)
		suite.AddProperty("covered", p.Says)
		suite.AddProperty("version", build().Isrcheck)
		suite.AddProperty("again", r.again())
		var ms int64
		for _, it := range p.Items {
			ms += it.Ms
			suite.AddTestcase(r.testcase(suite.Name, it))
		}
		suite.Time = seconds(ms)
		all.AddSuite(suite)
	}
	suite := junit.Testsuite{ID: len(all.Suites), Name: "gate", Time: seconds(0)}
	fails := func(name, kind, message string) {
		suite.AddTestcase(junit.Testcase{Name: name, Classname: "gate", Time: seconds(0),
			Error: &junit.Result{Message: characters(clip(message, saysWidth)), Type: kind}})
	}
	if !r.Complete {
		fails("complete", undecidedItem, "the gate was ended before it was complete")
	}
	for i, trouble := range r.Troubles {
		fails("trouble "+strconv.Itoa(i+1), "input", trouble)
	}
	if len(suite.Testcases) > 0 {
		all.AddSuite(suite)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := all.WriteXML(&b); err != nil {
		panic(err) // a buffer takes all, and strings always encode
	}
	return b.Bytes()
}

func (r *gateReport) testcase(suite string, it item) junit.Testcase {
	t := junit.Testcase{Name: it.Name, Classname: suite, Time: seconds(it.Ms)}
	if it.File != "" {
		t.Classname = it.File
	}
	result := &junit.Result{Message: clip(it.Says, saysWidth), Type: it.Kind, Data: characters(it.Says + it.again())}
	switch {
	case it.Verdict == "ok":
	case it.Allowed != "":
		t.Skipped = &junit.Result{Message: "allowed by " + it.Allowed + ": " + result.Message}
	case it.Verdict == "unknown" && r.Unknown == "pass":
		t.Skipped = &junit.Result{Message: result.Message}
	case it.Verdict == "unknown" || it.Verdict == "error" || it.Verdict == "input":
		t.Error = result
	default:
		t.Failure = result
	}
	return t
}

// characters leaves out what XML cannot hold. Attributes see to that by
// themselves, CDATA does not.
func characters(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
