package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/impl"
)

// checkCommand is the command line as a process of its own.
func checkCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &exec.Cmd{Path: self, Args: append([]string{"check"}, args...)} // as testscript.Main tells commands apart
}

// exitCode runs a command and returns how it ended.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// addProblems adds a case that is wrong and one that is stale to a folder.
func addProblems(t *testing.T, folder string) {
	t.Helper()
	for name, text := range map[string]string{
		"wrong.hist": "history 1\nexpect ok\n1-2 P1 send 1 => ok @0\n3-4 C1 scan => ok [] end=0\n",
		"stale.hist": "history 1\nexpect ok\nschedule\n20 P1 send 1\nend\n20-26 P1 send 1 => ok @0\n40-41 C1 scan => ok [0:1] end=1\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// readReportFile reads a report, which must be whole.
func readReportFile(t *testing.T, file string) gateReport {
	t.Helper()
	a := &app{}
	r, _, err := a.readReport(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// greenReport writes a report of an earlier gate that found nothing.
func greenReport(t *testing.T, file string) (text []byte) {
	t.Helper()
	r := gateReport{Version: reportVersion, Complete: true, Shard: "1/1", Unknown: "fail"}
	for _, name := range partNames {
		r.Parts = append(r.Parts, part{Name: name, Drawn: &drawn{}, Items: []item{{Name: "fine", Verdict: "ok"}}})
	}
	r.judge()
	if err := (&reportFiles{json: file}).write(&r); err != nil || r.Verdict != "ok" {
		t.Fatal(r.Verdict, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKilled kills gates at any instant, half of them after their first save, where an
// earlier one has left a green report. What they had printed is in the
// report, and the report is whole.
func TestKilled(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 5
	}
	corpus := t.TempDir()
	addProblems(t, corpus)
	args := func(report string) []string {
		return []string{"gate", "--shard", "1/12", "--runs", "600", "--bound", "1", "--corpus", corpus, "--budget", "10m", "--json", report, "--junit", report + ".xml", "--html", filepath.Join(filepath.Dir(report), "pages")}
	}
	start := time.Now()
	exitCode(t, checkCommand(t, args(filepath.Join(t.TempDir(), "gate.json"))...))
	whole := time.Since(start)
	complete, some := 0, 0
	for i := range kills {
		folder := t.TempDir()
		report := filepath.Join(folder, "gate.json")
		before := greenReport(t, report)
		cmd := checkCommand(t, args(report)...)
		var printed bytes.Buffer
		cmd.Stdout = &printed
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for tries := 0; i%2 == 1 && tries < 10_000; tries++ { // every other is killed when there is a report to lose
			if now, err := os.ReadFile(report); err == nil && !bytes.Equal(now, before) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		latest := whole
		if i%2 == 1 {
			latest /= 4 // it was long in coming
		}
		killer := time.AfterFunc(rand.N(latest), func() { cmd.Process.Kill() })
		cmd.Wait()
		killer.Stop()
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if name := f.Name(); !slices.Contains([]string{"gate.json", "gate.json.xml", ".gate.json.part", ".gate.json.xml.part", "pages"}, name) {
				t.Errorf("a killed gate leaves %s", name)
			}
		}
		pages, _ := filepath.Glob(filepath.Join(folder, "pages", "*.html"))
		for _, page := range pages {
			if text, err := os.ReadFile(page); err != nil || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("</html>")) {
				t.Errorf("a killed gate leaves half of %s, %v", page, err)
			}
		}
		if now, err := os.ReadFile(report); err != nil || bytes.Equal(now, before) { // it was killed before it began
			if err != nil || printed.Len() > 0 || len(pages) > 0 {
				t.Errorf("the report is that of an earlier gate, %v, although the gate printed\n%s", err, &printed)
			}
			continue
		}
		r := readReportFile(t, report)
		some++
		if r.Complete {
			complete++
		} else if r.Exit == exitOK || r.Verdict == "ok" {
			t.Errorf("the report of a killed gate is %s, exit code %d", r.Verdict, r.Exit)
		}
		var again bytes.Buffer
		for _, p := range r.Parts {
			(&app{out: &results{to: &again}}).printPart(p)
		}
		for line := range strings.Lines(printed.String()) {
			if !strings.HasPrefix(line, "verdict ") && strings.HasSuffix(line, "\n") && !strings.Contains(again.String(), line) {
				t.Errorf("printed and not in the report: %s", line)
			}
		}
	}
	if some < kills/2 {
		t.Errorf("of %d killed gates %d left a report", kills, some)
	}
	t.Logf("%d kills: %d left a report, %d of them came too late", kills, some, complete)
}

// TestInterrupted interrupts a gate that would go on for an hour.
func TestInterrupted(t *testing.T) {
	report := filepath.Join(t.TempDir(), "gate.json")
	cmd := checkCommand(t, "gate", "--budget", "1h", "--json", report)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(os.Interrupt)
	rest, _ := io.ReadAll(lines)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", got, exitInterrupted, rest)
	}
	if r := readReportFile(t, report); r.Complete || r.Verdict != "unknown" || r.Parts[0].looked() == 0 {
		t.Errorf("the report is %s, complete %v, with %d cases", r.Verdict, r.Complete, r.Parts[0].looked())
	}
}

// TestGateIsRed has hunts that end in other ways than they should; what a corpus
// can do wrong is in gate.txtar.
func TestGateIsRed(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many schedules")
	}
	failing := func(ctx context.Context, o hunt.Options) (*hunt.Report, error) {
		o.Bug = "ack-before-commit"
		return hunt.Run(ctx, o)
	}
	contradicting := func(ctx context.Context, o hunt.Options) (*hunt.Report, error) {
		r, err := failing(ctx, o)
		if r.Failed != nil {
			r.Failed.Result = &checker.Result{Verdict: checker.Contradictory, Reason: "two engines differ"}
		}
		return r, err
	}
	undecided := func(_ context.Context, o hunt.Options) (*hunt.Report, error) {
		r := &hunt.Report{Runs: o.Runs, OK: o.Runs - 1, Reasons: map[string]int{"out of steps": 1}, FirstOf: map[string]hunt.First{"out of steps": {Number: 3, Reason: "out of 17 steps"}}}
		r.Exercised.Acknowledged, r.Stats.Elections = 1, 1
		return r, nil
	}
	for _, test := range []struct {
		what    string
		hunt    func(context.Context, hunt.Options) (*hunt.Report, error)
		verdict string
		exit    int
		says    string
	}{
		{"a drawn schedule fails", failing, "violation", exitViolation, `schedule \d+: .*\n +again: check run --seed 1 --first \d+ --runs 1\n`},
		{"the checker contradicts itself", contradicting, "error", exitInternal, `schedule \d+: internal-error: two engines differ\n`},
		{"a schedule is undecided", undecided, "unknown", exitUnknown, `schedule 3: undecided: out of 17 steps \(1 schedule\)\n`},
		{"a hunt ends in an error", func(context.Context, hunt.Options) (*hunt.Report, error) {
			return nil, errors.New("no such thing")
		}, "error", exitInternal, `schedules: internal-error: no such thing\n`},
		{"a hunt panics", func(context.Context, hunt.Options) (*hunt.Report, error) { panic("out of cheese") }, "error", exitInternal, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			var out, stderr bytes.Buffer
			g := &gate{app: &app{out: &results{to: &out}, err: &stderr}, bound: 1, budget: time.Hour, shard: shard{1, 1}, hunt: test.hunt}
			g.report = gateReport{Seed: 1, Runs: 100, Shard: "1/1", Unknown: "fail", Complete: true}
			if test.says == "" {
				g.begin("bugs", 1)
				g.look(0, "a bug", func(it *item) { g.huntBug(t.Context(), t.Context(), it) })
				g.end()
			} else {
				g.start = time.Now()
				g.huntSafe(t.Context(), t.Context())
			}
			if g.report.Verdict != test.verdict || g.report.Exit != test.exit {
				t.Errorf("the verdict is %s, exit code %d, want %s and %d\n%s", g.report.Verdict, g.report.Exit, test.verdict, test.exit, &out)
			}
			if !regexp.MustCompile(test.says).MatchString(out.String()) {
				t.Errorf("the gate does not say %s:\n%s", test.says, &out)
			}
		})
	}
}

// TestShortBudget has hunts for bugs that never find any: where only time sets the
// bounds, they are left out, and the correct cluster has its share. That none at all
// was hunted is undecided.
func TestShortBudget(t *testing.T) {
	for _, budget := range []time.Duration{1, 50 * time.Millisecond} {
		var out bytes.Buffer
		g := &gate{app: &app{out: &results{to: &out}, err: io.Discard}, bound: 1, budget: budget, shard: shard{1, 1}}
		g.hunt = func(ctx context.Context, _ hunt.Options) (*hunt.Report, error) {
			<-ctx.Done()
			return &hunt.Report{Runs: 1, OK: 1}, nil
		}
		g.report = gateReport{Seed: 1, Shard: "1/1", Unknown: "fail", Complete: true}
		g.start = time.Now()
		timed, cancel := context.WithDeadline(t.Context(), g.start.Add(budget))
		g.huntBugs(t.Context(), timed)
		g.hunt = hunt.Run
		g.huntSafe(t.Context(), timed)
		cancel()
		if bugs, safe := g.report.Parts[0], g.report.Parts[1]; g.report.Verdict != "unknown" || bugs.Verdict != "unknown" || len(bugs.Items) != 1 || safe.Verdict != "ok" || safe.Drawn.Schedules < least {
			t.Errorf("with a budget of %s the verdict is %s:\n%s", budget, g.report.Verdict, &out)
		}
	}
}

// TestBugOutOfReach has a hunt that draws more than enough schedules in its time and
// finds nothing: the bug is missed, and not left out.
func TestBugOutOfReach(t *testing.T) {
	bug := impl.Bugs[0].Name
	for _, runs := range []int{hunt.Enough(bug) - 1, hunt.Enough(bug)} {
		g := &gate{bound: 1 << 30}
		g.hunt = func(context.Context, hunt.Options) (*hunt.Report, error) {
			return &hunt.Report{Runs: runs, OK: runs}, nil
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		it := &item{Name: bug, Verdict: "ok"}
		g.huntBug(t.Context(), over, it)
		if missed := runs >= hunt.Enough(bug); missed != (it.Kind == missedBug) || missed == (it.Verdict == "") {
			t.Errorf("after %d schedules the item is %+v", runs, it)
		}
	}
}

// TestMissingShards names those in a row at once.
func TestMissingShards(t *testing.T) {
	got := missing(map[string]string{"3/9": "a", "5/9": "b", "6/9": "c"}, 9)
	want := []string{"the reports of shards 1/9 to 2/9 are missing", "the report of shard 4/9 is missing", "the reports of shards 7/9 to 9/9 are missing"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestMergedVerdicts merges reports of two shards with one item each.
func TestMergedVerdicts(t *testing.T) {
	of := func(i int, verdict string) gateReport {
		r := gateReport{Version: reportVersion, Complete: true, Unknown: "fail", Shard: strconv.Itoa(i) + "/2"}
		r.Parts = []part{{Name: "corpus", Of: 1, Items: []item{{Index: i, Name: "case", Verdict: verdict, Kind: "kind", Says: "of shard " + strconv.Itoa(i)}}}}
		return r
	}
	exits := map[string]int{"violation": exitViolation, "error": exitInternal, "input": exitInput, "stale": exitViolation, "unknown": exitUnknown, "ok": exitOK}
	ofItems := gravity[:len(gravity)-1] // the last is of parts
	for i, worse := range ofItems {
		for _, better := range ofItems[i:] {
			for _, shards := range [][]gateReport{{of(1, worse), of(2, better)}, {of(1, better), of(2, worse)}} {
				merged := mergeShards(shards, nil)
				if merged.Verdict != worse || merged.Exit != exits[worse] {
					t.Errorf("%s and %s make %s, exit code %d", worse, better, merged.Verdict, merged.Exit)
				}
				if n := len(merged.Parts[0].Items); n != 2 {
					t.Errorf("%s and %s: %d items, want 2", worse, better, n)
				}
			}
		}
	}
	ended := of(2, "ok")
	ended.Complete = false
	if merged := mergeShards([]gateReport{of(1, "ok"), ended}, nil); merged.Verdict != "unknown" || merged.Exit != exitUnknown || merged.Complete {
		t.Errorf("with a shard that was ended the verdict is %s, exit code %d", merged.Verdict, merged.Exit)
	}
}

// TestReportsAreDocumented demands a word on each field of the JSON, in docs/gate.md.
func TestReportsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	r := aReport()
	r.Parts[0].Items[0].Schedules = 1
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`"([a-z]+)":`).FindAllStringSubmatch(string(text), -1)
	for _, key := range keys {
		if !strings.Contains(string(doc), "`"+key[1]+"`") {
			t.Errorf("docs/gate.md does not mention %q", key[1])
		}
	}
	for _, word := range append(slices.Clone(gravity), wrongVerdict, staleFingerprint, emptyCorpus, uncoveredRule, missedBug, undecidedItem, internalError) {
		if !strings.Contains(string(doc), "`"+word+"`") {
			t.Errorf("docs/gate.md does not mention %s", word)
		}
	}
}
