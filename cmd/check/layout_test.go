package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies keeps the layout: the judge only ever sees a history, and
// the implementation knows neither model nor checker.
//
// cmd/check knows impl and checker, checker knows model, all know histories.
func TestDependencies(t *testing.T) {
	const module = "github.com/isrcheck/isrcheck/"
	allowed := map[string][]string{
		"histories": {"histories"},
		"model":     {"histories", "model"},
		"checker":   {"histories", "model", "checker"},
		"impl":      {"histories", "impl"},
		"cmd":       {"histories", "model", "checker", "impl", "cmd"},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		words := strings.Fields(line)
		from := strings.TrimPrefix(words[0], module)
		top, _, _ := strings.Cut(from, "/")
		may, ok := allowed[top]
		if !ok {
			t.Errorf("package %s stands outside histories, model, checker, impl and cmd", from)
		}
		for _, imported := range words[1:] {
			name, ours := strings.CutPrefix(imported, module)
			if to, _, _ := strings.Cut(name, "/"); ours && !slices.Contains(may, to) {
				t.Errorf("%s imports %s; %s may import only %s", from, name, top, strings.Join(may, ", "))
			}
			if rapid := "pgregory.net/rapid"; imported == rapid && !slices.Contains(drawsWithRapid, from) {
				t.Errorf("%s imports %s outside tests", from, rapid)
			}
		}
	}
	if len(lines) < 8 {
		t.Errorf("go list names only %d packages", len(lines))
	}
}

// drawsWithRapid are the packages whose purpose it is to draw.
var drawsWithRapid = []string{"histories/draw", "impl/gen", "model/modeltest", "checker/logtest"}
