package logtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// The findings of a log that ended a run which should have gone on, by the names
// that the format has for them. What its clients had seen by then is kept and
// judged like any history.
const (
	panicked = "invariant no-panic"
	hung     = "invariant no-hang"
	nowhere  = "invariant real-offsets"
	notLive  = "not-live"
)

// A breakdown is how a log ended a run that should have gone on.
type breakdown struct {
	name, says string
	stack      string // of the goroutine that panicked, or of all that still run, the one that hangs first
	cause      error  // what the log said, nil if it said nothing
}

func (b *breakdown) Error() string { return b.says }
func (b *breakdown) Unwrap() error { return b.cause }

// breakdownOf is that of a panic, which a deferred function has just recovered.
func breakdownOf(value any) *breakdown {
	return &breakdown{name: panicked, says: printable(fmt.Sprintf("The log panicked: %v", value)), stack: string(debug.Stack())}
}

// neverWell is that of a log which is not well after its faults.
func neverWell(what string, cause error) *breakdown {
	return &breakdown{name: notLive, says: printable(what + ": " + cause.Error()), cause: cause}
}

// mark is what a history says of it, as of any invariant that broke.
func (b *breakdown) mark() histories.Mark {
	words := b.name + " broken: "
	if b.name == notLive {
		words = "not live: "
	}
	return histories.Mark{Kind: histories.Nemesis, Offset: histories.None, Text: words + strings.Join(strings.Fields(b.says), " ")}
}

// printable writes letters that drive a terminal, and others that cannot be seen,
// as JSON escapes them. Lines and tabs stay.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		switch {
		case r == '\n' || r == '\t' || strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// judged puts the breakdown before what else is wrong with its history.
func (b *breakdown) judged(ctx context.Context, h *histories.History) *checker.Result {
	r := checker.Check(context.WithoutCancel(ctx), h, checker.Options{})
	first := b.finding()
	r.Findings = slices.DeleteFunc(r.Findings, func(f checker.Finding) bool {
		if f.Name == b.name {
			first.Evidence = f.Evidence
		}
		return f.Name == b.name
	})
	r.Verdict, r.Findings = checker.Violates, append([]checker.Finding{first}, r.Findings...)
	return r
}

func (b *breakdown) finding() checker.Finding {
	return checker.Finding{Name: b.name, Says: b.says, Rule: checker.LogPromises[b.name]}
}

// errLeft is why a goroutine ended without a result: testing.T.FailNow and its
// like end the one they are called from.
var errLeft = errors.New("the driver ended its goroutine")

// survive calls the driver in a goroutine of its own, so that neither a panic
// nor a log that never comes back takes the suite, and what it saw, along.
func (s *suite) survive(ctx context.Context, run *Run) error {
	ended, drives := make(chan error, 1), make(chan string, 1)
	go func() {
		drives <- goroutine()
		err := errLeft
		defer func() {
			if p := recover(); p != nil {
				err = breakdownOf(p)
			}
			ended <- err
		}()
		err = s.drive(ctx, run)
	}()
	var err error
	select {
	case err = <-ended:
	case b := <-run.hung:
		s.stuck = true // and would be again
		select {
		case <-ended:
		case <-time.After(s.grace):
		}
		return b
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(s.grace):
			s.stuck = true
			return &breakdown{name: hung, says: fmt.Sprintf("The log did not come back: its run went on for %s after the time was over", s.grace), stack: goroutines(<-drives)}
		}
	}
	if err == errLeft {
		runtime.Goexit() // as it would have here
	}
	if run.broke != nil {
		return run.broke // whatever became of it on its way through the driver
	}
	return err
}

// graceOf is how long a call may go on after its context has ended: long enough
// for a machine that is busy with something else.
func graceOf(timeout time.Duration) time.Duration { return max(timeout, 2*time.Second) }

// watch ends the run if a call of the log does not come back after its context
// has ended, and after that has happened, if it is not nil. The function that it
// returns is for the call that did.
func (p *player) watch(ctx context.Context, call string, after <-chan struct{}) (back func()) {
	returned, caller := make(chan struct{}), goroutine()
	stop := context.AfterFunc(ctx, func() {
		if after != nil {
			select {
			case <-after:
			case <-returned:
			}
		}
		grace := graceOf(p.run.opts.Timeout)
		select {
		case <-returned:
		case <-time.After(grace):
			p.hang(&breakdown{name: hung, says: fmt.Sprintf("The log did not come back from %s within %s after its context had ended", call, grace), stack: goroutines(caller)})
		}
	})
	return func() { stop(); close(returned) }
}

// hang ends the run, also where its own goroutine is the one that hangs.
func (p *player) hang(b *breakdown) {
	select {
	case p.run.hung <- b:
		p.tell(b)
	default: // another call was first
	}
}

// tell ends the run because its log broke down. What it does while its run ends,
// because of that or because the time is over, is of no account.
func (p *player) tell(b *breakdown) {
	if p.over.Load() {
		return
	}
	select {
	case p.broke <- b:
	default: // another client was first
	}
}
