package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write docs/json.md and docs/schema.json anew")

// objects are the types of the JSON of each command. A gate's is in a file.
var objects = map[string]any{
	"bugs": jsonBugs{}, "convert": jsonConverted{}, "demo": jsonDemo{}, "explain": jsonExplanation{}, "gate": gateReport{}, "import": jsonImported{}, "live": jsonLive{},
	"man": jsonMan{}, "matrix": jsonMatrix{}, "merge": gateReport{}, "minimize": jsonMinimized{}, "record": jsonRecording{}, "replay": jsonReplay{},
	"report": jsonReport{}, "run": jsonHunt{}, "scenario": jsonScenario{}, "verify": jsonJudgement{}, "version": jsonBuild{},
}

const (
	schemaFile = "../../docs/schema.json"
	schemaID   = "https://github.com/isrcheck/isrcheck/blob/main/docs/schema.json"
)

// TestSchema keeps the schema and its page those of the types.
func TestSchema(t *testing.T) {
	structs := structsOf(t)
	named := map[string]string{}
	for _, name := range reachable(structs) {
		if other, ok := named[typeName(name)]; ok {
			t.Errorf("%s and %s have the same name in the schema", name, other)
		}
		named[typeName(name)] = name
	}
	for file, want := range map[string]string{schemaFile: schemaOf(structs), "../../docs/json.md": pageOf(structs)} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is not what the types say; go test ./cmd/check -run TestSchema -update writes it anew (%v)", file, err)
		}
	}
}

// TestEveryCommandHasJSON demands the flag of each command, a schema, and a
// script in which what is printed is held against it.
func TestEveryCommandHasJSON(t *testing.T) {
	var scripts []byte
	files, _ := filepath.Glob("testdata/script/*.txtar")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, text...)
	}
	root := (&app{}).root()
	for _, cmd := range root.Commands() {
		if !cmd.Runnable() {
			continue
		}
		if cmd.Flags().Lookup("json") == nil || objects[cmd.Name()] == nil {
			t.Errorf("%s has no --json, or no schema", cmd.Name())
		}
		if !regexp.MustCompile(`(?m)^exits [0134] check ` + cmd.Name() + ` .*--json`).Match(scripts) {
			t.Errorf("no script prints the JSON of %s", cmd.Name())
		}
	}
}

// A field is one of a JSON object.
type field struct {
	name, says string
	kind       ast.Expr
	optional   bool
}

// structsOf are the fields of the structs of this package that are JSON, by the
// name of the type.
func structsOf(t *testing.T) map[string][]field {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string][]field{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				structs[spec.Name.Name] = fieldsOf(s)
			}
			return false
		})
	}
	return structs
}

func fieldsOf(s *ast.StructType) []field {
	var fields []field
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		says := strings.Join(strings.Fields(f.Comment.Text()+" "+f.Doc.Text()), " ")
		fields = append(fields, field{name, says, f.Type, options == "omitempty"})
	}
	return fields
}

// typeName is what a type is called in the schema.
func typeName(goName string) string {
	words := regexp.MustCompile(`[A-Z][a-z]+|^[a-z]+`).FindAllString(strings.TrimPrefix(goName, "json"), -1)
	return strings.ToLower(strings.Join(words, "-"))
}

// object keeps the order of its keys, as a map does not.
type object []member

type member struct {
	key   string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		key, _ := json.Marshal(m.key)
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%s:%s", map[bool]string{true: "{", false: ","}[i == 0], key, value)
	}
	return append(b.Bytes(), '}'), nil
}

// schemaOf describes the JSON of each command as JSON Schema.
func schemaOf(structs map[string][]field) string {
	defs := object{}
	for _, command := range commands() {
		ref := object{{"$ref", "#/$defs/type-" + typeName(reflect.TypeOf(objects[command]).Name())}}
		ref = append(ref, member{"properties", object{{"version", object{{"const", jsonVersion}}}}}, member{"required", []string{"version"}})
		defs = append(defs, member{command, ref})
	}
	for _, name := range reachable(structs) {
		properties, required := object{}, []string{}
		for _, f := range structs[name] {
			kind := kindOf(f.kind)
			if f.says != "" {
				kind = append(kind, member{"description", f.says})
			}
			properties = append(properties, member{f.name, kind})
			if !f.optional {
				required = append(required, f.name)
			}
		}
		defs = append(defs, member{"type-" + typeName(name), object{{"type", "object"}, {"properties", properties}, {"required", required}}})
	}
	text, err := json.MarshalIndent(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", schemaID},
		{"title", fmt.Sprintf("What check prints with --json, version %d", jsonVersion)},
		{"$defs", defs},
	}, "", "  ")
	if err != nil {
		panic(err) // names and texts always encode
	}
	return string(text) + "\n"
}

