package logtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A suite tests one log.
type suite struct {
	drive     Driver
	opts      Options
	means     means
	known     map[string]*Failure // by rule: what was reported
	saveIn    string              // folder of new failures, "" for none
	draws     bool                // a page about each failure that is saved
	retryIn   string              // folder of old ones
	journal   *journal            // of the run that is under way
	test      string              // its name, "" outside go test
	tested    string              // its package, "" if nobody knows
	rerun     string              // the command that runs this test alone, "" outside go test
	variables string              // of the environment that it needs
	demanded  bool                // the number of drawn schedules was asked for in the options
	attempts  int                 // how often a schedule that is not deterministic is tried
	grace     time.Duration       // that a run has to end when the time is over
	stuck     bool                // a run did not, and is still under way
}

// newSuite fills in what the options leave out, and asks the log what it can do.
func newSuite(ctx context.Context, drive Driver, opts Options, runs int) (*suite, error) {
	if drive == nil {
		return nil, errors.New("expected a Driver, which makes a log and calls Run.Play; found nil")
	}
	if opts.Runs < 0 || opts.Records < 0 {
		return nil, errors.New("expected Options.Runs and Options.Records of 0 or more")
	}
	demanded := opts.Runs > 0
	variables, err := opts.fromEnvironment(runs)
	if err != nil {
		return nil, err
	}
	if opts.Config == nil {
		opts.Config = DefaultConfig
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.Pace = cmp.Or(opts.Pace, defaultPace)
	opts.Records = cmp.Or(opts.Records, longRecords)
	opts.MinimizeRuns = cmp.Or(opts.MinimizeRuns, 500)
	opts.MinimizeTime = cmp.Or(opts.MinimizeTime, defaultMinimizeTime)
	s := &suite{drive: drive, opts: opts, known: map[string]*Failure{}, demanded: demanded, attempts: 3, variables: variables, grace: graceOf(opts.Timeout)}
	if opts.Deterministic {
		s.attempts = 1
	}
	run, _, err := s.perform(ctx, schedule.Schedule{})
	if err != nil {
		if b := (*breakdown)(nil); errors.As(err, &b) {
			err = fmt.Errorf("%w\n%s", err, b.stack)
		}
		return nil, fmt.Errorf("a run in which nothing happens: %w", err)
	}
	s.means = run.means
	if s.means.nodes == 0 && s.means.partitions == 0 { // nothing was declared
		s.means.nodes, s.means.partitions = 1, 1
	}
	if err := cmp.Or(few("nodes", s.means.nodes), few("partitions", s.means.partitions)); err != nil {
		return nil, fmt.Errorf("Run.Declare: %w", err)
	}
	return s, nil
}

// lacks says what is skipped everywhere.
func (s *suite) lacks() []string {
	var out []string
	for _, a := range abilities {
		if !s.means.has(a.Ability) {
			out = append(out, "the log "+a.lacks)
		}
	}
	return out
}

// A trial is a schedule, run and judged.
type trial struct {
	schedule schedule.Schedule
	history  *histories.History
	result   *checker.Result
	stack    string // of a log that broke down
}

// has reports whether the trial breaks a rule.
func (t *trial) has(rule string) bool { return slices.Contains(t.result.Names(), rule) }

// appended counts the appends that the log said were in it, whatever that means
// with its acks.
func (t *trial) appended() (n int) {
	for _, o := range t.history.Ops() {
		if o.Kind == histories.Send && o.Outcome == histories.OK {
			n++
		}
	}
	return n
}

// perform makes one run. Of one that the log broke down in, the error is a
// [*breakdown], and the history what was seen until then.
func (s *suite) perform(ctx context.Context, sch schedule.Schedule) (*Run, *histories.History, error) {
	var events int64
	clock := func() int64 { // the order of events is all that is judged
		events++
		return events
	}
	text, err := sch.AppendText(nil)
	if err != nil {
		return nil, nil, err
	}
	s.journal.begin()
	rec, err := histories.NewRecorder(s.journal, histories.Header{Config: s.opts.Config, Schedule: string(text), Note: checker.LogtestNoteOf("a run that was under way", s.test, s.tested)}, clock)
	if err != nil {
		return nil, nil, err
	}
	run := &Run{Schedule: sch, Recorder: rec, opts: &s.opts, hung: make(chan *breakdown, 1), last: 10 * s.opts.Timeout, patience: 10 * s.opts.Timeout}
	if s.known[notLive] != nil { // so nobody waits for that again and again
		run.last, run.patience = s.opts.Timeout, s.opts.Timeout
	}
	failed := s.survive(ctx, run)
	if s.stuck {
		run = &Run{} // the log still has the other
	}
	if b := (*breakdown)(nil); errors.As(failed, &b) {
		rec.Mark(b.mark())
	} else if failed != nil {
		return nil, nil, failed
	}
	h, err := rec.Close()
	if run.submitted != nil {
		h = run.submitted
	}
	return run, h, cmp.Or(failed, err)
}

// try runs a schedule and judges it; twice, and compares, if the log is
// deterministic.
func (s *suite) try(ctx context.Context, sch schedule.Schedule) (*trial, error) {
	if s.stuck {
		return nil, errors.New("not run: an earlier run did not come back")
	}
	run, h, err := s.perform(ctx, sch)
	if b := (*breakdown)(nil); errors.As(err, &b) && h != nil {
		return &trial{sch, h, b.judged(ctx, h), b.stack}, nil
	}
	if err != nil {
		return nil, err
	}
	t := &trial{schedule: sch, history: h, result: checker.Check(ctx, h, checker.Options{})}
	if t.result.Verdict == checker.Undecided && run.unread != nil {
		t.result.ReasonKind = "after all faults had ended the log could not be read to its end"
		t.result.Reason = printable(fmt.Sprintf("%s: %v", t.result.ReasonKind, run.unread))
	}
	if !s.opts.Deterministic {
		return t, nil
	}
	_, again, err := s.perform(ctx, sch)
	if err != nil {
		return nil, err
	}
	if diff := histories.Difference(h, again); diff != "" {
		t.result.Verdict = checker.Violates
		t.result.Findings = append(t.result.Findings, checker.Finding{Name: nondeterministic,
			Says: "Two runs of one schedule differ: " + strings.ReplaceAll(diff, "the saved history", "the one before"), Rule: checker.LogPromises[nondeterministic]})
	}
	return t, nil
}

// nondeterministic is the finding of two runs of one schedule that differ.
const nondeterministic = "nondeterministic"

// A part is a case of the suite, or all drawn ones.
type part struct {
	name string
	run  func(ctx context.Context) report
}

// A report says what came of a part.
type report struct {
	failures []*Failure
	skipped  string   // why it was not run
	notes    []string // what is worth knowing
	err      error    // why it could not be run
}

// parts returns what was not finished, the saved failures, the fixed cases and the
// drawn ones.
func (s *suite) parts(before journals, tell func(note string)) ([]part, error) {
	parts, err := s.unfinished(before, tell)
	if err != nil {
		return nil, err
	}
	saved, err := s.saved()
	if err != nil {
		return nil, err
	}
	parts = append(parts, saved...)
	for _, c := range casesOf(s.means) {
		parts = append(parts, part{strings.ReplaceAll(c.name, " ", "-"), func(ctx context.Context) report { return s.fixed(ctx, c) }})
	}
	return append(parts, part{"drawn", s.drawn}), nil
}

// fixed runs a fixed case.
func (s *suite) fixed(ctx context.Context, c fixedCase) report {
	r := report{notes: []string{c.says}}
	if !s.means.has(c.needs) {
		for _, a := range abilities {
			if a.Ability == c.needs {
				r.skipped = "the log " + a.lacks
			}
		}
		return r
	}
	t, err := s.try(ctx, c.schedule(s.means))
	switch {
	case err != nil:
		r.err = err
	case t.result.Verdict == checker.Violates:
		r.failures = []*Failure{s.report(ctx, c.name, t)}
	case t.result.Verdict != checker.Conforms:
		r.err = fmt.Errorf("the case cannot be judged: %s", t.result.Reason)
	}
	return r
}

// drawn runs drawn schedules.
func (s *suite) drawn(ctx context.Context) report {
	r := report{}
	var exercised checker.Exercised
	schedules, runs, ok, failed, appended, undecided := s.schedules(), 0, 0, 0, 0, ""
	for ; runs < s.opts.Runs && ctx.Err() == nil; runs++ {
		sch := schedules(runs).Example(int(draw.Mix(s.opts.Seed, uint64(runs)) >> 1))
		t, err := s.try(ctx, sch)
		if ctx.Err() != nil && (t == nil || !t.has(hung)) {
			break // it was judged in a hurry
		}
		if err != nil {
			r.err = fmt.Errorf("drawn schedule %d of seed %d: %w\n%s", runs, s.opts.Seed, err, indented(sch))
			return r
		}
		exercised.Add(t.result.Exercised)
		appended += t.appended()
		switch t.result.Verdict {
		case checker.Conforms:
			ok++
		case checker.Violates:
			failed++
			if f := s.report(ctx, fmt.Sprintf("drawn schedule %d of seed %d", runs, s.opts.Seed), t); f.Known == nil || len(r.failures) == 0 {
				r.failures = append(r.failures, f)
			}
		case checker.Contradictory:
			r.err = fmt.Errorf("drawn schedule %d of seed %d: the checker contradicts itself: %s", runs, s.opts.Seed, t.result.Reason)
		default:
			undecided = t.result.Reason
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("%s drawn with seed %d (ISRCHECK_SEED), %s ok, %s: %s",
		checker.Counted(runs, "schedule"), s.opts.Seed, checker.Number(ok), checker.Counted(failed, "violation"), exercised))
	if runs < s.opts.Runs && r.err == nil && !s.demanded {
		r.notes = append(r.notes, fmt.Sprintf("the time was over before all of %d schedules were run", s.opts.Runs))
	}
	if undecided != "" {
		r.notes = append(r.notes, "some could not be judged, the last because: "+undecided)
	}
	switch {
	case r.err != nil:
	case runs < s.opts.Runs && s.demanded:
		r.err = fmt.Errorf("%d of the %d drawn schedules that Options.Runs demands were run: %w", runs, s.opts.Runs, ctx.Err())
	case ok+failed == 0:
		r.err = fmt.Errorf("of %d drawn schedules none could be judged: %s", runs, cmp.Or(undecided, "the time was over"))
	case failed == 0 && appended == 0:
		r.err = fmt.Errorf("nothing was at stake: the log acknowledged none of %d appends in %d drawn schedules", exercised.Sends, runs)
	}
	return r
}
