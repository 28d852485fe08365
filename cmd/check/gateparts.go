package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/cmd/check/internal/hunt"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl"
)

// whole is the index of what is said of a part as a whole.
const whole = -1

// judgeCorpus compares each case's verdict with the one it documents.
func (g *gate) judgeCorpus(ctx context.Context, cases []gateCase) {
	g.begin("corpus", g.shard.share(len(cases)))
	defer g.end()
	if len(cases) == 0 {
		g.look(whole, "corpus", func(it *item) { it.wrong("violation", emptyCorpus, "there are no cases") })
	}
	for i, c := range cases {
		if !g.shard.has(i) {
			continue
		}
		g.look(i, g.nameOf(c), func(it *item) {
			it.File = c.name
			it.Again = g.onFile("verify --expect", c)
			if c.err != nil {
				it.wrong("input", unreadableCase, "%v", c.err)
				return
			}
			g.judgeCase(ctx, c.history, it)
		})
	}
}

// onFile is a command about a case.
func (g *gate) onFile(command string, c gateCase) string {
	if g.app.limit != 0 {
		command += " --max-input " + strconv.FormatInt(int64(g.app.limit), 10)
	}
	return "check " + command + " " + shellWord(c.name)
}

func (g *gate) judgeCase(ctx context.Context, h *histories.History, it *item) {
	expect := h.Header().Expect
	r := checker.Check(ctx, h, checker.Options{})
	wanted, got := "expects "+expect.String(), hunt.Outcome(r)
	switch {
	case ctx.Err() != nil:
		it.Verdict = "" // it was judged in a hurry
	case expect.Verdict == "":
		it.wrong("violation", wrongVerdict, "the verdict is %s, the case states no verdict", got)
	case r.Verdict.ExitCode() == exitInternal:
		it.wrong("error", internalError, "%s", r.Reason)
	case r.Meets(expect):
		it.Again = ""
	case r.Verdict == checker.Undecided:
		it.wrong("unknown", undecidedItem, "the verdict is %s, the case %s", got, wanted)
	default:
		it.wrong("violation", wrongVerdict, "the verdict is %s, the case %s", got, wanted)
	}
	g.page(ctx, it, h, r)
}

// nameOf is what a case is called: those of the embedded corpus by their place in
// it, while their file is that of a checkout of this project.
func (g *gate) nameOf(c gateCase) string {
	if len(g.folders) == 0 {
		return c.history.Name()
	}
	return c.name
}

// demandRules demands a case for each rule that expects it by name, whichever
// shard judges that case.
func (g *gate) demandRules(cases []gateCase) {
	rules := checker.Rules()
	g.begin("rules", g.shard.share(len(rules)))
	defer g.end()
	among := ""
	if slices.ContainsFunc(cases, func(c gateCase) bool { return c.err != nil }) {
		among = " that can be read"
	}
	for i, rule := range rules {
		if !g.shard.has(i) {
			continue
		}
		g.look(i, rule, func(it *item) {
			violates := func(c gateCase) bool {
				return c.err == nil && slices.Contains(c.history.Header().Expect.Names, rule)
			}
			if !slices.ContainsFunc(cases, violates) {
				it.wrong("violation", uncoveredRule, "no case%s expects it", among)
			}
		})
	}
}

// replayCorpus runs the schedules of cases again.
func (g *gate) replayCorpus(ctx context.Context, cases []gateCase) {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c gateCase) bool {
		return c.err != nil || c.history.Header().Schedule == "" || checker.OfLogtest(c.history.Header())
	})
	g.begin("replay", g.shard.share(len(cases)))
	defer g.end()
	for i, c := range cases {
		if !g.shard.has(i) {
			continue
		}
		g.look(i, g.nameOf(c), func(it *item) {
			it.File = c.name
			it.Again = g.onFile("replay", c)
			r, err := hunt.Setup{}.Replay(ctx, c.history)
			switch {
			case ctx.Err() != nil:
				it.Verdict = ""
			case err != nil:
				it.wrong("violation", wrongVerdict, "the schedule does not run: %v", err)
			case r.Trial.Result.Verdict.ExitCode() == exitInternal:
				it.wrong("error", internalError, "%s", r.Trial.Result.Reason)
			case r.Wrong != "":
				it.wrong("violation", wrongVerdict, "%s", strings.TrimSuffix(r.Wrong+"; "+r.Stale, "; "))
			case r.Stale != "":
				it.wrong("stale", staleFingerprint, "%s; where that is meant, %s renews the case", r.Stale, renewal(c.name))
			default:
				it.Again = ""
			}
			if err == nil {
				g.pageOfTrial(ctx, it, r.Trial)
			}
		})
	}
}