// kindOf is a Go type as a schema.
func kindOf(e ast.Expr) object {
	switch e := e.(type) {
	case *ast.StarExpr:
		return kindOf(e.X)
	case *ast.ArrayType:
		return object{{"type", "array"}, {"items", kindOf(e.Elt)}}
	case *ast.MapType:
		return object{{"type", "object"}, {"additionalProperties", kindOf(e.Value)}}
	}
	switch name := e.(*ast.Ident).Name; name {
	case "string":
		return object{{"type", "string"}}
	case "bool":
		return object{{"type", "boolean"}}
	case "int", "int64", "uint64":
		return object{{"type", "integer"}}
	default:
		return object{{"$ref", "#/$defs/type-" + typeName(name)}}
	}
}

// commands are those with JSON, in order.
func commands() []string {
	var names []string
	for name := range objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// reachable are the structs that the JSON of some command has, in the order in
// which they are met.
func reachable(structs map[string][]field) []string {
	var names []string
	var visit func(e ast.Expr)
	add := func(name string) {
		if fields, ok := structs[name]; ok && !slices.Contains(names, name) {
			names = append(names, name)
			for _, f := range fields {
				visit(f.kind)
			}
		}
	}
	visit = func(e ast.Expr) {
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				add(id.Name)
			}
			return true
		})
	}
	for _, command := range commands() {
		add(reflect.TypeOf(objects[command]).Name())
	}
	return names
}

const pageHead = `# JSON

Every command has ` + "`--json`" + `, but for ` + "`help`" + ` and ` + "`completion`" + `, which print text for people and for shells. It prints one object, on one line of stdout; ` + "`verify`" + ` prints one for each file, and
` + "`gate`" + ` and ` + "`merge`" + ` write theirs, indented, to the file that the flag names (what it means is in [gate.md](gate.md)).
Errors are on stderr all the same, and the exit codes do not change. Wrong usage and, except with ` + "`verify`" + `, an input
that cannot be read print no object.

Every object has ` + "`version`" + `, which is 1. It changes when a field changes its meaning or goes away; fields may be added
without, so readers should skip those they don't know. A field that is optional is absent when it has nothing to say;
lists that are not optional may be empty and are never null.

[schema.json](schema.json) says the same as JSON Schema: ` + "`#/$defs/verify`" + ` is the object that ` + "`check verify --json`" + `
prints. Both files are derived from the program (` + "`go test ./cmd/check -run TestSchema -update`" + `), and what its tests
print is held against them.

| command | object |
|---|---|
`

// pageOf describes the same for people.
func pageOf(structs map[string][]field) string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, command := range commands() {
		shown := "check " + command + " --json"
		switch command {
		case "gate", "merge":
			shown += " FILE"
		case "scenario":
			shown = "check replay --json"
			command += " (of a scenario)"
		}
		name, _, _ := strings.Cut(command, " ")
		kind := typeName(reflect.TypeOf(objects[name]).Name())
		fmt.Fprintf(&b, "| `%s`%s | [%s](#%s) |\n", shown, strings.TrimPrefix(command, name), kind, kind)
	}
	for _, name := range reachable(structs) {
		fmt.Fprintf(&b, "\n## %s\n\n| field | type | |\n|---|---|---|\n", typeName(name))
		for _, f := range structs[name] {
			kind := wordsOf(f.kind)
			if f.optional {
				kind += ", optional"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, kind, strings.ReplaceAll(f.says, "|", "\\|"))
		}
	}
	return b.String()
}

// wordsOf is a Go type in words.
func wordsOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return wordsOf(e.X)
	case *ast.ArrayType:
		return "list of " + wordsOf(e.Elt)
	case *ast.MapType:
		return wordsOf(e.Value) + " by name"
	}
	switch name := e.(*ast.Ident).Name; name {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "int", "int64", "uint64":
		return "integer"
	default:
		return fmt.Sprintf("[%s](#%[1]s)", typeName(name))
	}
}

// validate holds what a command printed against its schema.
func validate(ts *testscript.TestScript, args []string) {
	i := slices.IndexFunc(args, func(arg string) bool { return arg == "--json" })
	if args[0] != "check" || i < 0 {
		return
	}
	command, text := args[1], ts.ReadFile("stdout")
	switch {
	case command == "gate" || command == "merge":
		file, err := os.ReadFile(ts.MkAbs(args[i+1]))
		if err != nil {
			return // it could not be written, as the script knows
		}
		text = string(file)
	case command == "replay" && strings.Contains(text, `"parts":[`):
		command = "scenario"
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var raw json.RawMessage
		ts.Check(decoder.Decode(&raw))
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		ts.Check(err)
		schema, err := compiler(ts).Compile(schemaID + "#/$defs/" + command)
		ts.Check(err)
		if err := schema.Validate(value); err != nil {
			ts.Fatalf("what check %s printed is not what its schema says: %v", command, err)
		}
	}
}

// compiler knows the schema of the documentation.
func compiler(ts *testscript.TestScript) *jsonschema.Compiler {
	text, err := os.ReadFile(schemaFile)
	ts.Check(err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource(schemaID, schema))
	return c
}
