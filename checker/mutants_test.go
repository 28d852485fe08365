package checker

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A mutant has another text at one place.
type mutant struct{ file, old, new string }

// mutants are mistakes made on purpose in the engine and in the quick judge:
// comparisons flipped, bounds dropped, steps left out. The properties must
// notice each one.
var mutants = []mutant{
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
	{"linear.go", "return cmp.Compare(a.Call, b.Call) })\n\tslices", "return cmp.Compare(b.Call, a.Call) })\n\tslices"},
	{"linear.go", "l.told[0] <= free; l.told", "l.told[0] < free-1; l.told"},
	{"linear.go", "free = min(to, l.log.Start())", "free = to"},
	{"linear.go", "sent[v] > 1 || offset == ambiguous", "false"},
	{"linear.go", "base, seen = offset-int64(i), true", "base, seen = offset-0*int64(i), true"},
	{"linear.go", "&& l.log.Fits(op.Values, base)", ""},
	{"settle.go", "latest, deadline = max(latest, p.call[i]), min(deadline, p.deadline[i])", "latest = max(latest, p.call[i])"},
	{"settle.go", "latest > deadline {", "latest > deadline+1 {"},
	{"quick.go", "l.slots.notAfter(end-1, o.Return)", ""},
	{"quick.go", "l.slots.notBefore(offset, o.Call)", ""},
	{"quick.go", "p.call[i] = max(p.call[i], o.Call)\n\tp.boundary.add(i)", "p.boundary.add(i)"},
	{"quick.go", "p.deadline[i-1] = min(p.deadline[i-1], o.Return)", ""},
	{"quickread.go", "l.slots.notAfter(last, o.Return)", ""},
	{"quick.go", "p.deadline[at] = min(p.deadline[at], o.Return)", ""},
	{"quick.go", "p.call[i] = max(p.call[i], call)", ""},
	{"quickread.go", "from != histories.None && from < first {", "false {"},
	{"settle.go", "p.passed | p.before | p.follows&p.boundary", "p.passed | p.before"},
	{"quickread.go", "else if !p.is(at+i, r.Value) {", "else if false {"},
	{"slots.go", "p.values == nil && ok && p.integer[i] == n", "p.values == nil && (ok || true) && p.integer[i] == n"},
	{"slots.go", "p.values[i] = histories.Int(n)", "_, _ = i, n"},
	{"slots.go", "if ok && p.values == nil {", "if ok {"},
	{"quick.go", "case o.Offset < c.told:", "case false:"},
	{"plain.go", "p.sent.has(i) || ", ""},
	{"plain.go", "p.integer[i] != n", "false"},
	{"plain.go", "p.call[i] = max(p.call[i], o.Call)\n\tp.deadline", "p.deadline"},
	{"plain.go", "p.deadline[i] = min(p.deadline[i], o.Return)\n\tl.values", "l.values"},
	{"plain.go", "c.sends[0].offset > o.Offset", "false"},
	{"plain.go", "o.Offset < c.told ||", ""},
	{"plain.go", "p.deadline[i-1] = min(p.deadline[i-1], o.Return)\n", ""},
	{"plain.go", "p.call[i] = max(p.call[i], o.Call)\n\t\tp.boundary", "p.boundary"},
	{"plain.go", "p.boundary.add(i)", ""},
	{"plain.go", "if q.exact {", "if true {"},
	{"plain.go", "o.From < first ||", ""},
	{"plain.go", "o.HW <= last", "o.HW < last"},
	{"quickread.go", "r.Value != histories.Int(n)", "n != n"},
	{"quickread.go", "p.seen |= all", ""},
	{"windows.go", "l.time > u.time {", "l.time > u.time+1 {"},
	{"windows.go", "l.time > u.time {", "l.time >= u.time {"},
	{"windows.go", "w.walls[i].base < w.walls[i-1].end {", "w.walls[i].base < w.walls[i-1].base {"},
	{"windows.go", "a.base < op.Exact {", "false {"},
	{"windows.go", "if there > op.Exact {", "if there > op.Exact+1 {"},
	{"windows.go", "if op.Exact < endless {", "if false {"},
	{"windows.go", "w.notBefore(w.walls[i].base+1, op)", ""},
	{"windows.go", "w.notAfter(there, op)", ""},
	{"windows.go", "if a.op.Must {", "if false {"},
	{"windows.go", "w.notBefore(a.base+1, a.op)", "w.notBefore(a.end+1, a.op)"},
	{"windows.go", "w.log.Tight() && o < min(to, w.log.Limit())", "false"},
	{"windows.go", "for ; i < len(w.gaps) && (!op.Must || w.gaps[i].earliest <= op.Return); i++ {", "for ; false; i++ {"},
	{"windows.go", "w.gaps[i].latest >= op.Call", "w.gaps[i].latest > op.Call"},
	{"windows.go", "op.Call <= g.latest &&", "op.Call < g.latest &&"},
	{"windows.go", "w.lower[j].offset-1)", "w.lower[j].offset)"},
	{"windows.go", "w.lower[j].offset <= g.to", "w.lower[j].offset < g.to"},
	{"windows.go", "ops = append(ops, model.Moment(w.upper[j].time, w.upper[j].offset, histories.None))", ""},
	{"windows.go", "ops = append(ops, model.Moment(g.latest, g.to, histories.None))", ""},
	{"windows.go", "op.Before >= w.room(group, int64(k.size))", "op.Before+1 >= w.room(group, int64(k.size))"},
	{"windows.go", "if op.Must || op.Offset != histories.None {\n\t\treturn kind{}, false", "if op.Offset != histories.None {\n\t\treturn kind{}, false"},
	{"windows.go", "return cmp.Compare(a.Call, b.Call) })\n\talike", "return cmp.Compare(b.Call, a.Call) })\n\talike"},
	{"bounds.go", "sign*cmp.Compare(x.time, kept[n-1].time) > 0", "sign*cmp.Compare(x.time, kept[n-1].time) < 0"},
	{"settle.go", "p.before.has(i) && o >= l.start", "false"},
	{"section.go", "s.start + s.before(offset) - s.before(s.start)", "s.before(offset)"},
	{"quickread.go", "p.boundary.add(i)", "_, _ = p, i"},
	{"settle.go", "max(o-1, l.start), o+2)", "o, o+2)"},
	{"positions.go", "to = atStart\n", "to = 0\n"},
	{"positions.go", "c.blind = true\n\treturn false", "return false"},
	{"positions.go", "moved && marks[0].Time >= o.Call", "moved && marks[0].Time > o.Call"},
	{"positions.go", "marks[0].Time <= overAt(o)", "marks[0].Time < o.Call"},
	{"positions.go", "during, t.late, t.tied = true, true, c.op", "during, t.late = true, true"},
	{"rules_session.go", "(w.now.op.Call < t.op.Call", "(w.now.op.Call <= t.op.Call"},
}

