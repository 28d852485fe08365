package hunt

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

const failingFolder = "../../../../histories/corpus/failing"

// TestCorpusReplays runs the schedule of every case of the corpus that has one:
// the history, the verdict and the fingerprint are those that were saved. With
// -update the cases of seeded bugs are written first: the saved schedule's new
// run if it still fails, else what a hunt finds. Of other cases a new fingerprint
// is written if that is all that is new.
func TestCorpusReplays(t *testing.T) {
	if *update {
		for i := range impl.Bugs {
			saveCase(t, &impl.Bugs[i])
		}
	}
	if testing.Short() {
		t.Skip("it runs every case again")
	}
	for _, folder := range []string{failingFolder, filepath.Join(failingFolder, "../passing")} {
		files, err := filepath.Glob(folder + "/*.hist")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d cases in %s, %v", len(files), folder, err)
		}
		for _, file := range files {
			replayCase(t, file)
		}
	}
}

func replayCase(t *testing.T, file string) {
	t.Helper()
	saved := readCase(t, file)
	if saved == nil || saved.Header().Schedule == "" {
		return
	}
	r, err := Setup{}.Replay(context.Background(), saved)
	switch {
	case err != nil:
		t.Errorf("%s: %v", file, err)
	case *update && r.Wrong == "" && histories.Difference(saved, r.Trial.History) == "":
		s, _ := ReadCause(saved)
		text := bytes.ReplaceAll(readFile(t, file), []byte(s.Fingerprint), []byte(r.Trial.Run.Fingerprint))
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Error(err)
		}
	case r.Stale != "" || r.Wrong != "":
		t.Errorf("%s: %s %s", file, r.Stale, r.Wrong)
	}
}

// TestEveryBugHasACase demands a case of each seeded bug, and no case of a bug
// that does not exist.
func TestEveryBugHasACase(t *testing.T) {
	var names []string
	for _, b := range impl.Bugs {
		names = append(names, caseOf(b.Name))
		h := readCase(t, caseOf(b.Name))
		if h == nil {
			t.Errorf("there is no case of %s", b.Name)
			continue
		}
		if s, err := ReadCause(h); err != nil || !slices.Equal(s.Bugs, []string{b.Name}) || s.Fingerprint == "" {
			t.Errorf("%s: its schedule has the bugs %v and the fingerprint %q, %v", caseOf(b.Name), s.Bugs, s.Fingerprint, err)
		}
	}
	files, err := filepath.Glob(failingFolder + "/bug-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(names, file) {
			t.Errorf("%s is the case of no bug", file)
		}
	}
}

func caseOf(bug string) string { return filepath.Join(failingFolder, "bug-"+bug+".hist") }

// readCase reads a case, or returns nil if there is none.
func readCase(t *testing.T, file string) *histories.History {
	t.Helper()
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return nil
	}
	h, err := histories.Parse(file, readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// saveCase writes the case of a bug.
func saveCase(t *testing.T, b *impl.Bug) {
	t.Helper()
	trial := savedAgain(t, b)
	if trial == nil {
		trial = found(t, b)
	}
	h, err := trial.Case()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(caseOf(b.Name), h.AppendNotation(nil), 0o644); err != nil {
		t.Fatal(err)
	}
}

// savedAgain runs the schedule of the saved case, or returns nil if that does
// not show the bug (any more).
func savedAgain(t *testing.T, b *impl.Bug) *Trial {
	saved := readCase(t, caseOf(b.Name))
	if saved == nil {
		return nil
	}
	s, err := ReadCause(saved)
	if err != nil {
		return nil
	}
	ctx := context.Background()
	trial, err := Setup{}.Try(ctx, s)
	if err != nil || !slices.ContainsFunc(rulesOf(b.Name), trial.Has) || !(Setup{}).isFine(ctx, cured(s)) {
		return nil
	}
	return trial
}

// found hunts a bug and returns the minimized trial.
func found(t *testing.T, b *impl.Bug) *Trial {
	t.Helper()
	ctx := context.Background()
	r, err := Run(ctx, Options{Runs: 20_000, Seed: 1, Bug: b.Name})
	if err != nil || r.Failed == nil {
		t.Fatalf("%s is not found, %v", b.Name, err)
	}
	small, _, err := Setup{}.Minimize(ctx, r.Failed, 3000)
	if err != nil {
		t.Fatal(err)
	}
	return small
}
