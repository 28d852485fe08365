package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

func (a *app) explain() *cobra.Command {
	var how judging
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain FILE",
		Short: "Say in words what a history shows",
		Long: "explain judges a history and says what is wrong with it, or why nothing is: the verdict\n" +
			"in a sentence, the promise that was broken, a timeline of just the operations that prove\n" +
			"it, what they should have answered, how far the history is legal, which part of each\n" +
			"producer's records is lost, and what to type next. The exit code is the verdict's. - is stdin.",
		Example: "  check explain failures/lost-write-9c1f02ab55d01e77.hist",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := how.valid(); err != nil {
				return err
			}
			a.explainFile(args[0], how, asJSON)
			return nil
		},
	}
	a.limitFlag(cmd)
	how.flags(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) explainFile(name string, how judging, asJSON bool) {
	ctx := context.Background()
	h, err := a.read(ctx, name)
	if err != nil {
		a.fail(exitInput, err)
		return
	}
	end := newProgress(a.err).during("judging " + label(name))
	r := how.explained(ctx, h)
	end()
	j := judgement{file: name, header: h.Header(), result: r}
	a.worsen(j.exit())
	if asJSON {
		a.ink = false
		a.encode(explanationJSON(j, a.explanation(h, j)))
	} else {
		fmt.Fprint(a.out, a.explanation(h, j))
	}
	if j.exit() == exitInternal {
		a.reportBug(r.Reason, name)
	}
}

// jsonExplanation is the JSON of an explanation. Names are part of the command
// line's contract.
type jsonExplanation struct {
	File string        `json:"file"` // path, or - for stdin
	Text string        `json:"text"` // what is printed without --json
	Next string        `json:"next"` // what to type or to do next
	Case jsonJudgement `json:"case"` // as verify prints it
}

func explanationJSON(j judgement, text string) jsonExplanation {
	return jsonExplanation{j.file, text, advice(j), asJSON(j)}
}

// maxExplained is how many lines an explanation has, unless what proves a finding
// takes more.
const maxExplained = 20

// explanation is the verdict in a sentence, with what a person needs to believe
// it and to act on it. Of the notes and the faults it shows those for which there is
// room.
func (a *app) explanation(h *histories.History, j judgement) (text string) {
	for notes := min(maxNotes, len(j.result.Notes)); notes >= 0; notes-- {
		for faults := maxFaults; faults >= 0; faults-- {
			if text = a.explained(h, j, faults, notes); strings.Count(text, "\n") <= maxExplained {
				return text
			}
		}
	}
	return text
}

func (a *app) explained(h *histories.History, j judgement, faults, notes int) string {
	var b strings.Builder
	r := j.result
	switch r.Verdict {
	case checker.Violates:
		a.explainViolation(&b, h, r, faults)
	case checker.Conforms:
		a.explainOK(&b, h, r)
	default:
		fmt.Fprintf(&b, "%s: %s.\n", a.ink.yellow(r.Verdict.String()), clip(r.Reason, saysWidth))
	}
	if text := unmet(h.Header(), r); text != "" {
		fmt.Fprintln(&b, text)
	}
	explainNotes(&b, r.Notes, notes)
	if n := len(r.Assumptions); n > 0 {
		fmt.Fprintf(&b, "Assumed, for the header does not say: %s.\n", strings.Join(r.Assumptions, " "))
	}
	fmt.Fprintf(&b, "\nNext: %s\n", advice(j))
	return b.String()
}

