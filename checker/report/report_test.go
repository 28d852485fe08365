package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/report"
	"github.com/isrcheck/isrcheck/histories"
)

func write(t *testing.T, h *histories.History, edit ...func(*report.Page)) string {
	t.Helper()
	p := report.Page{History: h, Result: checker.Check(t.Context(), h, checker.Options{})}
	for _, f := range edit {
		f(&p)
	}
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func parse(t *testing.T, text string) *histories.History {
	t.Helper()
	h, err := histories.Parse("test.hist", []byte("history 1\nconfig acks=all\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

const lost = `1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5 nemesis crash broker=1 for=3
6-7 C1 scan => ok [0:1] end=1
`

// TestTop demands what a person needs first, as markup that needs no script.
func TestTop(t *testing.T) {
	page := write(t, parse(t, lost), func(p *report.Page) { p.Next, p.Facts = "check minimize test.hist", []string{"A fact."} })
	top, _, _ := strings.Cut(page, "<script")
	for _, want := range []string{
		">violation<", "lost-write", "Record 2 was acknowledged at offset 1 and is gone: the healed log ends at 1.",
		"every client may rely on an acknowledged write", "line 4</span> <code class=\"said\">3-4 P1 send 2 =&gt; ok @1</code>",
		"line 6", "should have ", "<code class=\"said\">check minimize test.hist</code>", "A fact.",
	} {
		if !strings.Contains(top, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestFaultsLast draws a fault as long as it lasts, by its own word or until the
// mark of its end, and that as an instant.
func TestFaultsLast(t *testing.T) {
	page := write(t, parse(t, lost+"8 nemesis end of crash broker=1 for=3\n9 nemesis pause broker 2\n10 nemesis cut 1 from 2\n12 nemesis end of pause broker 2\n"))
	for _, want := range []string{`"t":5,"until":8,"kind":"nemesis","text":"crash broker=1 for=3"`, `"t":8,"kind":"nemesis","text":"end of crash broker=1 for=3"`,
		`"t":9,"until":12,"kind":"nemesis","text":"pause broker 2"`, `"t":10,"kind":"nemesis","text":"cut 1 from 2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestHeadline keeps what became of a record in the sentence, however long its
// value is.
func TestHeadline(t *testing.T) {
	value := strings.Repeat(`x\\\"`, 1000)
	page := write(t, parse(t, `1-2 P1 send 1 => ok @0`+"\n"+`3-4 P1 send "`+value+`" => ok @1`+"\n6-7 C1 scan => ok [0:1] end=1\n"))
	_, headline, _ := strings.Cut(page, "<h1")
	headline, _, _ = strings.Cut(headline, "</h1>")
	if !strings.Contains(headline, "was acknowledged at offset 1 and is gone") || len(headline) > 300 {
		t.Errorf("the headline is %s", headline)
	}
	if _, evidence, _ := strings.Cut(page, "What proves it"); !regexp.MustCompile(`P1 send &#34;x.*…x.* =&gt; ok @1</code>`).MatchString(evidence) {
		t.Error("of what proves it, the answer is cut off")
	}
}

// TestCrowd has what proves something among the lanes of a crowd, on top.
func TestCrowd(t *testing.T) {
	text := ""
	for i := range 60 {
		text += fmt.Sprintf("%d-%d P%d send %d => ok @%d\n", 2*i+1, 2*i+2, i, i, i)
	}
	page := write(t, parse(t, text+"200-201 S1 scan => ok ["+strings.TrimSuffix(func() (all string) {
		for i := range 59 {
			all += fmt.Sprintf("%d:%d ", i, i)
		}
		return all
	}(), " ")+"] end=59\n"))
	if !strings.Contains(page, `"lanes":["P59","S1","P0","P1",`) || !strings.Contains(page, `"others"]`) {
		t.Errorf("what proves the loss is not on top: %s", regexp.MustCompile(`"lanes":\[[^]]*]`).FindString(page))
	}
}

func TestVerdicts(t *testing.T) {
	ok := write(t, parse(t, "1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [0:1] end=1\n"))
	if !strings.Contains(ok, "What the clients saw is legal.") || strings.Contains(ok, "What proves it") {
		t.Error("the page of a legal history does not say so, or proves something")
	}
	if thin := write(t, parse(t, "1-2 P1 send 1 => ok @0\n")); !strings.Contains(thin, ">unknown<") {
		t.Error("the page of a history that proves nothing does not say unknown")
	}
	if empty := write(t, parse(t, "")); !strings.Contains(empty, `"ops":[]`) {
		t.Error("the page of an empty history draws something")
	}
}

// TestHostile looks at the text of the page for markup and script that only the
// history can have brought.
func TestHostile(t *testing.T) {
	nasty := []string{"</script><script>alert(1)</script>", "<!--<script>", "\"'`><img src=x onerror=alert(1)>", "\u202eabc\u2066", "\u2028\u0000\x7f", "]]>", "{{.}}", "javascript:alert(1)"}
	var ops []histories.Op
	var marks []histories.Mark
	for i, text := range nasty {
		at := int64(2 * i)
		value := histories.String(text)
		text = strings.Trim(text, "\x00\x7f") // which histories permit in quoted strings alone
		op := histories.NewOp("P"+text, histories.Send)
		op.Values, op.Outcome, op.Call, op.Return, op.Code = []histories.Value{value}, histories.Info, at, at+1, text
		op.Key, op.On = `"k"`, "t/0"
		ops = append(ops, op)
		marks = append(marks, histories.Mark{Time: at, Kind: histories.Nemesis, Text: "invariant " + text + " broken: " + text, Offset: histories.None})
	}
	h, err := histories.New(strings.Join(nasty, ""), histories.Header{}, ops, marks)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(nasty, "")
	page := write(t, h, func(p *report.Page) {
		p.Problem = &report.Problem{By: all, Name: all, Verdict: all, Kind: all, Says: all, Shown: all}
		p.Next, p.Facts, p.Cluster = all, []string{all}, &report.Cluster{Note: all, Partitions: []report.Partition{{Name: all}}}
	})
	clean := write(t, parse(t, ""))
	for _, tag := range []string{"<script", "</script", "<!--", "<img", "onerror=alert(1)>"} {
		if got, want := strings.Count(page, tag), strings.Count(clean, tag); got != want {
			t.Errorf("the page has %d times %s, want %d", got, tag, want)
		}
	}
	if i := strings.IndexAny(page, "\u202e\u2066\u2028\x00\x7f\ufffd"); i >= 0 {
		t.Errorf("the page holds what cannot be seen: %q", page[max(0, i-40):i+10])
	}
}

// TestSelfContained finds nothing in the page that would ask a network for anything.
func TestSelfContained(t *testing.T) {
	page := write(t, parse(t, lost))
	page = strings.NewReplacer(`"http://www.w3.org/2000/svg"`, "", "url(#hatch)", "", "url(#plot)", "").Replace(page) // a name, and places in the page
	if found := regexp.MustCompile(`https?:|//[a-z]|\b(src|href|url|import|fetch)\s*[=(]`).FindString(page); found != "" {
		t.Errorf("the page has %q", found)
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") {
		t.Error("the page permits itself more than it needs")
	}
}

// long is a history in which one of many records is lost in the middle, and
// answers and values are long.
func long(t *testing.T, n int64) *histories.History {
	t.Helper()
	var ops []histories.Op
	var log []histories.Record
	for i := range n {
		v := histories.String(fmt.Sprintf("%d%s", i, strings.Repeat("x", 500)))
		op := histories.NewOp(fmt.Sprint("P", i%100), histories.Send)
		op.Values, op.Outcome, op.Call, op.Return, op.Offset = []histories.Value{v}, histories.OK, 1<<60+10*i, 1<<60+10*i+5, i
		if i != n/2 {
			log = append(log, histories.Record{Offset: i, Value: v})
		}
		ops = append(ops, op)
	}
	scan := histories.NewOp("S1", histories.Scan)
	scan.Outcome, scan.Call, scan.Return, scan.End, scan.Records = histories.OK, 1<<60+20*n, 1<<60+20*n+1, n, log
	h, err := histories.New("long.jsonl", histories.Header{}, append(ops, scan), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLong(t *testing.T) {
	page := write(t, long(t, 20_000))
	if len(page) > 3<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"Of 20,001 operations and 0 marks", `"gaps":[`, `"overview":{`, `"base":"11529215`, `"others"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestCorpus writes a page about each case, and each has what it proves.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../histories/corpus/*/*.hist")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h, err := histories.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		page := write(t, h)
		if failing := strings.Contains(file, "/failing/"); failing != strings.Contains(page, "What proves it") {
			t.Errorf("%s: the page proves something: %v, want %v", file, !failing, failing)
		}
	}
}

// TestProblem has a page headed by what somebody else holds against a history, and
// not by its verdict, unless that is what they hold against it.
func TestProblem(t *testing.T) {
	legal := parse(t, "1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [0:1] end=1\n")
	stale := report.Problem{By: "check gate", Name: "folder/<case>.hist", Verdict: "stale", Kind: "stale-fingerprint", Says: "the run is another one", Shown: "the run of now"}
	for _, test := range []struct {
		history *histories.History
		problem report.Problem
		want    []string
		never   string
	}{
		{legal, stale, []string{"<title>stale-fingerprint: folder/&lt;case&gt;.hist</title>", `class="verdict stale">stale-fingerprint<`, `<h1 class="said">the run is another one.</h1>`, "Below is the run of now. Judged by itself: <span class=\"said\">What the clients saw is legal</span>."}, `class="verdict ok"`},
		{parse(t, lost), stale, []string{`class="verdict stale">stale-fingerprint<`, `<h1 class="said">the run is another one.</h1>`, "<strong>lost-write</strong>: "}, `class="verdict violation"`},
		{parse(t, lost), report.Problem{Name: "schedule 17", Verdict: "violation", Kind: "lost-write"}, []string{"<title>violation lost-write: schedule 17</title>", `<h1 class="said">Record 2 was acknowledged`, "schedule 17"}, "Judged by itself"},
	} {
		page := write(t, test.history, func(p *report.Page) { p.Problem = &test.problem })
		for _, want := range test.want {
			if !strings.Contains(page, want) {
				t.Errorf("the page about %s does not have %s", test.problem.Kind, want)
			}
		}
		if strings.Contains(page, test.never) {
			t.Errorf("the page about %s has %s", test.problem.Kind, test.never)
		}
	}
}

// distant is a history in which a record is acknowledged early and found lost late,
// with so many faults between.
func distant(t *testing.T, faults int) *histories.History {
	var text strings.Builder
	text.WriteString("1-2 P1 send -1 => ok @0\n")
	for i := range 6000 {
		at := 10 + 10*i
		fmt.Fprintf(&text, "%d-%d P2 send %d => ok @%d\n", at, at+5, i, i+1)
		if i >= 3000 && i < 3000+faults {
			fmt.Fprintf(&text, "%d nemesis crash broker=%d for=3\n", at+5, i)
		}
	}
	text.WriteString("99990-99991 S1 fetch from=0 => ok [1:0]\n")
	return parse(t, text.String())
}

// TestFaultsBetween draws the faults from the first operation of the proof to the
// last, if there are not too many of them, wherever the proof leaves a gap.
func TestFaultsBetween(t *testing.T) {
	for _, test := range []struct {
		faults, drawn int
		has, gap      string
	}{
		{0, 0, `"gaps":[{"from":`, `"items":5801}]`},
		{1, 1, `"text":"crash broker=3000 for=3"`, `"items":5801}]`},
		{300, 200, `"text":"crash broker=3299 for=3"`, `"items":5901}]`},
	} {
		page := write(t, distant(t, test.faults))
		if !strings.Contains(page, "What proves it") || !strings.Contains(page, test.has) || !strings.Contains(page, test.gap) {
			t.Errorf("of %d faults the page does not have %s and %s: %s", test.faults, test.has, test.gap, regexp.MustCompile(`"gaps":[^]]*]`).FindString(page))
		}
		if n := strings.Count(page, `"kind":"nemesis"`); n != test.drawn {
			t.Errorf("of %d faults %d are drawn, want %d", test.faults, n, test.drawn)
		}
	}
}

// TestExactTimes states times that a browser cannot count with.
func TestExactTimes(t *testing.T) {
	page := write(t, parse(t, "1-3 P1 send 1 => ok @0\n9007199254740993-9007199254740995 C1 scan => ok [0:1] end=1\n9007199254740997 nemesis crash broker=1 for=2\n"))
	for _, want := range []string{`"exact":["9007199254740993","9007199254740995"]`, `"exact":["9007199254740997","9007199254740999"]`, `"exact":["1","3"]`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if strings.Contains(write(t, parse(t, lost)), `"exact"`) {
		t.Error("times that a browser can count with are stated twice")
	}
}

// TestManyFindings says where those are that the page does not list.
func TestManyFindings(t *testing.T) {
	page := write(t, parse(t, lost), func(p *report.Page) {
		for len(p.Result.Findings) < 23 {
			p.Result.Findings = append(p.Result.Findings, p.Result.Findings[0])
		}
	})
	if want := "2 more findings are not listed; check verify --json test.hist lists all."; !strings.Contains(page, want) {
		t.Errorf("the page does not say %s", want)
	}
}
