package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A progress tells a person how far a long command is: a line every ten
// seconds, or on a terminal one line that changes every two. Short commands
// say nothing.
type progress struct {
	to       io.Writer
	terminal bool
	every    time.Duration
	said     time.Time // when it last said something, at first the start
	shown    bool
}

func newProgress(to io.Writer) *progress {
	p := &progress{to: to, terminal: isTerminal(to), every: 10 * time.Second, said: time.Now()}
	if p.terminal {
		p.every = 2 * time.Second
	}
	return p
}

func (p *progress) say(format string, args ...any) {
	if time.Since(p.said) < p.every {
		return
	}
	p.said = time.Now()
	if p.terminal {
		p.shown = true
		fmt.Fprintf(p.to, clearLine+format, args...)
		return
	}
	fmt.Fprintf(p.to, format+"\n", args...)
}

// done clears the line.
func (p *progress) done() {
	if p.shown {
		fmt.Fprint(p.to, clearLine)
		p.shown = false
	}
}

// interruptible returns a context that ends with an interrupt or a request to
// terminate, after which a second one ends the program.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
