package impl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forbiddenImports are packages that know the time, chance, the machine or an
// order of their own.
var forbiddenImports = []string{"time", "math/rand", "math/rand/v2", "crypto/rand", "sync", "sync/atomic",
	"os", "net", "runtime", "unsafe", "maps", "hash/maphash", "C"}

// TestDeterministicByConstruction demands that the code a run depends on has
// no way to behave differently the second time. The model may look things up
// in maps, but not walk over one.
func TestDeterministicByConstruction(t *testing.T) {
	files := 0
	for _, root := range []string{".", "../model", "../histories/schedule"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && slices.Contains([]string{"gen", "kafka", "testdata", "modeltest"}, d.Name()) {
				return filepath.SkipDir
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				files++
				found := forbidden(t, path, nil)
				if root == "../model" {
					found = slices.DeleteFunc(found, func(f string) bool { return strings.HasSuffix(f, ": map") })
				}
				for _, f := range found {
					t.Error(f)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 20 {
		t.Errorf("only %d files found", files)
	}
}

func TestForbiddenIsFound(t *testing.T) {
	for _, src := range []string{
		`package p; import "time"; var _ = time.Now`,
		`package p; import "math/rand"; var _ = rand.Int`,
		`package p; func f() { go f() }`,
		`package p; func f() { select {} }`,
		`package p; func f(c chan int) { c <- 1 }`,
		`package p; func f(m map[int]int) {}`,
		`package p; func f() { m := map[int]int{}; for range m {} }`,
		`package p; type s struct { m map[int]int }; func f(x s) { for range x.m {} }`,
		`package p; var x = 0.5`,
		`package p; func f(x float64) {}`,
	} {
		if len(forbidden(t, "p.go", src)) == 0 {
			t.Errorf("nothing found in %s", src)
		}
	}
	if found := forbidden(t, "p.go", `package p; func f() { m := map[int]int{}; for range m {} }`); len(found) != 2 {
		t.Errorf("found %v, want the map and the walk over it", found)
	}
	if found := forbidden(t, "p.go", `package p; import "fmt"; func f(x []int64) { fmt.Println(x) }`); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// forbidden lists what a file must not have, with its place.
func forbidden(t *testing.T, path string, src any) (found []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(n ast.Node, what string) { found = append(found, fset.Position(n.Pos()).String()+": "+what) }
	maps := mapNames(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if slices.Contains(maps, lastName(n.X)) {
				add(n, "walk over a map")
			}
		case *ast.ImportSpec:
			if name, _ := strconv.Unquote(n.Path.Value); slices.Contains(forbiddenImports, name) {
				add(n, "import of "+name)
			}
		case *ast.GoStmt:
			add(n, "go statement")
		case *ast.SelectStmt:
			add(n, "select statement")
		case *ast.ChanType, *ast.SendStmt:
			add(n, "channel")
		case *ast.MapType:
			add(n, "map")
		case *ast.BasicLit:
			if n.Kind == token.FLOAT || n.Kind == token.IMAG {
				add(n, "float")
			}
		case *ast.Ident:
			if n.Name == "float64" || n.Name == "float32" {
				add(n, "float")
			}
		}
		return true
	})
	return found
}

// mapNames lists the variables and fields of a file that are declared as maps.
func mapNames(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if _, ok := n.Type.(*ast.MapType); ok {
				for _, id := range n.Names {
					names = append(names, id.Name)
				}
			}
		case *ast.AssignStmt:
			for i, v := range n.Rhs {
				if hasMapType(v) && i < len(n.Lhs) {
					names = append(names, lastName(n.Lhs[i]))
				}
			}
		}
		return true
	})
	return names
}

// hasMapType reports whether an expression is a map literal or makes a map.
func hasMapType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit:
		_, ok := e.Type.(*ast.MapType)
		return ok
	case *ast.CallExpr:
		if len(e.Args) > 0 && lastName(e.Fun) == "make" {
			_, ok := e.Args[0].(*ast.MapType)
			return ok
		}
	}
	return false
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