// explainViolation tells of the first finding, and names the others.
func (a *app) explainViolation(b *strings.Builder, h *histories.History, r *checker.Result, faults int) {
	var bad []checker.Finding
	for _, f := range r.Findings {
		if f.Allowed == "" {
			bad = append(bad, f)
		}
	}
	first := bad[0]
	fmt.Fprintf(b, "%s: %s.\n", a.ink.red(first.Name), sentence(clip(first.Says, saysWidth)))
	fmt.Fprintf(b, "That breaks a promise: every client may rely on %s.\n", strings.TrimSuffix(first.Rule, "."))
	fmt.Fprintf(b, "\n%s", timeline(h, first.Evidence, faults))
	fmt.Fprint(b, "\n", duties(h, first))
	if r.Legal != nil {
		fmt.Fprintf(b, "%s.\n", legalUpTo(r))
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(b, "Lost: %s.\n", clip(losses(r), saysWidth))
	}
	switch {
	case first.Partition == "" && checker.OfLogtest(h.Header()):
		fmt.Fprintf(b, "The test reports that itself; what its clients saw need not show it.\n")
	case first.Partition == "":
		fmt.Fprintf(b, "The cluster reports that itself; its clients need not have seen it.\n")
	default:
		fmt.Fprintf(b, "That is %d of %s, on %s.\n", len(first.Evidence), count(len(h.Ops()), "operation"), clip(first.Partition, nameWidth))
	}
	also := map[string]int{}
	var names []string
	for _, f := range bad[1:] {
		if also[f.Name] == 0 {
			names = append(names, f.Name)
		}
		also[f.Name] += 1 + f.More
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, also[name])
	}
	if len(names) > 0 {
		fmt.Fprintf(b, "Found as well, as its consequences or beside it: %s.\n", strings.Join(names, ", "))
	}
}

// unmet says that a history does not show what its header expects, "" if it does
// or the header expects nothing.
func unmet(hd histories.Header, r *checker.Result) string {
	switch {
	case hd.Expect.Verdict == "" || r.Meets(hd.Expect):
		return ""
	case slices.Contains(hd.Expect.Names, "nondeterministic"):
		return "The case expects " + hd.Expect.String() + ": two runs of its schedule differed, and this is one of them, which alone does not show it."
	}
	return "The case expects " + hd.Expect.String() + ", which this history does not show."
}

// duties says what the operations of a finding should have done.
func duties(h *histories.History, f checker.Finding) string {
	var b strings.Builder
	for _, e := range f.Evidence {
		if e.Should == "" {
			continue
		}
		i := slices.IndexFunc(h.Ops(), func(o histories.Op) bool { return o.Index == e.Index })
		o := &h.Ops()[i]
		fmt.Fprintf(&b, "The %s by %s (%s) should have %s.\n", o.Kind, clip(label(o.Process), nameWidth), place(e), clip(e.Should, saysWidth))
	}
	return b.String()
}

// legalUpTo says how far a history is legal, and by which rule it is not any more if
// that is another one than in the end.
func legalUpTo(r *checker.Result) string {
	p := r.Legal
	if p.Skipped != "" {
		return "How far the history is legal is not known: " + p.Skipped
	}
	events := fmt.Sprintf("%s of %s", number(p.Events), count(p.Of, "event"))
	what := "line " + fmt.Sprint(p.Breaks.Line)
	if p.Breaks.Line == 0 {
		what = place(p.Breaks)
	}
	if p.Answer {
		what = "the answer in " + what
	}
	what = fmt.Sprintf("%s at time %d breaks it", what, p.At)
	if p.Rule != r.Names()[0] {
		what += ", as " + p.Rule
	}
	switch {
	case p.Events == 0:
		return fmt.Sprintf("Nothing of it is legal (0 of %s): %s", count(p.Of, "event"), what)
	case p.Line == 0:
		return fmt.Sprintf("Legal up to time %d (%s): %s", p.Time, events, what)
	}
	return fmt.Sprintf("Legal up to line %d and time %d (%s): %s", p.Line, p.Time, events, what)
}

// explainOK says why there is nothing to say.
func (a *app) explainOK(b *strings.Builder, h *histories.History, r *checker.Result) {
	e := r.Exercised
	fmt.Fprintf(b, "%s: what the clients saw is legal.\n", a.ink.green("ok"))
	fmt.Fprintf(b, "They made %s: %s with %s, %s of the sends acknowledged with acks=all, and %s that returned %s, through %s.\n",
		count(e.Operations, "operation"), count(e.Sends, "send"), count(e.Values, "value"), number(e.Acknowledged),
		count(e.Reads, "read"), count(e.Records, "record"), count(e.Faults, "fault"))
	b.WriteString(whatScansShow(h, e))
	how := "that alone decides it"
	if r.Engine != "rules" {
		how = fmt.Sprintf("the engine %s found an order of the operations that explains every answer", r.Engine)
	}
	fmt.Fprintf(b, "None of %s fires, and %s.\n", count(e.Rules, "rule"), how)
	explainAllowed(b, allowed(r))
}

