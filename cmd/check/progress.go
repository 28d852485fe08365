package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress tells a person how far a long command is: a bar on a terminal
// after two seconds, elsewhere a line every ten. Short commands say nothing.
type progress struct {
	to       io.Writer
	terminal bool
	every    time.Duration
	said     time.Time // when it last said something, at first the start
	bar      *progressbar.ProgressBar
}

func newProgress(to io.Writer) *progress {
	p := &progress{to: to, terminal: isTerminal(to), every: 10 * time.Second, said: time.Now()}
	if p.terminal {
		p.every = 2 * time.Second
	}
	return p
}

// unbounded is the total of what has no known end.
const unbounded = -1

// say tells that so much is done of a total, and what it is.
func (p *progress) say(done, total int, format string, args ...any) {
	if p.bar == nil && time.Since(p.said) < p.every {
		return
	}
	text := fmt.Sprintf(format, args...)
	if !p.terminal {
		p.said = time.Now()
		fmt.Fprintln(p.to, text)
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.to), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(20))
	}
	p.bar.ChangeMax(total)
	p.bar.Describe(text)
	p.bar.Set(done)
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}

// during tells every now and then that something without steps goes on, until
// it is called off.
func (p *progress) during(what string) (end func()) {
	_, end = p.phases(what)
	return end
}

// phases does that of something whose phases are known as they begin.
func (p *progress) phases(first string) (next func(what string), end func()) {
	type phase struct {
		what  string
		since time.Time
	}
	var now atomic.Value
	next = func(what string) { now.Store(phase{what, time.Now()}) }
	next(first)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(p.every)
		defer ticks.Stop()
		for {
			select {
			case <-over:
				p.done()
				return
			case tick := <-ticks.C:
				is := now.Load().(phase)
				p.say(0, unbounded, "%s, for %s now", is.what, tick.Sub(is.since).Round(time.Second))
			}
		}
	}()
	return next, func() { close(over); <-ended }
}

// interruptible returns a context that ends with an interrupt, a request to
// terminate or the end of the terminal, after which a second one ends the program:
// also where a shell began it in the background, with interrupts ignored. Who began
// it so that the end of the terminal is ignored (nohup) means that.
func interruptible() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ignored := signal.Ignored(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		if ignored {
			second := make(chan os.Signal, 1)
			signal.Notify(second, os.Interrupt)
			go func() {
				<-second
				os.Exit(exitInterrupted)
			}()
		}
		stop()
	})
	return ctx, stop
}
