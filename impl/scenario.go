package impl

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// A scenario is a schedule that tells a story. Its text is a sequence of
// blocks: steps, orders to run up to a time or a state, and what a person
// expects then; below ---- stands the trace of what happened, and the state at
// the end of it, with a * at replicas that changed. A blank line ends a block.
//
//	# A follower falls behind.
//	set brokers=2
//	10 P1 send 1
//	run to=1000
//	expect isr={1,2} hw=1
//	expect P1 send 1 => ok @0
//	----
//	t=13     broker 1   appends [1] at 0, epoch 0
//
//	check
//	expect ok
//	----
//
// Above the lines a person writes, below them the machine does. The last block
// lets the cluster become calm and has the history judged.
//
//	run to=MS               everything that is due before that time
//	run until CLAIMS within=MS
//	check                   everything, and the final scan; then the judge
//	expect KEY=VALUE...     state: leader, epoch, partition-epoch, isr, elr, last-known (ELR),
//	                        recovering, hw, leo of the partition;
//	                        with broker=N its state, fenced, role, epoch, hw, leo, log, and
//	                        caught-up: when it last had everything, as far as the leader knows;
//	                        with client=NAME its position;
//	                        with partition=N another one than the first
//	expect TEXT             some line of the block's trace has these words, whole ones
//	expect ok               the judge's verdict, after check
//	expect violation [NAME,...]
//	expect allowed [NAME,...]
//	expect not ...          that the one KEY=VALUE does not hold, that no line of the block's
//	                        trace has the text, that the verdict is another one or has none
//	                        of the names
//
// What cannot fail is refused: a value that its key never has, a finding that there is
// not, words that no trace has, words of a trace or a verdict before there is one.
type scenario struct {
	name     string
	schedule schedule.Schedule
	blocks   []block
}

// A block is one part of a scenario: its lines, and what they mean.
type block struct {
	lines []string // as a person wrote them
	does  []command
	steps int    // of the schedule, up to the end of this block
	trace string // as it was saved
	line  int    // of the ---- below which it stands, or of the last line if there is none
}

// A Verdict is what a judge says of a history.
type Verdict struct {
	Name     string   // ok, violation or unknown
	Findings []string // names of what is wrong
	Allowed  []string // names of what the settings or the protocol permit
}

// A Judge judges a history. This package has none of its own: it knows only
// what happened, not what clients make of it.
type Judge func(*histories.History) (Verdict, error)

// A ScenarioRun is what came of a scenario.
type ScenarioRun struct {
	Blocks   []Account
	Schedule schedule.Schedule // its steps, and the fingerprint of this run
	History  *histories.History
	Verdict  Verdict
	Wrong    []error // expectations that were not met, each a [*schedule.Error]
	Stale    []error // traces that are not those of this run, each a [*schedule.Error]
	Text     []byte  // the scenario with the traces of this run
}

// An Account is what happened in one block.
type Account struct {
	Lines []string // the block's own, comments included
	Trace []string // changes of state, and the state after them
}

//go:embed testdata/scenario
var scenarioFiles embed.FS

const scenarioFolder = "testdata/scenario/"

// Scenarios returns the names of the scenarios that come with this package.
func Scenarios() []string {
	files, _ := fs.Glob(scenarioFiles, scenarioFolder+"*.txt")
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, scenarioFolder), ".txt")
	}
	return files
}

// ScenarioText returns the text of the scenario with that name.
func ScenarioText(name string) ([]byte, error) {
	text, err := scenarioFiles.ReadFile(scenarioFolder + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("no scenario %q; expected one of %s", name, strings.Join(Scenarios(), ", "))
	}
	return text, nil
}

//go:embed testdata/bugs
var bugFiles embed.FS

// BugText returns the scenario that shows a seeded bug.
func BugText(name string) ([]byte, error) {
	text, err := bugFiles.ReadFile("testdata/bugs/" + name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("no bug %q; expected one of %s", name, bugNames())
	}
	return text, nil
}

// RunScenario performs a scenario, twice, for every run of it must be the same;
// name is the file that errors point at. The error is about the text. What the run
// did otherwise than expected is in the result.
func RunScenario(name string, text []byte, judge Judge) (*ScenarioRun, error) {
	run, err := performScenario(name, text, judge)
	if err != nil {
		return nil, err
	}
	again, err := performScenario(name, text, func(*histories.History) (Verdict, error) { return Verdict{}, nil })
	if err != nil {
		return nil, err
	}
	if a, b := run.Schedule.Fingerprint, again.Schedule.Fingerprint; a != b || !bytes.Equal(run.Text, again.Text) {
		run.Wrong = append(run.Wrong, &schedule.Error{File: name, Line: 1, Column: 1, Msg: fmt.Sprintf("nondeterministic: two runs have the fingerprints %s and %s", a, b)})
	}
	return run, nil
}

