package logtest_test

import (
	"context"
	"slices"
	"testing"

	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories/schedule"
	"github.com/isrcheck/isrcheck/impl"
)

// reference drives the reference implementation, which runs a schedule itself
// and has a history of its own.
func reference(settings []schedule.Setting, bugs ...string) logtest.Driver {
	return func(_ context.Context, run *logtest.Run) error {
		run.Declare(3, 2, logtest.Crash, logtest.PowerLoss, logtest.Isolation, logtest.Pause, logtest.EndOffset, logtest.Partitions)
		s := run.Schedule
		s.Settings = append([]schedule.Setting{{Key: "partitions", Value: "2"}}, settings...)
		s.Bugs = bugs
		result, err := impl.Run(s, impl.Options{})
		if err != nil {
			return err
		}
		run.Submit(result.History)
		return nil
	}
}

// TestReference lets the reference implementation through the door.
func TestReference(t *testing.T) {
	for _, reads := range []string{"committed", "linearizable"} {
		t.Run(reads, func(t *testing.T) {
			logtest.TestLog(t, reference([]schedule.Setting{{Key: "reads", Value: reads}, {Key: "min.insync.replicas", Value: "2"}}),
				logtest.Options{Deterministic: true})
		})
	}
}

// TestReferenceWithBugs demands that the door's own schedules find bugs of the
// protocol.
func TestReferenceWithBugs(t *testing.T) {
	for _, test := range []struct{ bug, rule string }{
		{"ack-before-commit", "lost-write"},
		{"truncate-to-high-watermark", "lost-write"},
	} {
		t.Run(test.bug, func(t *testing.T) {
			err := logtest.CheckLog(t.Context(), reference(nil, test.bug), logtest.Options{Deterministic: true})
			if rules := rulesIn(err); !slices.Contains(rules, test.rule) {
				t.Errorf("found %v, want %s: %v", rules, test.rule, err)
			}
		})
	}
}
