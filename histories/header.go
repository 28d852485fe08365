package histories

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// headerWords begin the lines of a header, in the canonical order.
var headerWords = []string{"history", "config", "note", "expect", "schedule"}

// has reports whether the header has something to say under that word.
func (h *Header) has(word string) bool {
	switch word {
	case "history":
		return true
	case "config":
		return len(h.Config) > 0
	case "note":
		return h.Note != ""
	case "expect":
		return h.Expect.Verdict != ""
	case "schedule":
		return h.Schedule != ""
	}
	return false
}

// check returns what is wrong with a header, whoever made it.
func (h *Header) check() error {
	keys := make(map[string]bool, len(h.Config))
	for _, s := range h.Config {
		if err := s.check(); err != nil {
			return err
		}
		if keys[s.Key] {
			return fmt.Errorf("config key %s is stated twice", excerpt(s.Key))
		}
		keys[s.Key] = true
	}
	if err := h.Expect.check(); err != nil {
		return err
	}
	for _, text := range []struct{ what, text string }{{"note", h.Note}, {"schedule", h.Schedule}} {
		for line := range strings.SplitSeq(text.text, "\n") {
			if _, msg := unclean([]byte(line)); msg != "" {
				return fmt.Errorf("%s: %s", text.what, msg)
			}
			if text.what == "schedule" && strings.Trim(line, " \t") == "end" {
				return fmt.Errorf("a line %q inside the schedule would end it", "end")
			}
		}
	}
	for _, e := range h.layout {
		_, msg := unclean([]byte(e))
		if msg != "" || !isComment(e) && !slices.Contains(headerWords, e) {
			return fmt.Errorf("layout: expected a comment or one of %s, found %s", strings.Join(headerWords, ", "), excerpt(e))
		}
	}
	return nil
}

// arrange brings the layout into its one form: every word that has something
// to say once, "history" only if comments precede it, nil for the canonical
// order. It returns the comments after the last word: they belong to the items.
func (h *Header) arrange() (trailing []string) {
	var out []string
	placed := make(map[string]bool)
	place := func(word string) {
		if word != "history" && !placed["history"] {
			out, placed["history"] = slices.Insert(out, 0, "history"), true
		}
		if !placed[word] && h.has(word) {
			out, placed[word] = append(out, word), true
		}
	}
	for _, e := range h.layout {
		if isComment(e) {
			out = append(out, e)
		} else if h.has(e) {
			place(e)
		}
	}
	if !placed["history"] {
		out, placed["history"] = slices.Insert(out, 0, "history"), true
	}
	for _, word := range headerWords {
		place(word)
	}
	last := len(out)
	for isComment(out[last-1]) {
		last--
	}
	trailing, out = out[last:], out[:last]
	if out[0] == "history" {
		out = out[1:]
	}
	h.layout = slices.Clone(out)
	if !slices.ContainsFunc(out, isComment) && slices.IsSortedFunc(out, func(a, b string) int {
		return slices.Index(headerWords, a) - slices.Index(headerWords, b)
	}) {
		h.layout = nil
	}
	return trailing
}

// lines returns the header's words and comments in the order to print.
func (h *Header) lines() []string {
	switch {
	case h.layout == nil:
		return headerWords
	case slices.Contains(h.layout, "history"):
		return h.layout
	}
	return slices.Insert(slices.Clone(h.layout), 0, "history")
}

// isComment reports whether a whole line is a comment or blank.
func isComment(line string) bool {
	t := strings.TrimLeft(line, " \t")
	return t == "" || t[0] == '#'
}

// check returns what is wrong with one setting.
func (s Setting) check() error {
	if strings.HasPrefix(s.Key, "x-") {
		return cmp.Or(checkUTF8("config key", s.Key), checkUTF8("config value", s.Value))
	}
	name := s.Key
	if p, ok := strings.CutPrefix(name, isolationPrefix); ok {
		if err := CheckProcess(p); err != nil {
			return fmt.Errorf("config key %s: %w", excerpt(s.Key), err)
		}
		name = "isolation.level"
	}
	i := slices.IndexFunc(ConfigKeys, func(k ConfigKey) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("unknown config key %s; expected x-... or one of %s", excerpt(s.Key), configKeyNames())
	}
	switch k := ConfigKeys[i]; {
	case k.List:
		if _, bad, ok := parseAnomalies(s.Value); !ok {
			return fmt.Errorf("config %s: unknown anomaly %s", s.Key, excerpt(bad))
		}
	case k.Integer:
		n, err := strconv.ParseInt(s.Value, 10, 32)
		if err != nil || n < 1 || strconv.FormatInt(n, 10) != s.Value {
			return fmt.Errorf("config %s: expected an integer from 1 to 2147483647, found %s", s.Key, excerpt(s.Value))
		}
	case !slices.Contains(k.Values, s.Value):
		return fmt.Errorf("config %s: expected %s, found %s", excerpt(s.Key), strings.Join(k.Values, " or "), excerpt(s.Value))
	}
	return nil
}

func configKeyNames() string {
	var names []string
	for _, k := range ConfigKeys {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// parseExpect reads an expectation as the header writes it.
func parseExpect(text string) (Expect, error) {
	verdict, list, named := strings.Cut(text, " ")
	if verdict == "" {
		return Expect{}, errVerdict
	}
	e := Expect{Verdict: verdict}
	if named {
		for name := range strings.SplitSeq(list, ",") {
			e.Names = append(e.Names, strings.Trim(name, " \t"))
		}
	}
	return e, e.check()
}

var errVerdict = errors.New("expected ok, unknown or violation NAME[,NAME...]")

// check returns what is wrong with an expectation; none is fine.
func (e Expect) check() error {
	switch e.Verdict {
	case "", "ok", "unknown":
		if len(e.Names) > 0 {
			return fmt.Errorf("expect %s takes no names; only a violation has them", e.Verdict)
		}
	case "violation":
		if len(e.Names) == 0 {
			return fmt.Errorf("expected the name of an anomaly after \"violation\"")
		}
		for _, name := range e.Names {
			if !IsAnomaly(name) {
				return fmt.Errorf("unknown anomaly %s", excerpt(name))
			}
		}
	default:
		return errVerdict
	}
	return nil
}