func performScenario(name string, text []byte, judge Judge) (*ScenarioRun, error) {
	s, err := parseScenario(name, text)
	if err != nil {
		return nil, err
	}
	c, err := New(s.schedule, Options{Trace: true})
	if err != nil {
		var item *ItemError
		if errors.As(err, &item) {
			line, column := schedule.Find(text, item.Line, item.Word)
			return nil, &schedule.Error{File: name, Line: line, Column: column, Msg: item.Says}
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := s.refersTo(c); err != nil {
		return nil, err
	}
	c.held = true
	p := &performance{scenario: s, cluster: c, judge: judge, run: &ScenarioRun{}}
	for i := range s.blocks {
		if err := p.perform(&s.blocks[i]); err != nil {
			return nil, err
		}
	}
	p.run.Schedule = s.schedule
	p.run.Schedule.Fingerprint = c.Fingerprint()
	return p.run, nil
}

// A performance is a scenario under way.
type performance struct {
	*scenario
	cluster *Cluster
	judge   Judge
	run     *ScenarioRun
	traced  int      // lines of the trace that belong to earlier blocks
	table   []string // the state after the latest of them
	reached int64    // the time up to which the cluster ran
}

func (p *performance) perform(b *block) error {
	for i := range b.does {
		if err := b.does[i].do(p, b, &b.does[i]); err != nil {
			return err
		}
	}
	trace := slices.Clone(p.trace())
	p.traced = len(p.cluster.trace)
	table := p.cluster.table(p.reached)
	trace = append(trace, marked(table, p.table)...)
	p.table = table
	p.run.Blocks = append(p.run.Blocks, Account{b.lines, trace})
	below := strings.Join(trace, "\n") + "\n"
	if below != b.trace {
		p.run.Stale = append(p.run.Stale, p.errorAt(b.line, "expected below this line the trace of what happens; go test ./impl -update writes it"))
	}
	p.run.Text = fmt.Appendf(p.run.Text, "%s\n----\n%s\n", strings.Join(b.lines, "\n"), below)
	return nil
}

// trace is what happened in the present block so far.
func (p *performance) trace() []string { return p.cluster.trace[p.traced:] }

func (p *performance) wrong(line int, format string, args ...any) {
	p.run.Wrong = append(p.run.Wrong, p.errorAt(line, format, args...))
}

// advance performs what is due before a time, until done says so. It reports
// whether done did. A step of a later block must not be due: it would happen
// before what is written above it.
func (p *performance) advance(b *block, cmd *command, before int64, done func() bool) (bool, error) {
	c := p.cluster
	for !done() {
		due := c.queue.next()
		if c.next < len(c.actions) {
			if a := c.actions[c.next].at; a <= due && a < before && c.next >= b.steps {
				return false, p.errorAt(p.schedule.Steps[c.next].Line, "this step is due at %d, before the end of the run in line %d", a, cmd.line)
			} else if a < due {
				due = a
			}
		}
		if due >= before {
			p.reached = before
			return false, nil
		}
		c.Step()
		p.reached = c.now
	}
	return true, nil
}

// runTo performs what is due before a time.
func runTo(p *performance, b *block, cmd *command) error {
	if cmd.ms < p.reached {
		return p.errorAt(cmd.line, "expected a time after %d, which the cluster has reached", p.reached)
	}
	_, err := p.advance(b, cmd, cmd.ms, func() bool { return false })
	return err
}

// runUntil performs what is due until all claims hold.
func runUntil(p *performance, b *block, cmd *command) error {
	holds := func() bool {
		return !slices.ContainsFunc(cmd.claims, func(k claim) bool { return !k.holds(p.cluster) })
	}
	done, err := p.advance(b, cmd, p.reached+cmd.ms, holds)
	if err == nil && !done {
		p.wrong(cmd.line, "not reached within %d ms", cmd.ms)
		return expectState(p, b, cmd)
	}
	return err
}

// conclude runs the cluster to its end, and has the history judged.
func conclude(p *performance, _ *block, _ *command) error {
	p.cluster.held = false
	for p.cluster.Step() {
	}
	p.reached = p.cluster.now
	h, err := p.cluster.history()
	if err != nil {
		return err
	}
	p.run.History = h
	p.run.Verdict, err = p.judge(h)
	return err
}
