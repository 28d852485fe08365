package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVariablesAreKnown demands that every variable of the prefix that this
// project tells of means something. What tests read is their affair, unless it is
// set where the command runs: then it is one of elsewhere.
func TestVariablesAreKnown(t *testing.T) {
	cmd := exec.Command("git", "grep", "-hoE", prefix+"[A-Z][A-Z_]*", "--", ":!*_test.go", ":!cmd/check/testdata")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("no checkout of git: %v", err)
	}
	known := knownVariables((&app{}).root())
	names := strings.Fields(string(out))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(known, name) && !regexp.MustCompile(`_$`).MatchString(name) {
			t.Errorf("%s means nothing; add it to elsewhere, or correct it", name)
		}
	}
}
