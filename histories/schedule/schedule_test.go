package schedule

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const example = `set min.insync.replicas=2
set brokers=3
bug truncate-to-high-watermark
12 P1 send 1,2 acks=all
20 nemesis crash broker=1 for=40
20 C1 list latest
fingerprint 9c1f02ab55d01e77
`

func TestParse(t *testing.T) {
	want := Schedule{
		Settings: []Setting{{"min.insync.replicas", "2"}, {"brokers", "3"}},
		Bugs:     []string{"truncate-to-high-watermark"},
		Steps: []Step{
			{At: 12, Actor: "P1", Verb: "send", Words: []string{"1,2"}, Args: []Arg{{"acks", "all"}}},
			{At: 20, Actor: Nemesis, Verb: "crash", Args: []Arg{{"broker", "1"}, {"for", "40"}}},
			{At: 20, Actor: "C1", Verb: "list", Words: []string{"latest"}},
		},
		Fingerprint: "9c1f02ab55d01e77",
	}
	got := parse(t, example)
	if !got.Equal(want) {
		t.Errorf("Parse gives\n%swant\n%s", got, want)
	}
	if got.String() != example {
		t.Errorf("String gives\n%swant\n%s", got, example)
	}
	if line := got.Steps[1].Line; line != 5 {
		t.Errorf("the second step comes from line %d, want 5", line)
	}
}

func TestParseForgives(t *testing.T) {
	tests := []struct{ what, text, want string }{
		{"nothing", "", ""},
		{"comments and blank lines", "# why\n\n  # more\n1 A b\n", "1 A b\n"},
		{"spacing", " set \t k=v \n\t1  A   b  c\n", "set k=v\n1 A b c\n"},
		{"no last line break", "1 A b", "1 A b\n"},
		{"Windows", "\ufeffset k=v\r\n1 A b\r\n", "set k=v\n1 A b\n"},
		{"an equal sign in a value", "set k=a=b\n1 A b k=c=d\n", "set k=a=b\n1 A b k=c=d\n"},
		{"letters of any language", "1 Ämter größe 日本\n", "1 Ämter größe 日本\n"},
		{"steps out of order", "3 A x\n1 A y\n3 A w\n1 A z\n", "1 A y\n1 A z\n3 A x\n3 A w\n"},
		{"the largest time", "9223372036854775807 A b\n", "9223372036854775807 A b\n"},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			if got := parse(t, test.text).String(); got != test.want {
				t.Errorf("%q reads as\n%swant\n%s", test.text, got, test.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"garbage", `f:1:1: expected a time in milliseconds, "set", "bug" or "fingerprint", found "garbage"`},
		{"-1 A b", `f:1:1: expected a time in milliseconds, "set", "bug" or "fingerprint", found "-1"`},
		{"1 A b\n9223372036854775808 A b", `f:2:1: expected a time in milliseconds, "set", "bug" or "fingerprint", found "9223372036854775808"`},
		{"12", "f:1:3: expected an actor after the time"},
		{"12 P1 ", "f:1:6: expected a verb after the actor"},
		{"12 k=v b", `f:1:4: expected an actor after the time, found "k=v"`},
		{"12 P1 k=v", `f:1:7: expected a verb after the actor, found "k=v"`},
		{"12 P1 send =1", `f:1:12: expected key=value, found "=1"`},
		{"12 P1 send acks=", `f:1:12: expected key=value, found "acks="`},
		{"12 P1 send acks=1 5", `f:1:19: expected key=value after the first key=value, found "5"`},
		{"12 P1 send a=1 a=1", `f:1:16: expected each argument once, "a" was given before`},
		{"set", `f:1:4: expected key=value after "set"`},
		{"set k", `f:1:5: expected key=value, found "k"`},
		{"set k=v x=y", `f:1:9: expected the end of the line, found "x=y"`},
		{"set k=v\nset k=w", `f:2:5: expected each setting once, "k" was set before`},
		{"1 A b\nset k=v", "f:2:1: expected settings and bugs before the first step"},
		{"bug", `f:1:4: expected the name of a bug after "bug"`},
		{"bug a\nbug a", `f:2:5: expected each bug once, "a" was named before`},
		{"1 A b\nbug a", "f:2:1: expected settings and bugs before the first step"},
		{"fingerprint", `f:1:12: expected 16 hexadecimal digits in lower case after "fingerprint"`},
		{"fingerprint 123", `f:1:13: expected 16 hexadecimal digits in lower case, found "123"`},
		{"fingerprint 0123456789ABCDEF", `f:1:13: expected 16 hexadecimal digits in lower case, found "0123456789ABCDEF"`},
		{"fingerprint 0123456789abcdef\n# fine\n1 A b", `f:3:1: expected nothing after the fingerprint, found "1"`},
		{"fingerprint 0123456789abcdef\nfingerprint 0123456789abcdef", `f:2:1: expected nothing after the fingerprint, found "fingerprint"`},
		{"1 A b\n2 A \xff", "f:2:5: expected UTF-8 text without NUL bytes"},
		{"1 A b\n# \x00", "f:2:3: expected UTF-8 text without NUL bytes"},
		{"1 A b c\x1b[2J", `f:1:8: expected printable text, found "\x1b[2J"`},
		{"1 A b\rc", `f:1:6: expected printable text, found "\rc"`},
		{strings.Repeat("é", 1000), `f:1:1: expected a time in milliseconds, "set", "bug" or "fingerprint", found "` + strings.Repeat("é", 60) + `"...`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			s, err := Parse("f", []byte(test.text))
			if err == nil {
				t.Fatalf("%q reads as\n%s", test.text, s)
			}
			if err.Error() != test.want {
				t.Errorf("%q gives\n%v\nwant\n%s", test.text, err, test.want)
			}
		})
	}
}

