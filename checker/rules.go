package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
)

// A rule is a mistake with a name. says completes "every client may rely on".
// check is linear in the partition and names the fewest operations a person
// needs to look at. A rule about the log is implied by the model: where it
// fires, no order of the operations is legal. A rule about one client's session
// stands beside the model.
type rule struct {
	name   string
	says   string
	log    bool
	excuse func(c histories.Config) string // the setting that permits it, "" if none does
	check  func(p *partition) []Finding
}

// rules is the only list of them. Their order is the order of findings: causes
// before consequences.
var rules = []rule{
	{name: "phantom", log: true, check: phantoms,
		says: "every record having been sent by somebody"},
	{name: "aborted-read", log: true, check: abortedReads,
		says: "a write that was refused never being seen"},
	{name: lostWrite, log: true, check: lostWrites, excuse: truncation,
		says: "an acknowledged write (acks=all) staying in the log"},
	{name: "inconsistent-offsets", log: true, check: inconsistentOffsets, excuse: truncation,
		says: "an offset holding one value for ever"},
	{name: "read-then-lost", log: true, check: readThenLost, excuse: truncation,
		says: "a record that somebody read staying in the log"},
	{name: "offset-mismatch", log: true, check: offsetMismatches, excuse: truncation,
		says: "a record being at the offset its producer was told"},
	{name: duplicate, log: true, check: duplicates, excuse: retries,
		says: "a value being in the log at most once for each send of it"},
	{name: "early-read", log: true, check: readBeforeSent,
		says: "a record being visible only once it was sent"},
	{name: "early-read", check: readAboveMark,
		says: "a record being visible only below the mark reported with it"},
	{name: "realtime-order", log: true, check: realtimeOrder, excuse: truncation,
		says: "a write that was done before another began being before it in the log"},
	{name: "end-regression", check: endsToldBack, excuse: endMayGoBack,
		says: "the end of the log as it is told never going back"},
	{name: "end-regression", log: true, check: endsProvenBack, excuse: truncation,
		says: "the log keeping everything below an end it told"},
	{name: "gap", log: true, check: gaps,
		says: "every offset below the end holding a record (offsets=dense)"},
	{name: "stale-read", log: true, check: staleReads, excuse: truncation,
		says: "a read seeing everything acknowledged before it began (reads=linearizable)"},
	{name: "nonmonotonic-send", check: nonmonotonicSends, excuse: truncation,
		says: "one producer's writes being in the log in the order it sent them"},
	{name: "int-nonmonotonic-send", log: true, check: intNonmonotonicSends, excuse: truncation,
		says: "the values of one batch being in the log in the order of the batch"},
	{name: "nonmonotonic-poll", check: nonmonotonicPolls,
		says: "a consumer's polls never going back unless something reset its position"},
	{name: "int-nonmonotonic-poll", check: intNonmonotonicPolls,
		says: "the records of one answer being in order of their offsets"},
	{name: "poll-skip", log: true, check: pollSkips,
		says: "a reader never jumping over a record that exists"},
	{name: "poll-skip", check: silentResets,
		says: "a consumer never jumping over records that were deleted unless a reset tells it"},
	{name: "int-poll-skip", log: true, check: intPollSkips,
		says: "one answer never leaving out a record between two others"},
}

// lostWrite is the rule whose permission lets records vanish.
const lostWrite = "lost-write"

// duplicate is the rule whose permitted findings do not weaken what the model
// says of the rest.
const duplicate = "duplicate"

const (
	uncleanKey = "unclean.leader.election.enable"
	idemKey    = "enable.idempotence"
)

// truncation excuses what an unclean leader election may do: committed records
// vanish and their offsets are used again.
func truncation(c histories.Config) string {
	if c.Get(uncleanKey) == "true" {
		return uncleanKey + "=true"
	}
	return ""
}

// retries excuses copies that a producer's retries make without idempotence.
func retries(c histories.Config) string {
	if c.Get(idemKey) == "false" {
		return idemKey + "=false"
	}
	return ""
}

// endMayGoBack excuses what brokers before KIP-207 did after an election.
func endMayGoBack(c histories.Config) string {
	if c.Get("kip-207") == "false" {
		return "kip-207=false"
	}
	return truncation(c)
}

// allowedByName returns the header's allow entry for a finding, "" if there is
// none.
func allowedByName(c histories.Config, name string) string {
	for allowed := range strings.SplitSeq(c.Get("allow"), ",") {
		if allowed == name {
			return "allow=" + name
		}
	}
	return ""
}

// perRule is how many findings of one rule are listed for one partition.
const perRule = 10

// apply runs a rule and says of each finding what permits it.
func (r *rule) apply(p *partition) []Finding {
	found := r.check(p)
	for i := range found {
		found[i].Partition = p.name
	}
	return listed(found, r.name, r.says, r.excuse, p.config)
}

// listed are the first findings of a rule, with its name, what it says, and what
// permits them.
func listed(found []Finding, name, says string, excuse func(histories.Config) string, c histories.Config) []Finding {
	if len(found) == 0 {
		return nil
	}
	allowed := allowedByName(c, name)
	if allowed == "" && excuse != nil {
		allowed = excuse(c)
	}
	if more := len(found) - perRule; more > 0 {
		found = found[:perRule]
		found[perRule-1].More = more
	}
	for i := range found {
		f := &found[i]
		f.Name, f.Rule, f.Allowed = name, says, allowed
	}
	return found
}

