package logtest

import (
	"context"
	"time"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A Driver performs a run on a fresh log that it makes, and ends the log
// before it returns. Most call [Run.Play] and nothing else. An error says
// that the run could not be made; what the log did wrong is not an error but
// in the history.
type Driver func(ctx context.Context, run *Run) error

// A Run is one schedule to be performed, and the recorder of what comes of it.
//
// A driver that does not call Play declares first what its log can do. The
// schedule then has these steps, and any of them may be left out:
//
//	20 P1 send 1,2 partition=1           append a batch
//	21 C1 poll                           read on from where C1 is
//	22 F1 fetch from=3                   read from an offset
//	23 L1 list latest                    tell the end
//	24 nemesis crash broker=1 for=40     a fault and how long it lasts; also power-loss, pause
//	25 nemesis isolate node=2 for=40
//
// Times are milliseconds where the driver can simulate them, and otherwise
// only an order: what has one time is to happen at once. At the end all faults
// are ended and each partition is read to its end by an operation of the kind
// [histories.Scan].
type Run struct {
	Schedule schedule.Schedule
	Recorder *histories.Recorder

	opts      *Options
	means     means
	submitted *histories.History
	unread    error      // why a partition could not be read to its end
	broke     *breakdown // by which a client ended the run
	hung      chan *breakdown
	last      time.Duration // for each answer of the final reading
	patience  time.Duration // with errors in it
}

// Declare says what the log can do, for drivers that do not call Play.
func (r *Run) Declare(nodes, partitions int, can ...Ability) {
	r.means = means{nodes: nodes, partitions: partitions, can: can}
}

// Submit hands in a finished history in place of what the recorder recorded,
// for systems that keep their own. Its header says what was promised.
func (r *Run) Submit(h *histories.History) { r.submitted = h }

// Options says what the log promises and how much is tried. The zero value is
// useful.
type Options struct {
	// Config is what the log promises, in the terms of a history's header. Nil
	// stands for DefaultConfig.
	Config histories.Config

	// Deterministic says that equal schedules give equal histories. Clients
	// then act one after the other, each run is made twice, and a difference
	// is a failure named nondeterministic.
	Deterministic bool

	// Runs is how many schedules are drawn; 0 means 100, and 10 with go test
	// -short. That many are demanded: if the time is over before, that is an
	// error. Of the default it is not.
	Runs int
	Seed uint64 // of the drawn schedules; 0 means 1

	// Records is how long drawn runs become. Most have up to 30 steps, and some
	// 30 records in batches of up to 3. One in 16 goes on until that many
	// records were sent, in batches of up to 20; 0 means 300. A bug that takes
	// a longer log is not found.
	Records int

	// Timeout bounds each operation, and tenfold the wait for a log to settle
	// and for each answer of the final reading; 0 means a second. Beginning or ending a fault is given a minute.
	Timeout time.Duration

	// Pace is how long operations may be under way before the schedule goes on
	// beside them; 0 means 50 milliseconds.
	Pace time.Duration

	// MinimizeRuns bounds the schedules that are tried to make a failure small;
	// 0 means 500. MinimizeTime bounds the time that takes; 0 means 20 seconds.
	MinimizeRuns int
	MinimizeTime time.Duration

	// Failures is the folder of saved failures. For TestLog, "" means
	// testdata/failures and a folder of the test's name in it; for CheckLog,
	// it means that none are saved.
	Failures string

	// Logf is told by CheckLog what was skipped and what was tried, if it is
	// not nil.
	Logf func(format string, args ...any)
}

// DefaultConfig is what a log promises unless [Options] says otherwise: what is
// acknowledged stays, one append lands at most once, and reads return committed
// records, possibly not the newest. Of a log that may repeat what it was asked
// once, DefaultConfig.With("enable.idempotence", "false") is the promise.
var DefaultConfig = histories.Config{
	{Key: "acks", Value: "all"},
	{Key: "enable.idempotence", Value: "true"},
	{Key: "reads", Value: "committed"},
}
