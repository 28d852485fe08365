package histories

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCorpusStatesVerdicts(t *testing.T) {
	all, err := Corpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range all {
		folder, _, _ := strings.Cut(h.Name(), "/")
		verdict := h.Header().Expect.Verdict
		if want := map[string]string{"ok": "passing", "unknown": "passing", "violation": "failing"}[verdict]; folder != want {
			t.Errorf("%s expects %q but lies in %s", h.Name(), verdict, folder)
		}
	}
}

func TestCorpusIsNotEmpty(t *testing.T) {
	if _, err := readAll(fstest.MapFS{"passing": {Mode: fs.ModeDir}}); err == nil {
		t.Error("an empty corpus is accepted")
	}
}