// proof makes a finding from a sentence and the operations that prove it. Of
// more than can be named the first are.
func proof(ops []*histories.Op, format string, args ...any) Finding {
	return Finding{says: sentence{format, args}, ops: ops}
}

// should adds what one of the operations should have done; the words complete
// "it should have".
func (f Finding) should(o *histories.Op, format string, args ...any) Finding {
	f.duties = append(f.duties, duty{o, sentence{format, args}})
	return f
}

// from adds what shows that an answer speaks for an offset.
func (f Finding) from(p *partition, r *read, offset int64) Finding {
	ops, mark := p.reach(r, offset)
	return f.with(ops...).after(mark)
}

// at adds what shows that an empty answer was asked for at its position.
func (f Finding) at(p *partition, o *histories.Op) Finding {
	if r := p.readOf[o]; r != nil && len(o.Records) == 0 {
		return f.from(p, r, r.position)
	}
	return f
}

// after adds a mark that proves it, if there is one.
func (f Finding) after(m *histories.Mark) Finding {
	if m != nil {
		f.marks = append(f.marks, m)
	}
	return f
}

// then adds operations that prove it, which are looked for once they are needed.
func (f Finding) then(ops func() []*histories.Op) Finding {
	f.more = append(f.more, ops)
	return f
}

// with adds operations that prove it.
func (f Finding) with(ops ...*histories.Op) Finding {
	f.ops = append(f.ops, ops...)
	return f
}

// around adds offsets of which an answer has to be looked at closely.
func (f Finding) around(offsets ...int64) Finding {
	f.offsets = append(f.offsets, offsets...)
	return f
}

// naming adds the values that the sentence speaks of.
func (f Finding) naming(values ...histories.Value) Finding {
	f.about = append(f.about, values...)
	return f
}

// A duty is what an operation should have done and did not.
type duty struct {
	op   *histories.Op
	says sentence
}

// A sentence is one that nobody has written down yet: of many findings nobody
// reads what they say.
type sentence struct {
	format string
	args   []any
}

func (s sentence) String() string { return shortened(fmt.Sprintf(s.format, s.args...)) }

// A phrase is a part of a sentence, put into words together with it.
type phrase func() string

func (p phrase) String() string { return p() }

// show writes down what a finding says and the operations that prove it, if that
// has not been done.
func (f *Finding) show() {
	if f.says.format == "" {
		return
	}
	for _, m := range f.marks {
		f.Evidence = append(f.Evidence, Evidence{Index: m.Index, Line: m.Line, Text: m.String()})
	}
	for _, more := range f.more {
		f.ops = append(f.ops, more()...)
	}
	for _, o := range f.ops {
		if len(f.Evidence) == mostNamed || slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Index == o.Index }) {
			continue
		}
		e := Evidence{Index: o.Index, Line: o.Line, Text: brief(o, f.about, f.offsets)}
		for _, d := range f.duties {
			if d.op == o {
				e.Should = d.says.String()
			}
		}
		f.Evidence = append(f.Evidence, e)
	}
	slices.SortFunc(f.Evidence, func(a, b Evidence) int { return a.Index - b.Index })
	f.Says = f.says.String()
	f.says, f.ops, f.more, f.marks, f.duties, f.offsets = sentence{}, nil, nil, nil, nil, nil
}

// breaches are what a simulated cluster confessed to: invariants that broke,
// and that it never became calm. They are findings about the run, not about
// what clients saw.
func (j *judge) breaches() []Finding {
	var found []Finding
	for i := range j.marks {
		m := &j.marks[i]
		var f Finding
		if name, detail, ok := BreachOf(m); ok {
			f.Name, f.Says = "invariant "+name, fmt.Sprintf("The cluster broke its invariant %s%s", name, detail)
			f.Rule = "the cluster keeping the invariants of its protocol"
		} else if why, ok := NotLiveOf(m); ok {
			f.Name, f.Says = notLive, "After the faults had ended the cluster did not become calm: "+why
			f.Rule = "the cluster converging once nothing disturbs it"
		} else {
			continue
		}
		f.Evidence = []Evidence{{Index: m.Index, Line: m.Line, Text: m.String()}}
		f.Allowed = allowedByName(j.config, f.Name)
		j.aboutLog(&f, m)
		found = append(found, f)
	}
	return found
}

// Confesses reports whether a mark is a finding by itself: something that a
// simulated cluster knows of its own state and no client can see.
func Confesses(m *histories.Mark) bool {
	_, _, breach := BreachOf(m)
	_, notLive := NotLiveOf(m)
	return breach || notLive
}

// NotLiveOf returns why a run never became calm, if a mark says so. A simulated
// cluster writes "not live: why".
func NotLiveOf(m *histories.Mark) (why string, ok bool) {
	why, ok = strings.CutPrefix(m.Text, "not live: ")
	return why, ok && m.Kind == histories.Nemesis
}

// BreachOf returns the invariant that a mark says was broken. A simulated
// cluster writes "invariant NAME broken: what happened", which begins with the
// partition where there are several.
func BreachOf(m *histories.Mark) (name, detail string, ok bool) {
	rest, ok := strings.CutPrefix(m.Text, "invariant ")
	if !ok || m.Kind != histories.Nemesis {
		return "", "", false
	}
	name, detail, ok = strings.Cut(rest, " broken")
	return name, detail, ok && !strings.Contains(name, " ")
}
