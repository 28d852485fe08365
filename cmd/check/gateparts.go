package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

// judgeCorpus compares each case's verdict with the one it documents. With the
// part it returns how many of its problems are undecided.
func (g *gate) judgeCorpus(ctx context.Context, cases []*histories.History) (part, int) {
	p, n, undecided := part{Name: "corpus"}, 0, 0
	if len(cases) == 0 {
		p.Problems = append(p.Problems, "the corpus is empty")
	}
	for i, h := range cases {
		if !g.shard.has(i) {
			continue
		}
		n++
		expect := h.Header().Expect
		r := checker.Check(ctx, h, checker.Options{})
		if r.Meets(expect) {
			continue
		}
		if r.Verdict == checker.Undecided && expect.Verdict != "" {
			undecided++
		}
		wanted := expect.String()
		if wanted == "" {
			wanted = "states no verdict"
		} else {
			wanted = "expects " + wanted
		}
		got := strings.TrimSpace(r.Verdict.String() + " " + strings.Join(r.Names(), ","))
		p.Problems = append(p.Problems, fmt.Sprintf("%s: the verdict is %s, the case %s", label(h.Name()), got, wanted))
	}
	p.Says = count(n, "case")
	return p, undecided
}

// demandRules demands a case for each rule that expects it by name.
func demandRules(cases []*histories.History) (part, int) {
	rules := checker.Rules()
	p := part{Name: "rules", Says: count(len(rules), "rule") + ", each of which a case must violate"}
	for _, rule := range rules {
		violates := func(h *histories.History) bool { return slices.Contains(h.Header().Expect.Names, rule) }
		if !slices.ContainsFunc(cases, violates) {
			p.Problems = append(p.Problems, "no case expects "+rule)
		}
	}
	return p, 0
}

// replayCorpus runs the schedules of cases again.
func (g *gate) replayCorpus(ctx context.Context, cases []*histories.History) (part, int) {
	p, n := part{Name: "replay"}, 0
	for i, h := range cases {
		if !g.shard.has(i) || h.Header().Schedule == "" {
			continue
		}
		n++
		r, err := hunt.Setup{}.Replay(ctx, h)
		switch {
		case err != nil:
			p.Problems = append(p.Problems, err.Error())
			continue
		case r.Stale != "":
			p.Problems = append(p.Problems, fmt.Sprintf("%s: stale-fingerprint: %s", label(h.Name()), r.Stale))
		}
		if r.Wrong != "" {
			p.Problems = append(p.Problems, fmt.Sprintf("%s: %s", label(h.Name()), r.Wrong))
		}
	}
	p.Says = count(n, "schedule") + " of cases"
	return p, 0
}

// huntSafe hunts in the reference cluster.
func (g *gate) huntSafe(ctx context.Context) (part, int) {
	progress := newProgress(g.app.err)
	defer progress.done()
	first, runs := g.shard.span(g.runs)
	o := hunt.Options{First: first, Runs: runs, Seed: g.seed, Progress: func(r *hunt.Report) {
		progress.say(r.Runs, runs, "safe: %s of %s", number(r.Runs), count(runs, "schedule"))
	}}
	r, err := hunt.Run(ctx, o)
	p := part{Name: "safe"}
	if err != nil {
		p.Problems = append(p.Problems, err.Error())
		return p, 0
	}
	e, s := r.Exercised, r.Stats
	p.Says = fmt.Sprintf("%s of seed %d: %s acknowledged, %s, %s, %s unknown", count(r.Runs, "schedule"), g.seed,
		count(e.Acknowledged, "send"), count(int(s.Elections), "election"), count(int(s.Truncations), "truncation"), number(r.Undecided))
	switch {
	case r.Failed != nil:
		p.Problems = append(p.Problems, fmt.Sprintf("schedule %d: %v; check run --seed %d --first %d --runs 1", r.FailedAt, r.Failed.Result.Err(), g.seed, r.FailedAt))
		return p, 0
	case r.Runs < runs:
		p.Problems = append(p.Problems, fmt.Sprintf("the time was over after %s of %s", number(r.Runs), count(runs, "schedule")))
		return p, 1
	case r.OK == 0 || e.Acknowledged == 0 || s.Elections == 0:
		p.Problems = append(p.Problems, "nothing was at stake")
		return p, 1
	}
	return p, 0
}

// huntBugs hunts each seeded bug until it is found.
func (g *gate) huntBugs(ctx context.Context) (part, int) {
	progress := newProgress(g.app.err)
	defer progress.done()
	p, hunted, undecided, found, longest, last := part{Name: "bugs"}, 0, 0, 0, 0, ""
	for i, bug := range impl.Bugs {
		if !g.shard.has(i) {
			continue
		}
		progress.say(i, len(impl.Bugs), "bugs: %d of %d found, now %s", found, hunted, bug.Name)
		hunted++
		r, err := hunt.Run(ctx, hunt.Options{Runs: g.bound, Seed: g.seed, Bug: bug.Name})
		switch {
		case err != nil:
			p.Problems = append(p.Problems, err.Error())
		case r.Failed != nil:
			found++
			if r.Runs > longest {
				longest, last = r.Runs, bug.Name
			}
		case ctx.Err() != nil:
			undecided++
			p.Problems = append(p.Problems, fmt.Sprintf("%s: not found when the time was over, after %s", bug.Name, count(r.Runs, "schedule")))
		default:
			p.Problems = append(p.Problems, fmt.Sprintf("%s: not found in %s", bug.Name, count(r.Runs, "schedule")))
		}
	}
	p.Says = fmt.Sprintf("%d of %d found", found, hunted)
	if found > 0 {
		p.Says += fmt.Sprintf(", the last, %s, by the %s schedule", last, ordinal(longest))
	}
	return p, undecided
}