// maxNotes is how many notes are told, of which a log of many partitions may have
// one for each.
const maxNotes = 3

// explainNotes tells what is worth knowing, whatever the verdict, as far as there is
// room.
func explainNotes(b *strings.Builder, notes []string, room int) {
	for _, note := range notes[:room] {
		fmt.Fprintf(b, "Worth knowing: %s.\n", clip(note, saysWidth))
	}
	if left := len(notes) - room; left > 0 && room > 0 {
		fmt.Fprintf(b, "There is more worth knowing: check verify tells %s.\n", count(left, "other note"))
	}
}

// whatScansShow says which partitions were read to their ends after everything
// that was acknowledged in them.
func whatScansShow(h *histories.History, e checker.Exercised) string {
	acked, scanned := map[string]int64{}, map[string]int64{}
	for _, o := range h.Ops() {
		switch {
		case o.Outcome != histories.OK:
		case o.Kind == histories.Send:
			acked[o.On] = max(acked[o.On], o.Return)
		case o.Kind == histories.Scan && o.End != histories.None:
			scanned[o.On] = max(scanned[o.On], o.Call)
		}
	}
	whole := 0
	for on, call := range scanned {
		if call >= acked[on] {
			whole++
		}
	}
	switch {
	case whole == 0:
		return ""
	case whole == e.Partitions:
		return fmt.Sprintf("The whole log was read at the end (%s), so nothing stays in the dark.\n", count(e.Scans, "scan"))
	}
	return fmt.Sprintf("%d of %s were read to the end after all that was acknowledged there; what nobody read of the others stays in the dark.\n", whole, count(e.Partitions, "partition"))
}

// explainAllowed says of each kind of what is permitted one finding, and how many
// more there are.
func explainAllowed(b *strings.Builder, findings []checker.Finding) {
	for len(findings) > 0 {
		f, more := findings[0], -1
		findings = slices.DeleteFunc(findings, func(g checker.Finding) bool {
			alike := g.Name == f.Name && g.Allowed == f.Allowed
			if alike {
				more += 1 + g.More
			}
			return alike
		})
		fmt.Fprintf(b, "Allowed by %s: %s, %s", f.Allowed, f.Name, clip(f.Says, saysWidth))
		if more > 0 {
			fmt.Fprintf(b, "; and %d like that", more)
		}
		b.WriteString(".\n")
	}
}

// sentence is what a finding says, without a full stop.
func sentence(says string) string { return strings.TrimSuffix(says, ".") }

// advice is what to type next.
func advice(j judgement) string {
	switch {
	case checker.OfLogtest(j.header) || j.result.Verdict == checker.Violates && (j.header.Schedule != "" || !j.isMinimal()):
		return next(j)
	case j.result.Verdict == checker.Violates && j.file == "-":
		return "save the history to a file, then: check report FILE -o " + newName("report", ".html")
	case j.result.Verdict == checker.Violates:
		return "check report " + shellWord(j.file) + " -o " + newName("report", ".html")
	case j.result.Verdict == checker.Conforms && j.header.Schedule != "" && j.file != "-":
		return "check replay " + shellWord(j.file)
	case j.result.Verdict == checker.Conforms:
		return "record more of the kind; check verify judges many files at once"
	}
	if strings.Contains(j.result.Reason, "what came after is not known") {
		return "copy the file again, as a whole, or record again and let it end"
	}
	if strings.Contains(j.result.Reason, "(list earliest)") {
		return "record the log start after the last scan (list earliest); check help exit-codes says what unknown means"
	}
	return "check help exit-codes says what unknown means; a final scan of the log settles most of it"
}
