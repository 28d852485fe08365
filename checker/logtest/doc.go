// Package logtest tests whether a replicated log keeps its promises, as
// testing/fstest tests file systems. It asks for one function:
//
//	func TestMyLog(t *testing.T) {
//		logtest.TestLog(t, func(ctx context.Context, run *logtest.Run) error {
//			return run.Play(ctx, NewMyLog())
//		}, logtest.Options{})
//	}
//
// The function makes a fresh log each time it is called, and [Run.Play] lets
// clients append to it and read from it, while things go wrong, and records
// what they see. What they saw is judged by package checker. First come fixed
// cases, one subtest each, then drawn ones.
//
// A [Log] has two methods. What else it can do, it says by further methods: see
// [Crasher], [PowerLoser], [Isolator], [Pauser], [Cluster], [EndTeller],
// [Partitioned] and [Settler]. What it cannot do is skipped, and the test says
// so. A system that is driven in another way, or that has a scheduler of its
// own, takes the [Run]'s schedule and performs it as it likes.
//
// The examples drive a log in memory, one in a file that loses power, and one on
// etcd's raft; the module in the folder jetstream drives a cluster of NATS.
//
// A failure is made small, saved as a history with its schedule, reported once
// for each rule, and tried first on the next run. Of a rule for which a folder
// has four already, none is saved there, so that logs which fail otherwise each
// time fill no disk: the report then has the history. It is saved in the test's
// [testing.T.ArtifactDir] where go test is called with -artifacts, and in
// testdata/failures otherwise. "check explain FILE" shows it with a timeline;
// with -artifacts a page for a browser stands there, also of a failure that was saved
// before. "check explain" and the page name the test to run again.
//
// A log that panics, in the driver or in what its clients call, fails by
// "invariant no-panic". One that does not come back from a call within
// [Options.Timeout], and at least two seconds, of the end of the call's context
// and of all faults fails by "invariant no-hang", and so does a driver that does
// not end when the test's time is over. One that answers with a number that is no
// offset fails by "invariant real-offsets". One whose fault cannot be ended, that
// does not settle then, or that cannot be read to its end fails by "not-live"; so does
// one that nothing struck, if it has answered a read before. What its clients had
// seen by then is saved like any failure. A log that acknowledges nothing fails, too:
// nothing was at stake. A panic in a goroutine that the log began itself ends the
// process; what was under way is then in the user's cache folder, and the next run
// says where and begins with it. That is no failure by itself: whoever ends a test
// ends its process, too. With -artifacts, it is there as unfinished.jsonl.
//
// # The command check
//
// What a failure says to type, such as "check explain FILE", is the command line of
// isrcheck. In a module of your own
//
//	go get -tool github.com/isrcheck/isrcheck/cmd/check
//
// adds it (where go.mod replaces isrcheck by a folder: go mod edit -tool
// github.com/isrcheck/isrcheck/cmd/check, and go mod tidy). There, type "go tool check" for
// "check". Outside of modules, go install github.com/isrcheck/isrcheck/cmd/check@latest
// puts it where Go puts programs.
//
// # Which way it errs
//
// The suite raises no false alarm: what it reports is wrong under every order
// of events that the clients' observations allow, if the log promises what
// [Options] says it does. It can miss: a bug that no client saw in any run
// stays unseen, so does one that takes a longer log than [Options.Records], and a
// log that is not deterministic may fail once and then no more. It asks nothing
// about speed, and about progress only that a log works again and can be read once
// all faults have ended.
//
// The environment variables ISRCHECK_RUNS and ISRCHECK_SEED stand for
// [Options.Runs] and [Options.Seed] where those are zero; the command that a
// failure is repeated by has them.
package logtest
