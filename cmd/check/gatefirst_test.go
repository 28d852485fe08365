//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFirstReport stops a gate before its work, in reading its baseline from a pipe
// that has none yet: the report of an earlier gate is gone by then.
func TestFirstReport(t *testing.T) {
	report := filepath.Join(t.TempDir(), "gate.json")
	greenReport(t, report)
	pipe := filepath.Join(t.TempDir(), "baseline")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	cmd := checkCommand(t, "gate", "--baseline", pipe, "--json", report)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	baseline, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the gate reads it
	if err != nil {
		t.Fatal(err)
	}
	r := readReportFile(t, report)
	cmd.Process.Kill()
	cmd.Wait()
	baseline.Close()
	if r.Complete || r.Verdict != "unknown" || r.Exit != exitUnknown || r.Build == "" {
		t.Errorf("before its work the gate leaves a report that is %s, complete %v, of build %q", r.Verdict, r.Complete, r.Build)
	}
}
