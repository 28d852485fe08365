package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// yamlFile reads the documents of a YAML file.
func yamlFile(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var documents []map[string]any
	for decoder := yaml.NewDecoder(f); ; {
		var document map[string]any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return documents
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		documents = append(documents, document)
	}
}

// at follows keys and indexes into a document.
func at(t *testing.T, document any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch node := document.(type) {
		case map[string]any:
			document = node[step.(string)]
		case []any:
			document = node[step.(int)]
		}
		if document == nil {
			t.Fatalf("there is no %v", path)
		}
	}
	return document
}

const (
	kubernetesFile = "../../deploy/kubernetes.yaml"
	gitlabFile     = "../../deploy/gitlab-ci.yml"
	slurmFile      = "../../deploy/slurm.sh"
	actionFile     = "../../.github/actions/isrcheck/action.yml"
	workflowFile   = "../../.github/workflows/gate.yml"
)

// checkInPath is a folder in which check is this program.
func checkInPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(self, filepath.Join(folder, "check")); err != nil {
		t.Fatal(err)
	}
	return folder
}

var times = regexp.MustCompile(`(?m)^ *"(ms": \d+|page": ".*"),?\n`)

// timeless is a report without what differs from machine to machine, and without
// the pages that only some write.
func timeless(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAllString(string(text), "")
}

// smallGate is a gate that is soon over and red in two ways.
func smallGate(t *testing.T) []string {
	corpus := t.TempDir()
	addProblems(t, corpus)
	return []string{"--runs", "60", "--bound", "1", "--budget", "10m", "--corpus", corpus}
}

// TestShardsAreTheWhole runs the shards of a gate side by side, in each way they
// are started, and puts their reports together: byte for byte that of one gate
// alone, but for the times.
func TestShardsAreTheWhole(t *testing.T) {
	bin, gate := checkInPath(t), smallGate(t)
	var pod []string
	for _, word := range at(t, yamlFile(t, kubernetesFile)[1], "spec", "template", "spec", "containers", 0, "command").([]any) {
		pod = append(pod, word.(string))
	}
	job := at(t, yamlFile(t, gitlabFile)[0], "isrcheck", "script", 0).(string)
	slurm, err := filepath.Abs(slurmFile)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "alone.json")
	if got := exitCode(t, checkCommand(t, append([]string{"gate", "--json", alone}, gate...)...)); got != exitViolation {
		t.Fatalf("exit code of the gate %d, want %d", got, exitViolation)
	}
	want := timeless(t, alone)
	if !strings.Contains(want, `"complete": true`) || strings.Count(want, `"verdict": "stale"`) != 2 {
		t.Fatalf("the report is not that of the gate:\n%s", want)
	}
	const shards = 4
	for _, start := range []struct {
		by      string
		command []string // before the flags of the gate
		index   string   // variable that says which shard
		first   int      // its value for the first
		env     string
	}{
		{"GitLab", []string{"bash", "-c", job + ` "$@"`, "job"}, "CI_NODE_INDEX", 1, "CI_NODE_TOTAL=4"},
		{"Kubernetes", pod, "JOB_COMPLETION_INDEX", 0, "SHARDS=4"},
		{"Slurm", []string{slurm}, "SLURM_ARRAY_TASK_ID", 1, "SLURM_ARRAY_TASK_COUNT=4"},
	} {
		t.Run(start.by, func(t *testing.T) {
			folder := t.TempDir()
			var wg sync.WaitGroup
			for i := range shards {
				args := append(slices.Clone(start.command), gate...)
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = folder
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), start.env, start.index+"="+strconv.Itoa(start.first+i))
				wg.Go(func() { cmd.Run() }) // their exit codes are in their reports
			}
			wg.Wait()
			compareMerged(t, folder, want)
		})
	}
}

