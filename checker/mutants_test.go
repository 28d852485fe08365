package checker

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are mistakes made on purpose in the engine and in the quick judge:
// comparisons flipped, bounds dropped, steps left out. The properties must
// notice each one.
var mutants = []struct{ file, old, new string }{
	{"linear.go", "if now > a.deadline {", "if now > a.deadline+1 {"},
	{"linear.go", "if now > a.deadline {", "if now >= a.deadline {"},
	{"linear.go", "if a.call > now {", "if a.call > now+1 {"},
	{"linear.go", "by.Return < a.deadline", "by.Return < a.deadline-1"},
	{"linear.go", "by.Return < a.deadline", "by.Return > a.deadline"},
	{"linear.go", "by.Call > a.call", "by.Call > a.call+1"},
	{"linear.go", "by.Call > a.call", "by.Call < a.call"},
	{"linear.go", "if there >= missing {", "if there > missing {"},
	{"linear.go", "if there >= 0 {\n\t\tl.notAfter(there, op)\n\t}", ""},
	{"linear.go", "if missing < len(l.appends) {\n\t\tl.notBefore(missing, op)\n\t}", ""},
	{"linear.go", "a.op != nil && a.op.Must", "a.op != nil && !a.op.Must"},
	{"linear.go", "l.firstFrom(r.Offset+1)-1", "l.firstFrom(r.Offset)-1"},
	{"linear.go", "there = max(there, l.firstFrom(max(op.Low, op.Exact))-1)", ""},
	{"linear.go", "missing = l.firstFrom(op.Exact)\n", "missing = l.firstFrom(op.Exact + 1)\n"},
	{"linear.go", "l.appends[missing-1].end > op.Exact", "false"},
	{"linear.go", "l.appends[i].tip > op.Beyond", "l.appends[i].tip > op.Beyond+1"},
	{"linear.go", "if op.Beyond != histories.None {", "if false {"},
	{"linear.go", "if a.base < next {", "if a.base < next-1 {"},
	{"linear.go", "if known[0].Offset < a.base {", "if known[0].Offset > a.base {"},
	{"linear.go", "if len(known) > 0 {\n\t\treturn l.refuse", "if false {\n\t\treturn l.refuse"},
	{"linear.go", "return cmp.Compare(a.Call, b.Call) })\n\tsort", "return cmp.Compare(b.Call, a.Call) })\n\tsort"},
	{"linear.go", "l.told[0] <= free; l.told", "l.told[0] < free-1; l.told"},
	{"linear.go", "free = min(to, l.log.Start())", "free = to"},
	{"linear.go", "sent[v] > 1 || offset == ambiguous", "false"},
	{"linear.go", "base, seen = offset-int64(i), true", "base, seen = offset-0*int64(i), true"},
	{"linear.go", "&& l.log.Fits(op.Values, base)", ""},
	{"quick.go", "now, deadline = max(now, s.call), min(deadline, s.deadline)", "now = max(now, s.call)"},
	{"quick.go", "if now > deadline {", "if now > deadline+1 {"},
	{"quick.go", "s := l.slots.at(end - 1)\n\t\ts.deadline = min(s.deadline, o.Return)", ""},
	{"quick.go", "s.call = max(s.call, o.Call)", ""},
	{"quick.go", "s := l.slots.at(last)\n\ts.deadline = min(s.deadline, o.Return)", ""},
	{"quick.go", "s.deadline = min(s.deadline, o.Return)\n\t}\n\tl.limit = max(l.limit, o.Offset+n)", "}\n\tl.limit = max(l.limit, o.Offset+n)"},
	{"quick.go", "s.call = max(s.call, call)", ""},
	{"quick.go", "from != first ||", "from > first ||"},
	{"quick.go", "if s.flags&slotBoundary != 0 {", "if false {"},
	{"quick.go", "s.flags&slotHeld != 0 && s.value != r.Value", "false"},
	{"quick.go", "o.Offset < c.told ||", ""},
}

// TestMutants builds each mutant and lets the properties judge it. It takes
// minutes, so it runs only where ISRCHECK_MUTANTS is set.
func TestMutants(t *testing.T) {
	if os.Getenv("ISRCHECK_MUTANTS") == "" {
		t.Skip("set ISRCHECK_MUTANTS=1 to build and judge every mutant")
	}
	for _, m := range mutants {
		t.Run(m.file+"/"+strings.ReplaceAll(m.old, "/", "_"), func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.old); n == 0 {
				t.Fatalf("%s does not have %q any more", m.file, m.old)
			}
			out, err := testMutant(t, m.file, strings.Replace(string(text), m.old, m.new, 1))
			if err == nil {
				t.Errorf("no property notices %q instead of %q", m.new, m.old)
			} else if !strings.Contains(out, "--- FAIL") {
				t.Fatalf("the mutant does not build: %v\n%s", err, out)
			}
		})
	}
}

// testMutant runs the properties over a package in which one file has another
// text.
func testMutant(t *testing.T, file, text string) (string, error) {
	dir := t.TempDir()
	mutated := filepath.Join(dir, file)
	if err := os.WriteFile(mutated, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	original, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-overlay", list, "-vet=off", "-count=1",
		"-run", "NoFalseAlarm|RulesAndModelAgree|SameVerdict|QuickJudge|Corpus", ".", "-rapid.checks=300", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