func TestAppendTextRefuses(t *testing.T) {
	step := Step{At: 1, Actor: "A", Verb: "b"}
	with := func(change func(*Step)) Schedule {
		s := step
		change(&s)
		return Schedule{Steps: []Step{s}}
	}
	tests := map[string]Schedule{
		"a blank in a word":     with(func(s *Step) { s.Words = []string{"a b"} }),
		"an empty word":         with(func(s *Step) { s.Words = []string{""} }),
		"a word like an arg":    with(func(s *Step) { s.Words = []string{"k=v"} }),
		"a key with an equal":   with(func(s *Step) { s.Args = []Arg{{"a=b", "c"}} }),
		"an argument twice":     with(func(s *Step) { s.Args = []Arg{{"a", "b"}, {"a", "c"}} }),
		"a negative time":       with(func(s *Step) { s.At = -1 }),
		"no verb":               with(func(s *Step) { s.Verb = "" }),
		"no actor":              with(func(s *Step) { s.Actor = "" }),
		"invalid UTF-8":         with(func(s *Step) { s.Actor = "\xff" }),
		"steps out of order":    {Steps: []Step{{At: 2, Actor: "A", Verb: "b"}, step}},
		"a setting twice":       {Settings: []Setting{{"a", "b"}, {"a", "b"}}},
		"a bug with a line":     {Bugs: []string{"a\nset b=c"}},
		"a fingerprint too few": {Fingerprint: "abc"},
	}
	for what, s := range tests {
		t.Run(what, func(t *testing.T) {
			if b, err := s.AppendText([]byte("before")); err == nil || string(b) != "before" {
				t.Errorf("AppendText gives %q, %v; want an error and what was there before", b, err)
			}
		})
	}
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedules.Draw(t, "schedule")
		text, err := s.AppendText([]byte("before\n"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse("f", []byte(strings.TrimPrefix(string(text), "before\n")))
		if err != nil {
			t.Fatal(err)
		}
		if !back.Equal(s) {
			t.Fatalf("reads back as\n%s", back)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("# c\n1 A b\r\n0 A b k=v\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f", text)
		if err != nil {
			return
		}
		if _, err := s.AppendText(nil); err != nil {
			t.Error(err)
		}
	})
}

// schedules draws any schedule that has a text.
var schedules = rapid.Custom(func(t *rapid.T) Schedule {
	word := rapid.StringMatching(`[a-zA-Z0-9.,:#é日-]{1,6}`)
	value := rapid.StringMatching(`[a-z0-9.,=#é日-]{1,6}`)
	s := Schedule{
		Bugs: rapid.SliceOfNDistinct(word, 0, 3, rapid.ID).Draw(t, "bugs"),
		Steps: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step {
			step := Step{
				At:    rapid.Int64Min(0).Draw(t, "at"),
				Actor: word.Draw(t, "actor"),
				Verb:  word.Draw(t, "verb"),
				Words: rapid.SliceOfN(word, 0, 3).Draw(t, "words"),
			}
			for _, key := range rapid.SliceOfNDistinct(word, 0, 3, rapid.ID).Draw(t, "keys") {
				step.Args = append(step.Args, Arg{key, value.Draw(t, key)})
			}
			return step
		}), 0, 8).Draw(t, "steps"),
		Fingerprint: rapid.StringMatching(`([0-9a-f]{16})?`).Draw(t, "fingerprint"),
	}
	slices.SortFunc(s.Steps, func(a, b Step) int { return int(min(max(a.At-b.At, -1), 1)) })
	for _, key := range rapid.SliceOfNDistinct(word, 0, 3, rapid.ID).Draw(t, "settings") {
		s.Settings = append(s.Settings, Setting{key, value.Draw(t, key)})
	}
	return s
})

func parse(t *testing.T, text string) Schedule {
	t.Helper()
	s, err := Parse("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
