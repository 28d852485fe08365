package logtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/isrcheck/isrcheck/checker/logtest"
)

// show tests a log and its broken twin, and prints what is wrong with them.
func show(open func(broken bool) logtest.Log) {
	for _, broken := range []bool{false, true} {
		err := logtest.CheckLog(context.Background(), func(ctx context.Context, run *logtest.Run) error {
			return run.Play(ctx, open(broken))
		}, logtest.Options{Deterministic: true})
		var f *logtest.Failure
		if errors.As(err, &f) {
			fmt.Println(f.Rule+":", f.Finding.Says)
		} else {
			fmt.Println(err)
		}
	}
}
