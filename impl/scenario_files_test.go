package impl_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

var update = flag.Bool("update", false, "write the traces of scenarios anew; what people expect in them is never touched")

// TestScenarioFiles performs every scenario: what a person expects happens, and
// the trace below it is the one of the run.
func TestScenarioFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario/*.txt")
	if err != nil || len(files) == 0 || len(files) != len(impl.Scenarios()) {
		t.Fatalf("%d scenarios in the folder, %d in the package, %v", len(files), len(impl.Scenarios()), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run, err := impl.RunScenario(file, text, judge)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range run.Wrong {
				t.Error(wrong)
			}
			if *update {
				if err := os.WriteFile(file, run.Text, 0o644); err != nil {
					t.Error(err)
				}
				return
			}
			for _, stale := range run.Stale {
				t.Error(stale)
			}
			if t.Failed() {
				t.Logf("now:\n%s", run.Text)
			}
		})
	}
}

// TestBugScenarios performs the scenario of each seeded bug: it expects what the table
// says that clients see and that breaks first, and that happens.
func TestBugScenarios(t *testing.T) {
	for _, bug := range impl.Bugs {
		text, err := impl.BugText(bug.Name)
		if err != nil {
			t.Fatal(err)
		}
		run, err := impl.RunScenario(bug.Name+".txt", text, judge)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, wrong := range run.Wrong {
			t.Error(wrong)
		}
		claim := string(text[bytes.LastIndex(text, []byte("\ncheck\n")):])
		if !strings.Contains(claim, "\nexpect violation ") || !strings.Contains(claim, bug.Anomaly) || !strings.Contains(claim, bug.Invariant) {
			t.Errorf("%s expects %q, the table names %q and %q", bug.Name, claim, bug.Anomaly, bug.Invariant)
		}
	}
}

func judge(h *histories.History) (impl.Verdict, error) {
	r := checker.Check(context.Background(), h, checker.Options{Engine: checker.Both})
	v := impl.Verdict{Name: r.Verdict.String(), Findings: r.Names()}
	for _, f := range r.Findings {
		if f.Allowed != "" {
			v.Allowed = append(v.Allowed, f.Name)
		}
	}
	return v, nil
}

const small = `# Two records.
set brokers=2
10 P1 send 1
run until broker=2 leo=1 within=100
expect hw=0 isr={1,2} leader={1,2}
expect appends [1] at 0
expect not truncates
----

1000 P1 send 2 acks=1
1100 C1 poll
run to=2000
expect P1 send 2 acks=1 => ok @1
expect partition-epoch=0 last-known=none broker=2 caught-up=1505 client=C1 position=2 broker=1 hw=2
----

check
expect ok
expect broker=2 leo=2 hw=2 log=1/0,2/0 role=follower state=running fenced=false
----
`

// TestScenarioTraceIsWritten writes the traces of a scenario and finds nothing
// to write the second time.
func TestScenarioTraceIsWritten(t *testing.T) {
	first, err := impl.RunScenario("small.txt", []byte(small), judge)
	if err != nil || len(first.Wrong) > 0 || len(first.Stale) != 3 {
		t.Fatalf("%v, wrong %v, stale %v", err, first.Wrong, first.Stale)
	}
	second, err := impl.RunScenario("small.txt", first.Text, judge)
	if err != nil || len(second.Wrong) > 0 || len(second.Stale) > 0 || !bytes.Equal(first.Text, second.Text) {
		t.Errorf("%v, wrong %v, stale %v\n%s\n%s", err, second.Wrong, second.Stale, first.Text, second.Text)
	}
	for _, want := range []string{"appends [2] at 1", "at 2000: leader 1, epoch 0, isr {1,2}\n  broker  state    role      epoch  leo  hw  log\n* 1       running  leader    0      2    2   1/0 2/0\n"} {
		if !strings.Contains(string(first.Text), want) {
			t.Errorf("no %q in\n%s", want, first.Text)
		}
	}
}

// TestScenarioExpectations refuses what does not happen.
func TestScenarioExpectations(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"hw=0", "hw=3", "small.txt:5:1: hw is 0, expected 3"},
		{"leader={1,2}", "leader={none,2}", "small.txt:5:1: leader is 1, expected {none,2}"},
		{"isr={1,2}", "isr={1}", "small.txt:5:1: isr is {1,2}, expected {1}"},
		{"appends [1]", "appends [9]", `small.txt:6:1: no line of the trace has "appends [9] at 0"`},
		{"not truncates", "not appends", `small.txt:7:1: a line of the trace has "appends"`},
		{"leo=1 within", "leo=2 within", "small.txt:4:1: not reached within 100 ms"},
		{"position=2", "position=1", "small.txt:14:1: position is 2, expected 1"},
		{"caught-up=1505", "caught-up=0", "small.txt:14:1: caught-up is 1505, expected 0"},
		{"expect ok\n", "expect violation lost-write\n", "small.txt:18:1: the verdict is ok, expected violation lost-write"},
		{"expect ok\n", "expect violation\n", "small.txt:18:1: the verdict is ok, expected violation"},
		{"expect ok\n", "expect allowed lost-write\n", "small.txt:18:1: the verdict is ok, expected allowed lost-write"},
		{"expect ok\n", "expect not ok\n", "small.txt:18:1: the verdict is ok, expected not ok"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not hw=0", "small.txt:5:1: hw is 0, expected not 0"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not broker=1 role={leader,follower}", "small.txt:5:1: role is leader, expected not {leader,follower}"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not isr={1,2}", "small.txt:5:1: isr is {1,2}, expected not {1,2}"},
		{"expect broker=2 leo=2", "expect not broker=2 log=1/0,2/0\nexpect broker=2 leo=2", "small.txt:19:1: log is 1/0,2/0, expected not 1/0,2/0"},
		{"log=1/0,2/0", "log=1/0", "small.txt:19:1: log is 1/0,2/0, expected 1/0"},
	} {
		run, err := impl.RunScenario("small.txt", []byte(strings.Replace(small, tt.old, tt.new, 1)), judge)
		if err != nil {
			t.Errorf("%s: %v", tt.new, err)
		} else if !slices.ContainsFunc(run.Wrong, func(err error) bool { return err.Error() == tt.want }) {
			t.Errorf("%s: found %v, want %s", tt.new, run.Wrong, tt.want)
		}
	}
}

// TestScenarioVerdicts compares claims about verdicts with verdicts, each of which
// some claim does not meet.
func TestScenarioVerdicts(t *testing.T) {
	lost := impl.Verdict{Name: "violation", Findings: []string{"lost-write", "invariant HwBacked"}}
	excused := impl.Verdict{Name: "ok", Allowed: []string{"lost-write"}}
	for _, tt := range []struct {
		verdict    impl.Verdict
		line, want string // what is wrong, or ""
	}{
		{lost, "expect violation", ""},
		{lost, "expect not ok", ""},
		{lost, "expect violation lost-write, invariant HwBacked", ""},
		{lost, "expect not violation", "the verdict is violation lost-write,invariant HwBacked, expected not violation"},
		{lost, "expect violation gap", "the verdict is violation lost-write,invariant HwBacked, expected the finding gap"},
		{lost, "expect not violation gap", ""},
		{lost, "expect not violation gap,lost-write", "the verdict is violation lost-write,invariant HwBacked, expected no finding gap or lost-write"},
		{lost, "expect allowed", "the verdict is violation lost-write,invariant HwBacked, expected allowed"},
		{lost, "expect not allowed", ""},
		{excused, "expect not violation", ""},
		{excused, "expect not violation lost-write", ""},
		{excused, "expect not unknown", ""},
		{excused, "expect allowed lost-write", ""},
		{excused, "expect allowed gap", "the verdict is ok (allowed lost-write), expected the allowed finding gap"},
		{excused, "expect not allowed lost-write", "the verdict is ok (allowed lost-write), expected no allowed finding lost-write"},
		{excused, "expect not allowed", "the verdict is ok (allowed lost-write), expected not allowed"},
		{excused, "expect violation", "the verdict is ok (allowed lost-write), expected violation"},
	} {
		run, err := impl.RunScenario("s", []byte("10 P1 send 1\ncheck\n"+tt.line+"\n"), func(*histories.History) (impl.Verdict, error) { return tt.verdict, nil })
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if tt.want == "" && len(run.Wrong) > 0 || tt.want != "" && (len(run.Wrong) != 1 || run.Wrong[0].Error() != "s:3:1: "+tt.want) {
			t.Errorf("%s: %v, want %q", tt.line, run.Wrong, tt.want)
		}
	}
}

// TestScenarioErrors refuses texts that say nothing, or something else than
// they seem to.
func TestScenarioErrors(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{"set brokers=2", "set brokers=two", `small.txt:2:5: setting brokers="two": expected an integer`},
		{"10 P1 send 1", "10 P1 write 1", `small.txt:3:7: unknown verb "write"`},
		{"set brokers=2", "bug gremlin", `small.txt:2:5: unknown bug "gremlin"; expected one of`},
		{"10 P1 send 1", "10 P1 send one", `small.txt:3:12: value "one": expected an integer`},
		{"10 P1 send 1", "jump over", "small.txt:3:1: expected a time in milliseconds"},
		{"run until broker=2 leo=1 within=100", "run until", "small.txt:4:1: expected run to=MS or run until"},
		{"run until broker=2 leo=1 within=100", "run to=soon", "small.txt:4:1: expected milliseconds"},
		{"broker=2 leo=1", "broker=2 size=1", `small.txt:4:1: unknown key "size"; expected one of state, fenced`},
		{"broker=2 leo=1", "broker=x leo=1", "small.txt:4:1: broker=x: expected a number"},
		{"broker=2 leo=1", "broker=5 leo=1", "small.txt:4:1: expected a broker up to 2"},
		{"broker=2 leo=1", "broker=2", "small.txt:4:1: expected a claim"},
		{"client=C1 position", "client=C9 position", "small.txt:14:1: client=C9: expected the name of a client"},
		{"client=C1 position", "client=C1 leo", `small.txt:14:1: unknown key "leo"; expected one of position`},
		{"expect hw=0", "expect hw=0 soon", `small.txt:5:1: expected KEY=VALUE, found "soon"`},
		{"expect not truncates", "expect", "small.txt:7:1: expected a claim after expect"},
		{"expect not truncates", "expect not", "small.txt:7:1: expected a claim after expect"},
		{"expect not truncates", "expect not not truncates", "small.txt:7:1: expected a claim after expect"},
		{"expect not truncates", "expect not truncates # ever", "small.txt:7:1: expected words of a line of the trace"},
		{"expect not truncates", "expect not leader = 1", "small.txt:7:1: expected words of a line of the trace"},
		{"expect not truncates", "expect not hw=1 leo=1", "small.txt:7:1: expected one KEY=VALUE after not, found 2"},
		{"expect not truncates", "expect not violation", "small.txt:7:1: expected check above this line"},
		{"run until broker=2 leo=1 within=100\n", "", "small.txt:5:1: expected run or check above this line"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not hw=one", "small.txt:5:1: hw=one: expected an integer from 0, or none"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not isr={2,1}", "small.txt:5:1: isr={2,1}: expected brokers in ascending order, as {1,2}"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not isr={1,3}", "small.txt:5:1: isr={1,3}: expected brokers up to 2"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not leader={none,7}", "small.txt:5:1: leader={none,7}: expected brokers up to 2"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not recovering=no", "small.txt:5:1: recovering=no: expected one of true, false"},
		{"expect broker=2 leo=2", "expect not broker=2 log=1,2\nexpect leo=2", "small.txt:19:1: log=1,2: expected a log as the account shows it"},
		{"expect hw=0 isr={1,2} leader={1,2}", "expect not hw=-1", "small.txt:5:1: hw=-1: expected an integer from 0, or none"},
		{"leader={1,2}", "leader={none,2,1}", "small.txt:5:1: leader={none,2,1}: expected some of the values, not all there are"},
		{"fenced=false", "fenced={true,false}", "small.txt:19:1: fenced={true,false}: expected some of the values, not all there are"},
		{"role=follower", "role=chief", "small.txt:19:1: role=chief: expected one of none, leader, follower"},
		{"state=running", "state=alive", "small.txt:19:1: state=alive: expected one of down, starting, catching-up, running, shutting-down, paused"},
		{"expect ok\n", "expect ok hw=2\n", `small.txt:18:1: expected nothing after ok, found "hw=2"`},
		{"expect ok\n", "expect violation lots-write\n", `small.txt:18:1: unknown finding "lots-write"; expected one of lost-write, `},
		{"expect ok\n", "expect not violation invariant Hw\n", `small.txt:18:1: unknown finding "invariant Hw"; expected one of lost-write, `},
		{"expect ok\n", "expect allowed lost-write,\n", `small.txt:18:1: unknown finding ""; expected one of lost-write, `},
		{"expect not truncates", "expect not trunctates", `small.txt:7:1: "trunctates" is no word of an account; expected a verdict (ok, unknown, violation, allowed), KEY=VALUE, or whole words of a line of the account`},
		{"expect not truncates", "expect not truncate", `small.txt:7:1: "truncate" is no word of an account`},
		{"expect not truncates", "expect not state running", `small.txt:7:1: "state" is no word of an account`},
		{"expect not truncates", "expect not P9 send", `small.txt:7:1: "P9" is no word of an account`},
		{"expect appends [1] at 0", "expect apends [1] at 0", `small.txt:6:1: "apends" is no word of an account`},
		{"expect ok\n", "expect not voilation lost-write\n", `small.txt:18:1: "voilation" is no word of an account`},
		{"expect ok\n", "expect not unknow\n", `small.txt:18:1: "unknow" is no word of an account`},
		{"expect ok\n", "expect not lost-wirte\n", `small.txt:18:1: "lost-wirte" is no word of an account`},
		{"expect ok\n", "expect not lost-write\n", "small.txt:18:1: lost-write is a finding; expected violation or allowed before it"},
		{"expect ok\n", "expect not duplicate\n", "small.txt:18:1: duplicate is a finding; expected violation or allowed before it"},
		{"run to=2000", "run to=5", "small.txt:12:1: expected a time after 14"},
		{"1000 P1", "12 P1", "small.txt:10:1: this step is due at 12"},
		{"1000 P1", "5 P1", "small.txt:10:1: expected steps in order of time"},
		{"check\n", "", "small.txt:18:1: expected check in the last block: "},
		{"run to=2000\n", "check\n", "small.txt:12:1: expected check in the last block only"},
		{"check\n", "check now\n", `small.txt:17:1: expected nothing after check, found "now"`},
	} {
		_, err := impl.RunScenario("small.txt", []byte(strings.Replace(small, tt.old, tt.new, 1)), judge)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.new, err, tt.want)
		}
	}
	if _, err := impl.ScenarioText("no-such"); err == nil || !strings.Contains(err.Error(), "expected one of ") {
		t.Errorf("no-such: %v", err)
	}
}
