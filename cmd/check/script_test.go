package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestMain(m *testing.M) {
	testscript.Main(unmoved{m}, map[string]func(){"check": main})
}

// unmoved are tests of commands that nothing in the environment has set.
type unmoved struct{ testscript.TestingM }

func (p unmoved) Run() int {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, prefix) && !slices.Contains(elsewhere, name) {
			os.Unsetenv(name)
		}
	}
	return p.TestingM.Run()
}

func TestScripts(t *testing.T) {
	brokers := sync.OnceValue(func() string { return startBrokers(t) })
	liars := sync.OnceValue(func() string { return startBrokers(t, acknowledgeOnly) })
	corpus, err := filepath.Abs("../../histories/corpus")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("BROKERS", brokers())
			env.Setenv("LIARS", liars())
			env.Setenv("CORPUS", corpus)
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// startBrokers starts a cluster in this process and returns its addresses.
func startBrokers(t *testing.T, faults ...func(*kfake.Cluster)) string {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(2, "made-before"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	for _, fault := range faults {
		fault(cluster)
	}
	return strings.Join(cluster.ListenAddrs(), ",")
}

// acknowledgeOnly has brokers acknowledge what they do not keep.
func acknowledgeOnly(cluster *kfake.Cluster) {
	cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		asked := req.(*kmsg.ProduceRequest).Topics[0]
		p := kmsg.NewProduceResponseTopicPartition()
		p.Partition = asked.Partitions[0].Partition
		t := kmsg.NewProduceResponseTopic()
		t.Topic, t.TopicID, t.Partitions = asked.Topic, asked.TopicID, append(t.Partitions, p)
		resp := req.ResponseKind().(*kmsg.ProduceResponse)
		resp.Topics = append(resp.Topics, t)
		return resp, nil, true
	})
}

// exits runs a command and fails unless it ends with the given exit code, and
// what it prints as JSON is as documented:
//
//	exits 2 check verify missing.hist
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	validate(ts, args[1:])
}
