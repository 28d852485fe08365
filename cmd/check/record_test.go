package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isrcheck/isrcheck/histories"
)

// TestInterruptedRecording interrupts a recording that would go on for an hour:
// the partitions are read all the same. A second interrupt ends it at once, and
// what is there by then can be read.
func TestInterruptedRecording(t *testing.T) {
	brokers := startBrokers(t)
	for _, twice := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "run.jsonl.zst")
		var out strings.Builder
		cmd := checkCommand(t, "record", "--bootstrap", brokers, "--duration", "1h", "-o", path)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			if info, err := os.Stat(path); err == nil && info.Size() > 10_000 {
				break
			} else if time.Since(begun) > time.Minute {
				t.Fatal("nothing is recorded")
			}
		}
		cmd.Process.Signal(os.Interrupt)
		if twice {
			time.Sleep(time.Millisecond)
			cmd.Process.Signal(os.Interrupt)
		}
		err := cmd.Wait()
		h, reading := histories.ReadFile(path)
		if reading != nil {
			t.Fatalf("twice %v: %v\n%s", twice, reading, &out)
		}
		scans := 0
		for _, o := range h.Ops() {
			if o.Kind == histories.Scan && o.Outcome == histories.OK {
				scans++
			}
		}
		if !twice && (err != nil || scans != 1 || !strings.Contains(out.String(), "1 of 1 partition read to the end")) {
			t.Errorf("%v, %d scans\n%s", err, scans, &out)
		}
	}
}