// compareMerged puts the reports in a folder together.
func compareMerged(t *testing.T, folder, want string) {
	t.Helper()
	reports, err := filepath.Glob(filepath.Join(folder, "gate-*.json"))
	if err != nil || len(reports) != 4 {
		t.Fatalf("there are %d reports, %v", len(reports), err)
	}
	slices.Reverse(reports) // the order is of no meaning
	merged := filepath.Join(folder, "merged.json")
	if got := exitCode(t, checkCommand(t, append([]string{"merge", "--json", merged}, reports...)...)); got != exitViolation {
		t.Errorf("exit code of merge %d, want %d", got, exitViolation)
	}
	if got := timeless(t, merged); got != want {
		t.Errorf("the shards together reported\n%s\none alone reported\n%s", got, want)
	}
}

// TestSlurm submits the array job, where there is a cluster; .ci/slurm makes one
// of this host.
func TestSlurm(t *testing.T) {
	if out, err := exec.Command("sinfo").CombinedOutput(); err != nil {
		t.Skipf("there is no Slurm: %v %s", err, out)
	}
	gate, folder := smallGate(t), t.TempDir()
	alone := filepath.Join(folder, "alone.json")
	exitCode(t, checkCommand(t, append([]string{"gate", "--json", alone}, gate...)...))
	cmd := exec.Command("sbatch", append([]string{"--wait", "--chdir", folder, slurmFile}, gate...)...)
	cmd.Env = append(os.Environ(), "PATH="+checkInPath(t)+":"+os.Getenv("PATH"))
	if got := exitCode(t, cmd); got != exitViolation {
		t.Errorf("exit code of the array job %d, want %d", got, exitViolation)
	}
	compareMerged(t, folder, timeless(t, alone))
}

// TestAction runs the step of the composite action with a check that prints what
// it is asked for.
func TestAction(t *testing.T) {
	action := yamlFile(t, actionFile)[0]
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "check"), []byte("#!/bin/sh\nprintf '<%s>' \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	steps := at(t, action, "runs", "steps").([]any)
	gate := steps[len(steps)-1]
	for _, test := range []struct {
		inputs map[string]string
		want   string
	}{
		{nil, "<gate><--budget><2m><--seed><1><--shard><1/1><--unknown><fail><--json><isrcheck.json><--junit><isrcheck.xml><--html><isrcheck-pages>"},
		{map[string]string{"CORPUS": "a b\n\n$(exit)\n", "RUNS": "7", "BASELINE": "known.txt", "SHARD": "2/3"},
			"<gate><--budget><2m><--seed><1><--shard><2/3><--unknown><fail><--json><isrcheck.json><--junit><isrcheck.xml><--html><isrcheck-pages>" +
				"<--corpus></action/../../../histories/corpus><--corpus><a b><--corpus><$(exit)><--runs><7><--baseline><known.txt>"},
	} {
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", at(t, gate, "run").(string))
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_ACTION_PATH=/action")
		for name := range at(t, gate, "env").(map[string]any) {
			value, ok := test.inputs[name]
			if !ok {
				value = at(t, action, "inputs", strings.ToLower(name), "default").(string)
			}
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != test.want {
			t.Errorf("with %v the action calls check%s, want %s; %v", test.inputs, out, test.want, err)
		}
	}
}

// TestWorkflow demands of this project's workflow that it does all shards and
// merges them whatever became of them.
func TestWorkflow(t *testing.T) {
	jobs := at(t, yamlFile(t, workflowFile)[0], "jobs")
	if shards := at(t, jobs, "shard", "strategy", "matrix", "shard").([]any); len(shards) != 4 {
		t.Errorf("the matrix has %d shards, want 4", len(shards))
	}
	if needs, always := at(t, jobs, "merge", "needs"), at(t, jobs, "merge", "if"); needs != "shard" || always != "always()" {
		t.Errorf("the job that merges needs %v, if %v", needs, always)
	}
	for _, step := range at(t, jobs, "shard", "steps").([]any) {
		if inputs, ok := step.(map[string]any)["with"].(map[string]any); ok && inputs["shard"] != nil && inputs["shard"] != "${{ matrix.shard }}/4" {
			t.Errorf("a shard of the matrix is %v", inputs["shard"])
		}
	}
}
