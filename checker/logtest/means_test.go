package logtest_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker/logtest"
)

// An odd log has as many nodes and partitions as it is told to.
type odd struct {
	memoryLog
	nodes, partitions int
}

func (l *odd) Nodes() int                  { return l.nodes }
func (l *odd) Partitions() int             { return l.partitions }
func (l *odd) Partition(n int) logtest.Log { return &memoryLog{} }

// TestNoLog demands a word on what no log can be.
func TestNoLog(t *testing.T) {
	of := func(nodes, partitions int) logtest.Driver {
		return play(func() logtest.Log { return &odd{nodes: nodes, partitions: partitions} })
	}
	declares := func(nodes, partitions int) logtest.Driver {
		return func(_ context.Context, run *logtest.Run) error {
			run.Declare(nodes, partitions)
			return nil
		}
	}
	for _, test := range []struct {
		drive logtest.Driver
		want  string
	}{
		{nil, "expected a Driver, which makes a log and calls Run.Play; found nil"},
		{play(func() logtest.Log { return nil }), "expected a log, found nil"},
		{of(0, 1), "expected a log of 1 to 1000 nodes, found 0"},
		{of(-2, 1), "expected a log of 1 to 1000 nodes, found -2"},
		{of(1<<40, 1), "expected a log of 1 to 1000 nodes, found 1099511627776"},
		{of(1, 0), "expected a log of 1 to 1000 partitions, found 0"},
		{of(1, 1<<40), "expected a log of 1 to 1000 partitions, found 1099511627776"},
		{declares(3, -1), "Run.Declare: expected a log of 1 to 1000 partitions, found -1"},
		{declares(1<<40, 1), "Run.Declare: expected a log of 1 to 1000 nodes, found 1099511627776"},
	} {
		if err := logtest.CheckLog(t.Context(), test.drive, logtest.Options{Runs: 1}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want %s", err, test.want)
		}
	}
}

// TestAbilitiesAreDocumented demands a comment, which go doc shows, on each type of
// log.go, and of each interface on the numbers it is given or gives.
func TestAbilitiesAreDocumented(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "log.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	types := 0
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, spec := range d.Specs {
			types++
			name := spec.(*ast.TypeSpec).Name.Name
			if d.Lparen.IsValid() || !strings.Contains(d.Doc.Text(), name) {
				t.Errorf("go doc shows no comment on %s", name)
			}
			methods, ok := spec.(*ast.TypeSpec).Type.(*ast.InterfaceType)
			for i := 0; ok && i < len(methods.Methods.List); i++ {
				if m := methods.Methods.List[i]; m.Doc.Text()+m.Comment.Text() == "" {
					t.Errorf("nothing is said of %s.%s", name, m.Names[0])
				}
			}
		}
	}
	if types < 10 {
		t.Errorf("there are %d types", types)
	}
}
