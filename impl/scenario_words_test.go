package impl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tracing are the functions that say something in the account.
var tracing = []string{"say", "sayOf", "tracef", "traceOf", "nemesis", "note", "notLive", "notApplied", "witness", "permit"}

// saidByCode are the words of the account's sentences: of whatever is handed to a
// function that says something, and of functions that put something into words.
func saidByCode(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 && !strings.HasPrefix(name, "scenario") && n.Names[0].Name != "permittedLosses" {
					if _, ok := n.Values[0].(*ast.BasicLit); ok {
						literals(n, words)
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(tracing, f.Sel.Name) {
					literals(n, words)
				}
			case *ast.FuncDecl:
				if r := n.Type.Results; r != nil && slices.ContainsFunc(r.List, isString) {
					ast.Inspect(n.Body, func(n ast.Node) bool {
						switch n := n.(type) {
						case *ast.ReturnStmt, *ast.AssignStmt:
							literals(n, words)
						}
						return true
					})
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(words))
}

func isString(f *ast.Field) bool {
	id, ok := f.Type.(*ast.Ident)
	return ok && id.Name == "string"
}

// literals collects the words of the strings below a node.
func literals(n ast.Node, words map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			for _, verb := range []string{"%d", "%s", "%v", "%x"} {
				text = strings.ReplaceAll(text, verb, " ")
			}
			for _, w := range wordsIn(text) {
				words[w] = true
			}
		}
		return true
	})
}

// TestAccountWords compares the words of accounts with those in the code: a word that
// is not listed could not be expected, and one that nobody says any more could.
func TestAccountWords(t *testing.T) {
	listed, said := strings.Fields(accountWords), saidByCode(t)
	for _, w := range said {
		if !slices.Contains(listed, w) {
			t.Errorf("%q is not listed", w)
		}
	}
	for _, w := range listed {
		if !slices.Contains(said, w) {
			t.Errorf("%q is listed and nobody says it", w)
		}
	}
}

// TestWordsOfScenarios looks in the accounts that there are for words that nobody could
// expect.
func TestWordsOfScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseScenario(name, text)
		if err != nil {
			t.Fatal(err)
		}
		known := vocabulary(&s.schedule)
		for _, b := range s.blocks {
			for line := range strings.Lines(b.trace) {
				if !strings.HasPrefix(line, "t=") {
					continue // of the state
				}
				lines++
				if err := checkWords(line, known); err != nil {
					t.Errorf("%s: %s%v", name, line, err)
				}
			}
		}
	}
	if lines < 1000 {
		t.Errorf("only %d lines of accounts", lines)
	}
}