// TestMutants builds each mutant and lets the properties judge it. It takes
// minutes, so it runs only where ISRCHECK_MUTANTS is set: to 1 for all of them,
// to 2/5 for the second of five shares, to update for all and to write down in
// docs/mutants.md which property was first to notice.
func TestMutants(t *testing.T) {
	want := os.Getenv("ISRCHECK_MUTANTS")
	share, shares := 1, 1
	switch _, err := fmt.Sscanf(want, "%d/%d", &share, &shares); {
	case want == "":
		t.Skip("set ISRCHECK_MUTANTS=1 to build and judge every mutant")
	case want == "1", want == "update":
		share, shares = 1, 1
	case err != nil, share < 1, share > shares:
		t.Fatalf("ISRCHECK_MUTANTS is %q, expected 1, update or a share such as 2/5", want)
	}
	table := mutantsHead
	for i, m := range mutants {
		if i%shares != share-1 {
			continue
		}
		t.Run(m.file+"/"+strings.ReplaceAll(m.old, "/", "_"), func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.old); n == 0 {
				t.Fatalf("%s does not have %q any more", m.file, m.old)
			}
			out, err := testMutant(t, m.file, strings.Replace(string(text), m.old, m.new, 1))
			_, by, failed := strings.Cut(out, "--- FAIL: ")
			if err == nil {
				t.Errorf("no property notices %q instead of %q", m.new, m.old)
			} else if !failed {
				t.Fatalf("the mutant does not build: %v\n%s", err, out)
			}
			by, _, _ = strings.Cut(by, " ")
			t.Logf("noticed by %s", by)
			table += m.row() + fmt.Sprintf(" %s |\n", by)
		})
	}
	if want == "update" && !t.Failed() {
		if err := os.WriteFile(mutantsTable, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

const mutantsTable = "../docs/mutants.md"

const mutantsHead = `# Mistakes made on purpose

Each row is a mistake in the checker: a comparison flipped, a bound dropped, a step left out. Built with it, the checker
fails a property, a test over drawn histories or the corpus; the last column names the first to fail.
` + "`ISRCHECK_MUTANTS=1 go test ./checker -run TestMutants` runs them all, `ISRCHECK_MUTANTS=update` writes this table anew." + `

| file | instead of | this | noticed by |
|---|---|---|---|
`

// row is the mutant's row of the table, without the last column.
func (m mutant) row() string {
	code := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return "`" + strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|") + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |", m.file, code(m.old), code(m.new))
}

// TestMutantsTable compares the table with the mutants there are, and those with the
// files that they change.
func TestMutantsTable(t *testing.T) {
	text, err := os.ReadFile(mutantsTable)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "\n| ") - 1; got != len(mutants) {
		t.Errorf("the table has %d rows, want one for each of %d mutants", got, len(mutants))
	}
	for _, m := range mutants {
		if !strings.Contains(string(text), m.row()) {
			t.Errorf("the table lacks %s", m.row())
		}
		if text, err := os.ReadFile(m.file); err != nil || !strings.Contains(string(text), m.old) {
			t.Errorf("%s does not have %q any more (%v)", m.file, m.old, err)
		}
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
		"-run", "^Test(NoFalseAlarm|RulesAndModelAgree|SameVerdictAsEnumeration|EnginesAgree|EnginesAgreeOnTheCorpus|QuickJudgeIsNeverWrong|Suspects|SectionBehindTheLogStart|Ties|Corpus)$", ".", "-failfast", "-rapid.checks=300", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