// huntBugs hunts each seeded bug until it is found. Where only time sets the
// bounds, half of it is for the bugs, and half of what is left of that for each,
// so that a rare one leaves some for the others; those it does not suffice for
// are left out. A bug that was hunted for longer than it takes is
// missed. Which come first depends on the seed.
func (g *gate) huntBugs(ctx, timed context.Context) {
	progress := newProgress(g.app.err)
	defer progress.done()
	var mine []int
	for i := range impl.Bugs {
		if g.shard.has(i) {
			mine = append(mine, i)
		}
	}
	g.begin("bugs", len(mine))
	defer g.end()
	defer g.huntedNone(ctx)
	end := midway(time.Now(), g.start.Add(g.budget))
	for n, i := range rotated(mine, g.report.Seed) {
		now := time.Now()
		if ctx.Err() != nil || g.report.Runs == 0 && now.After(end) {
			return
		}
		bug := impl.Bugs[i].Name
		progress.say(n, len(mine), "bugs: %d of %d hunted, now %s", n, len(mine), bug)
		share, cancel := timed, context.CancelFunc(func() {})
		if g.report.Runs == 0 {
			share, cancel = context.WithDeadline(timed, midway(now, end))
		}
		g.look(i, bug, func(it *item) { g.huntBug(ctx, share, it) })
		cancel()
	}
}

// huntedNone says of the open part that it had no time for a single one.
func (g *gate) huntedNone(ctx context.Context) {
	if p := g.report.Parts[len(g.report.Parts)-1]; ctx.Err() == nil && p.Of > 0 && p.looked() == 0 {
		g.look(whole, p.Name, func(it *item) {
			it.wrong("unknown", undecidedItem, "the time was over before any was hunted: expected a longer --budget than %s, such as %s", g.budget, max(defaultBudget, 2*g.budget))
		})
	}
}

func midway(from, to time.Time) time.Time { return from.Add(to.Sub(from) / 2) }

func (g *gate) huntBug(ctx, timed context.Context, it *item) {
	r, err := g.hunt(timed, hunt.Options{Runs: g.bound, Seed: g.report.Seed, Bug: it.Name})
	if err != nil {
		it.wrong("error", internalError, "%v", err)
		return
	}
	it.Schedules = r.Runs
	it.Again = "check run --bug " + it.Name + " --seed " + strconv.FormatUint(g.report.Seed, 10)
	switch {
	case r.Failed != nil && r.Failed.Result.Verdict == checker.Contradictory:
		it.wrong("error", internalError, "schedule %d: %s", r.FailedAt, r.Failed.Result.Reason)
	case r.Failed != nil:
		it.Again += " --first " + strconv.Itoa(r.FailedAt) + " --runs 1"
	case ctx.Err() != nil, g.report.Runs == 0 && timed.Err() != nil && r.Runs < hunt.Enough(it.Name):
		it.Verdict = ""
	case g.report.Runs == 0 && timed.Err() != nil:
		it.Again += " --runs " + strconv.Itoa(r.Runs)
		it.wrong("violation", missedBug, "not found in %s, more than enough", count(r.Runs, "schedule"))
	case timed.Err() != nil:
		it.wrong("unknown", undecidedItem, "not found when the time was over, after %s", count(r.Runs, "schedule"))
	default:
		it.Again += " --runs " + strconv.Itoa(g.bound)
		it.wrong("violation", missedBug, "not found in %s", count(r.Runs, "schedule"))
	}
}

