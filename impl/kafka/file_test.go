package kafka

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// TestMain lets this program be the recorder that a test kills.
func TestMain(m *testing.M) {
	path, brokers := os.Getenv("ISRCHECK_TEST_RECORD"), os.Getenv("ISRCHECK_TEST_BROKERS")
	if path == "" {
		os.Exit(m.Run())
	}
	duration, err := time.ParseDuration(os.Getenv("ISRCHECK_TEST_DURATION"))
	if err != nil {
		panic(err)
	}
	f, err := Create(path, false)
	if err != nil {
		panic(err)
	}
	if _, err := Record(context.Background(), Config{Sides: [][]string{{brokers}}, Partitions: 2, Duration: duration, Out: f}); err != nil {
		panic(err)
	}
}

// TestKilled kills recorders in the middle, and judges what they leave behind.
func TestKilled(t *testing.T) {
	t.Parallel()
	times := 1
	if os.Getenv("ISRCHECK_KILLS") != "" {
		times = 8
	}
	cluster := newCluster(t, kfake.NumBrokers(1))
	for i := range times {
		duration := []string{"1h", "250ms"}[i%2] // so that some are killed while they scan
		for _, end := range FileNames {
			path := filepath.Join(t.TempDir(), "run"+end)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ISRCHECK_TEST_RECORD="+path, "ISRCHECK_TEST_BROKERS="+cluster.ListenAddrs()[0], "ISRCHECK_TEST_DURATION="+duration)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				if info, err := os.Stat(path); err == nil && info.Size() > 0 {
					break
				} else if time.Since(begun) > time.Minute {
					t.Fatal("nothing is recorded")
				}
			}
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			cmd.Wait()
			h, err := histories.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if r := checker.Check(t.Context(), h, checker.Options{}); len(r.Findings) > 0 {
				t.Errorf("%s: %v", path, r.Err())
			}
			t.Logf("%s: %d operations", filepath.Base(path), len(h.Ops()))
		}
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, end := range FileNames {
		path := filepath.Join(dir, "run"+end)
		for range 2 { // the second replaces the first
			f, err := Create(path, true)
			if err != nil {
				t.Fatal(err)
			}
			if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
				t.Errorf("hidden files wait for the first lines: %v, %v", left, err)
			}
			rec, err := histories.NewRecorder(f, histories.Header{Note: "n"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				op := histories.NewOp("C1", histories.Scan)
				rec.Complete(rec.Invoke(op), histories.Op{Outcome: histories.OK, HW: histories.None, LSO: histories.None, Start: histories.None, Offset: histories.None, End: 0})
				time.Sleep(FlushEvery)
			}
			want, err := rec.Close()
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			got, err := histories.ReadFile(path)
			if err != nil || !histories.Equal(got, want) {
				t.Errorf("%s does not hold what was recorded: %v", path, err)
			}
		}
		if _, err := Create(path, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a file that exists: %v", err)
		}
	}
	for name, want := range map[string]error{"run.jsonl": nil, "new.jsonl": fs.ErrNotExist} { // nothing is written
		f, err := Create(filepath.Join(dir, name), true)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := histories.ReadFile(filepath.Join(dir, name)); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("hidden files are left: %v, %v", left, err)
	}
	folder := filepath.Join(dir, "folder.jsonl")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(folder, true); err == nil || !strings.Contains(err.Error(), "folder.jsonl is a folder: expected a name") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "run.hist"), false); !errors.Is(err, ErrFileName) {
		t.Errorf("a notation: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "nowhere", "run.jsonl"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestUnwritten records an hour into a file that is removed: the recording ends at
// once, without a look at the cluster, and says why.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, kfake.NumBrokers(1))
	for name, spoil := range map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return cmp.Or(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		out, err := Create(path, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		spoilt := false
		_, err = Record(ctx, Config{Sides: [][]string{cluster.ListenAddrs()}, Duration: time.Hour, Rate: 100, Out: writer(func(lines []byte) (int, error) {
			if _, err := os.Stat(path); err == nil && !spoilt {
				spoilt = true
				if err := spoil(path); err != nil {
					t.Error(err)
				}
			}
			return out.Write(lines)
		}), Say: func(phase string) {
			if strings.HasPrefix(phase, "reading") {
				t.Errorf("%s: %s", name, phase)
			}
		}})
		want := path + ": the file was removed or replaced while it was written"
		if closing := out.Close(); ctx.Err() != nil || err == nil || err.Error() != want || closing == nil || closing.Error() != want {
			t.Errorf("%s: %v; closing: %v", name, err, closing)
		}
		cancel()
	}
}

// A writer is a function that takes whole lines.
type writer func(lines []byte) (int, error)

func (w writer) Write(lines []byte) (int, error) { return w(lines) }
