package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// A judging says how histories are judged and how much that may take. Every command
// that judges a file has the same flags for it, so that what one decides by them the
// others can explain and shorten.
type judging struct {
	opts    checker.Options
	timeout time.Duration // a file; 0 is none
}

func (g *judging) flags(cmd *cobra.Command) {
	g.opts.Memory = checker.DefaultMemory
	flags := cmd.Flags()
	flags.Var((*engineFlag)(&g.opts.Engine), "engine", "what decides where rules do not: "+strings.Join(checker.Engines, ", "))
	flags.DurationVar(&g.timeout, "timeout", 0, "give up on a file after this time (verdict unknown); 0 is never")
	flags.Int64Var(&g.opts.Steps, "steps", checker.DefaultSteps, "give up on a partition after so many steps of the model")
	flags.Var((*byteFlag)(&g.opts.Memory), "max-memory", "give up on a partition when the search holds so many bytes (K, M, GiB...)")
}

func (g *judging) valid() error {
	if g.timeout < 0 || g.opts.Steps < 1 || g.opts.Memory < 1 {
		return errors.New("expected a --timeout of 0 or more, and --steps and --max-memory of 1 or more")
	}
	return nil
}

// within returns a context that ends when the time for a file is over.
func (g *judging) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, g.timeout, fmt.Errorf("time is over (--timeout %s)", g.timeout))
}

// explained judges a history that was read, with what further checks tell of it.
func (g *judging) explained(ctx context.Context, h *histories.History) *checker.Result {
	ctx, cancel := g.within(ctx)
	defer cancel()
	r := checker.Check(ctx, h, g.opts)
	checker.Explain(ctx, h, r, g.opts)
	return r
}

// engineFlag is the value of --engine.
type engineFlag checker.Engine

func (e *engineFlag) Set(name string) error {
	if !slices.Contains(checker.Engines, name) {
		return fmt.Errorf("expected one of %s", strings.Join(checker.Engines, ", "))
	}
	if *e = engineFlag(name); name == "auto" {
		*e = engineFlag(checker.Auto)
	}
	return nil
}

func (e *engineFlag) String() string {
	if checker.Engine(*e) == checker.Auto {
		return "auto"
	}
	return string(*e)
}

func (e *engineFlag) Type() string { return "engine" }
