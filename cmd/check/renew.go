package main

import (
	"fmt"

	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
)

// renewal is the command that makes a stale case anew.
func renewal(name string) string { return "check replay --save " + shellWord(name) }

// renew writes what the schedule of a case makes now into its file, if that is
// another run with the verdict that the case documents. The header keeps what a
// person wrote in it; comments between operations that are no more go with them.
func renew(name string, saved *histories.History, now *hunt.Replay) (renewed bool, err error) {
	switch {
	case now.Wrong != "":
		return false, fmt.Errorf("%s: not renewed: %s", label(name), now.Wrong)
	case now.Stale == "":
		return false, nil
	}
	fresh, err := now.Trial.Case()
	if err != nil {
		return false, err
	}
	hd := saved.Header()
	hd.Schedule = fresh.Header().Schedule
	if histories.Difference(saved, fresh) == "" {
		fresh = saved // with all of its comments
	} else {
		hd.Config = fresh.Header().Config
	}
	if fresh, err = fresh.WithHeader(hd); err != nil {
		return false, err
	}
	return true, fresh.WriteFile(name)
}
