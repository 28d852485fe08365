// Package checker judges histories: is what the clients of a replicated log
// saw legal, and if not, which few operations prove it.
//
// [Check] raises no false alarm: a violation is one under every order of
// events that the history allows, and under every configuration it states. It
// can miss: what no client saw, no judge can see.
//
// The order of work is fixed. Named rules come first, each linear in the
// history and each a sentence that clients may rely on. What the settings
// excuse is set aside and listed. What remains is searched by porcupine for an
// order in which the committed-log model accepts it. Malformed input never
// gets here: it is refused when a history is built.
package checker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A Verdict is what a check concludes, ordered by how bad it is. The zero
// value has judged nothing and is never a pass.
type Verdict uint8

// The verdicts of the history format.
const (
	NotRun        Verdict = iota
	Conforms              // ok: the model accepts the history and no rule fires
	Undecided             // unknown: a budget ran out or the evidence is too thin
	Contradictory         // error: the checker contradicts itself
	Violates              // violation
)

// String returns the verdict's word in the history format.
func (v Verdict) String() string {
	return [...]string{"not run", "ok", "unknown", "error", "violation"}[v]
}

// ExitCode returns the exit code that the history format gives the verdict.
func (v Verdict) ExitCode() int { return [...]int{4, 0, 3, 4, 1}[v] }

// Options limits a check. The zero value has useful defaults. Budgets count
// model steps and the bytes the search holds, not seconds, so the same history
// gets the same verdict on every machine; a context that ends gives Undecided
// and says so.
type Options struct {
	Steps    int64 // model steps a partition; 0 means DefaultSteps
	Memory   int64 // bytes a judgement may hold, and a partition's search; 0 means DefaultMemory
	MaxInput histories.Limit
	Engine   Engine
	Terse    bool // write nothing down of permitted findings but their names, if there are no others

	atStake  bool // of transactions that came to nothing, something was
	verdicts bool // nobody reads why a search finds no order
}

// Defaults of [Options].
const (
	DefaultSteps  int64 = 20_000_000
	DefaultMemory int64 = 2 << 30
)

func (o Options) withDefaults() Options {
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	return o
}

// A Result is a verdict with what led to it.
type Result struct {
	Verdict     Verdict
	Reason      string    // why the verdict is Undecided or Contradictory
	ReasonKind  string    // why it is Undecided, without what is particular to this history: numbers, values, partitions
	gaveUp      string    // why a search was given up, "" if none was
	Findings    []Finding // allowed ones as well, in the order of the rules
	Notes       []string  // what is worth knowing and no finding
	Assumptions []string  // settings the history does not state, as key=default
	Exercised   Exercised
	Engine      string // the engine that decided; "rules" if no search was needed

	// Lost groups the records that findings about losses speak of.
	Lost []Loss

	// Legal is how far a history that is a violation is legal. Check leaves it
	// nil, because it takes further checks; see [Explain].
	Legal *Prefix
}

// A Finding is one broken promise.
type Finding struct {
	Name      string // anomaly name of the history format
	Partition string
	Allowed   string // the setting that permits it; "" if nothing does
	Says      string // what happened, in a sentence without its full stop
	Rule      string // completes "every client may rely on ..."
	Evidence  []Evidence
	More      int // further findings of the same name in this partition that are not listed

	says    sentence                 // until it is shown
	ops     []*histories.Op          // what proves it, the more important first, until it is shown
	more    []func() []*histories.Op // which follow
	marks   []*histories.Mark        // and beside them
	duties  []duty                   // what they should have done
	about   []histories.Value
	offsets []int64
}

// Evidence is an operation or a mark that proves a finding.
type Evidence struct {
	Index int // in order of invocation among operations and marks
	Line  int // in the file, 0 if the history was not read from one
	Text  string
	// Should completes "it should have"; "" for an operation that is fine.
	Should string
}

// Exercised says how much was at stake. Acknowledged are the sends that have to be
// kept: with acks=all.
type Exercised struct {
	Operations, Sends, Acknowledged, Values, Reads, Records, Scans, Faults, Partitions, Rules int
	Steps                                                                                     int64 // of the model
}

// String says how much was at stake in words.
func (e Exercised) String() string {
	return fmt.Sprintf("%s on %s: %s (%s to be kept: acknowledged with acks=all), %s with %s, %s, %s; %s, %s",
		Counted(e.Operations, "operation"), Counted(e.Partitions, "partition"), Counted(e.Sends, "send"), Number(e.Acknowledged), Counted(e.Reads, "read"),
		Counted(e.Records, "record"), Counted(e.Scans, "scan"), Counted(e.Faults, "fault"), Counted(e.Rules, "rule"), Counted(e.Steps, "model step"))
}

// Names returns the names of the findings that nothing permits, each once, in
// the order of the rules.
func (r *Result) Names() []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if f.Allowed == "" && !seen[f.Name] {
			seen[f.Name] = true
			names = append(names, f.Name)
		}
	}
	return names
}

// Err returns nil if the verdict is Conforms, and otherwise an error that says
// what it is and why.
func (r *Result) Err() error {
	switch r.Verdict {
	case Conforms:
		return nil
	case Violates:
		return fmt.Errorf("violation %s: %s", strings.Join(r.Names(), ","), r.first().Says)
	}
	return fmt.Errorf("%s: %s", r.Verdict, r.Reason)
}

func (r *Result) first() Finding {
	for _, f := range r.Findings {
		if f.Allowed == "" {
			return f
		}
	}
	return Finding{}
}

// Meets reports whether the verdict is the expected one: the same verdict, and
// for a violation every expected name among the findings that nothing permits.
func (r *Result) Meets(e histories.Expect) bool {
	if r.Verdict.String() != e.Verdict {
		return false
	}
	have := r.Names()
	for _, want := range e.Names {
		if !slices.Contains(have, want) {
			return false
		}
	}
	return true
}

// Check judges a history. The same history and options give the same Result
// on any machine, unless ctx ends first.
func Check(ctx context.Context, h *histories.History, opts Options) *Result {
	if opts.Engine == Auto {
		least := sectioned
		if len(h.Ops()) < sectioned {
			least = never
		}
		if r, _, ok := judgeSuspects(ctx, handOver(h), opts, least); ok {
			return r
		}
	}
	if why := weigh(h).exceeds(opts.Memory, "the history"); why != "" {
		return tooHeavy(h.Config(), Exercised{Operations: len(h.Ops())}, why)
	}
	if ts := findTransactions(h); ts != nil {
		return ts.judge(ctx, opts)
	}
	return checkThoroughly(ctx, h, opts)
}

// checkThoroughly judges any history, and names what is wrong with it.
func checkThoroughly(ctx context.Context, h *histories.History, opts Options) *Result {
	j := newJudge(h, opts)
	j.applyRules()
	j.search(ctx)
	j.noteThinEvidence()
	j.conclude()
	return &j.result
}

// checkQuickly judges a history that is plainly legal.
func checkQuickly(h *histories.History) (*Result, bool) {
	r, _, ok := judgeSuspects(context.Background(), handOver(h), Options{}, never)
	return r, ok
}

// Add adds what another check exercised.
func (e *Exercised) Add(o Exercised) {
	e.Operations += o.Operations
	e.Sends += o.Sends
	e.Acknowledged += o.Acknowledged
	e.Values += o.Values
	e.Reads += o.Reads
	e.Records += o.Records
	e.Scans += o.Scans
	e.Faults += o.Faults
	e.Partitions += o.Partitions
	e.Rules = max(e.Rules, o.Rules)
	e.Steps += o.Steps
}
