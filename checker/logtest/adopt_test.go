package logtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// strange is somebody else's log, which forgets every fifth batch.
const strange = `package mylog

import "sync"

type Log struct {
	mu      sync.Mutex
	values  []string
	appends int
}

func New() *Log { return &Log{} }

func (l *Log) Append(values ...string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	base := int64(len(l.values))
	if l.appends++; l.appends%5 != 0 {
		l.values = append(l.values, values...)
	}
	return base, nil
}

func (l *Log) Read(from int64) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.values[min(from, int64(len(l.values))):]
}
`

// TestAdoption makes a module of its own, adopts the suite in one file, which is
// the README's, and has it catch the bug that is planted there.
func TestAdoption(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	module := adopt(t)
	seed := ""
	run := func(args ...string) string {
		cmd := exec.Command("./mylog.test", append([]string{"-test.v"}, args...)...)
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "ISRCHECK_RUNS=5", "ISRCHECK_SEED="+seed)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("the planted bug was not caught:\n%s", out)
		}
		return string(out)
	}

	first := run()
	expect(t, first, `lost-write: Record \d+ was acknowledged at offset \d+ and is gone`,
		`every client may rely on an acknowledged write \(acks=all\) staying in the log`,
		`skipped: the log cannot crash`, `--- SKIP: TestMyLog/crash-during-appends`, `--- FAIL: TestMyLog/drawn`)
	saved := cases(t, module, "testdata/failures/TestMyLog")
	if len(saved) == 0 {
		t.Fatalf("nothing was saved:\n%s", first)
	}

	expect(t, first, `see it with: check explain `+regexp.QuoteMeta(module))
	again := run()
	expect(t, again, `(?s)=== RUN +TestMyLog/saved-.*=== RUN +TestMyLog/append-and-read`, `--- FAIL: TestMyLog/saved-`)
	if now := cases(t, module, "testdata/failures/TestMyLog"); len(now) < len(saved) {
		t.Errorf("of %d saved failures %d are left", len(saved), len(now))
	}

	expect(t, run("-test.artifacts", "-test.outputdir="+module, "-test.run=TestMyLog/saved-lost"), `saved as testdata/failures/TestMyLog/lost-write-.*\n +a page about it: .*/_artifacts/.*/lost-write-.*html`)
	for _, used := range []string{"testdata", "_artifacts"} {
		if err := os.RemoveAll(filepath.Join(module, used)); err != nil {
			t.Fatal(err)
		}
	}
	seed = "3"
	expect(t, run("-test.artifacts", "-test.outputdir="+module), `again: ISRCHECK_RUNS=5 ISRCHECK_SEED=3 go test -count=1 -run '\^TestMyLog\$' example.com/mylog\n`)
	if _, err := os.Stat(filepath.Join(module, "testdata")); err == nil {
		t.Error("with -artifacts, something was saved in testdata")
	}
	saved = cases(t, module, "_artifacts")
	if len(saved) == 0 {
		t.Error("with -artifacts, nothing was saved there")
	}
	for _, path := range saved {
		page, err := os.ReadFile(strings.TrimSuffix(path, ".hist") + ".html")
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "logtest: test TestMyLog of example.com/mylog") {
			t.Errorf("%s does not say which test saved it: %v", path, err)
		}
		if err != nil || !strings.Contains(string(page), "What proves it") {
			t.Errorf("%s has no page that proves something: %v", path, err)
		}
		file := filepath.Base(path)
		rule := file[:strings.LastIndex(file, "-")]
		if head := "<title>violation " + rule + ": " + file + "</title>"; !strings.Contains(string(page), head) {
			t.Errorf("the page of %s has no %s", path, head)
		}
	}
}

// adopt makes the module and builds its tests.
func adopt(t *testing.T) (folder string) {
	folder = t.TempDir()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module example.com/mylog\n\ngo 1.26\n\nrequire github.com/isrcheck/isrcheck v0.0.0\n\nreplace github.com/isrcheck/isrcheck => %s\n", repository),
		"go.sum": string(sums), "mylog.go": strange, "mylog_test.go": goIn(string(readme)),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	inModule(t, folder, "test", "-mod=mod", "-c", "-o", "mylog.test")
	tool := regexp.MustCompile("`go get -tool (.*?)`").FindStringSubmatch(string(readme))
	if tool == nil {
		t.Fatal("the README does not say how a module gets check")
	}
	inModule(t, folder, "mod", "edit", "-tool", tool[1])
	if got := inModule(t, folder, "list", "-mod=mod", "tool"); got != tool[1]+"\n" {
		t.Errorf("the module's tools are %s, want %s", got, tool[1])
	}
	return folder
}

// inModule runs the go command in a module.
func inModule(t *testing.T, folder string, args ...string) (out string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, text)
	}
	return string(text)
}

// goIn returns the README's indented block that is a Go file.
func goIn(markdown string) string {
	var b strings.Builder
	for line := range strings.Lines(markdown) {
		code, indented := strings.CutPrefix(line, "    ")
		if b.Len() > 0 && !indented && line != "\n" {
			break
		}
		if b.Len() > 0 || strings.HasPrefix(code, "package ") && indented {
			b.WriteString(code)
		}
	}
	return b.String()
}

func expect(t *testing.T, output string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(output) {
			t.Errorf("the output has no %s:\n%s", p, output)
		}
	}
}

// cases returns the histories somewhere under a folder of the module.
func cases(t *testing.T, module, folder string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(module, folder), func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".hist") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return paths
}