// least is how many schedules are drawn on the correct cluster though the time is
// over, if it is the time that sets the bounds.
const least = 64

// enough failures are reported before the hunt in the reference cluster ends.
const enough = 10

// huntSafe hunts in the reference cluster, and goes on behind each failure, so
// that the shards of a gate find what one does alone.
func (g *gate) huntSafe(ctx, timed context.Context) {
	progress := newProgress(g.app.err)
	defer progress.done()
	_, runs := g.shard.span(g.report.Runs)
	p := g.begin("safe", runs)
	defer g.end()
	p.Drawn = &drawn{}
	failures := 0
	for first, n := range g.shard.spans(g.report.Runs) {
		for end := first + n; first < end && failures < enough; {
			within, n := timed, end-first
			if g.report.Runs == 0 && p.Drawn.Schedules < least {
				within, n = ctx, least-p.Drawn.Schedules
			}
			if within.Err() != nil {
				break
			}
			o := hunt.Options{First: first, Runs: n, Seed: g.report.Seed, Progress: func(r *hunt.Report) {
				progress.say(p.Drawn.Schedules+r.Runs, cmp.Or(runs, unbounded), "safe: %s", count(p.Drawn.Schedules+r.Runs, "schedule"))
			}}
			r, err := g.hunt(within, o)
			if err != nil {
				failures = enough
				g.look(whole, "schedules", func(it *item) { it.wrong("error", internalError, "%v", err) })
				break
			}
			g.covered(p.Drawn, r)
			first += r.Runs
			if r.Failed != nil {
				failures++
				g.look(r.FailedAt, "schedule "+strconv.Itoa(r.FailedAt), func(it *item) { g.failedSchedule(ctx, r, it) })
			}
		}
		if timed.Err() != nil || failures == enough {
			break
		}
	}
	g.atStake(ctx, p, failures)
}

// covered adds what a hunt covered, and what it left undecided.
func (g *gate) covered(d *drawn, r *hunt.Report) {
	idle := 0
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		if strings.HasPrefix(reason, "nothing was at stake") {
			idle += r.Reasons[reason]
			continue
		}
		first := r.FirstOf[reason]
		g.look(first.Number, "schedule "+strconv.Itoa(first.Number), func(it *item) {
			it.Again = g.drawAgain(first.Number)
			it.wrong("unknown", undecidedItem, "%s (%s)", first.Reason, count(r.Reasons[reason], "schedule"))
		})
	}
	d.add(drawn{r.Runs, r.Exercised.Acknowledged, int(r.Stats.Elections), int(r.Stats.Truncations), idle})
}

// drawAgain is the command that draws one schedule again.
func (g *gate) drawAgain(number int) string {
	return "check run --seed " + strconv.FormatUint(g.report.Seed, 10) + " --first " + strconv.Itoa(number) + " --runs 1"
}

func (g *gate) failedSchedule(ctx context.Context, r *hunt.Report, it *item) {
	it.Again = g.drawAgain(r.FailedAt)
	if r.Failed.Result.Verdict == checker.Contradictory {
		it.wrong("error", internalError, "%s", r.Failed.Result.Reason)
	} else {
		it.wrong("violation", r.Failed.Rule(), "%v", r.Failed.Result.Err())
	}
	g.pageOfTrial(ctx, it, r.Failed)
}

// atStake says whether the drawn schedules were as many as asked for and meant
// anything.
func (g *gate) atStake(ctx context.Context, p *part, failures int) {
	g.look(whole, "schedules", func(it *item) {
		switch d := p.Drawn; {
		case ctx.Err() != nil:
			it.Verdict = ""
		case failures > 0: // they did
		case d.Schedules < p.Of:
			it.wrong("unknown", undecidedItem, "the time was over after %s of %s", number(d.Schedules), count(p.Of, "schedule"))
		case d.Acknowledged == 0 || d.Elections == 0:
			it.wrong("unknown", undecidedItem, "nothing was at stake in %s", count(d.Schedules, "schedule"))
		}
	})
}
