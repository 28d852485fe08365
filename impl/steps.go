package impl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An action is a step that has been read: a fault's, or a client's request.
type action struct {
	at      int64
	fault   int // a place in Faults, or -1
	args    args
	silent  bool // a fault that did nothing: there is no end of it to tell
	client  string
	request request
}

// An ItemError says which item of a schedule cannot be used, and why.
type ItemError struct {
	Line int    // of a step in its text; 0 if there is none, and for settings and bugs
	Step string // as the schedule writes it, without the time; "" for settings and bugs
	Word string // at fault: key=value of a setting, the name of a bug, a word of a step
	Says string
}

func (e *ItemError) Error() string {
	text := e.Says
	if e.Step != "" {
		text = fmt.Sprintf("step %q: %s", e.Step, text)
	}
	if e.Line > 0 {
		text = fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// A wordError says what is wrong with one word of a step.
type wordError struct{ word, says string }

func (e *wordError) Error() string { return e.says }

// at is an error about a word of a step.
func at(word, format string, args ...any) error {
	return &wordError{word, fmt.Sprintf(format, args...)}
}

// itemOf turns an error about a word of a step into one about the step.
func itemOf(s *schedule.Step, err error) error {
	e := &ItemError{Line: s.Line, Step: brief(stepText(s)), Says: brief(err.Error())}
	var w *wordError
	if errors.As(err, &w) {
		e.Word = w.word
	}
	return e
}

// brief cuts the words of a text that are so long that nobody reads them.
func brief(text string) string {
	const longest = 80
	words := strings.Split(text, " ")
	for i, w := range words {
		if len(w) > longest {
			words[i] = strings.ToValidUTF8(w[:longest-3], "") + "..."
		}
	}
	return strings.Join(words, " ")
}

// readSteps reads all steps of a schedule, each into its place.
func readSteps(steps []schedule.Step, actions []action) error {
	for i := range steps {
		s := &steps[i]
		err := readStep(s, &actions[i])
		if err == nil && i > 0 && s.At < steps[i-1].At {
			err = fmt.Errorf("time %d is before that of the step above; expected steps in order of time", s.At)
		}
		if err != nil {
			return itemOf(s, err)
		}
		actions[i].args.step = i
	}
	return nil
}

// readStep reads a step into its place.
func readStep(s *schedule.Step, out *action) error {
	if s.At < 0 || s.At > dayOfMs {
		return at(strconv.FormatInt(s.At, 10), "time %d: expected milliseconds from 0 to %d", s.At, int64(dayOfMs))
	}
	if s.Actor == schedule.Nemesis {
		return readFault(s, out)
	}
	return readRequest(s, out)
}

// stepText is a step as its schedule writes it, without the time.
func stepText(s *schedule.Step) string { return s.Actor + " " + deedText(s) }

// deedText is a step without the time and without who does it.
func deedText(s *schedule.Step) string {
	text := make([]byte, 0, 64)
	text = append(text, s.Verb...)
	for _, w := range s.Words {
		text = append(append(text, ' '), w...)
	}
	for _, a := range s.Args {
		text = append(append(text, ' '), a.Key...)
		text = append(append(text, '='), a.Value...)
	}
	return string(text)
}

func readFault(s *schedule.Step, out *action) error {
	i := faultOf(s.Verb)
	if i < 0 {
		var verbs []string
		for _, f := range Faults {
			verbs = append(verbs, f.Verb)
		}
		return at(s.Verb, "unknown fault %q; expected one of %s", s.Verb, strings.Join(verbs, ", "))
	}
	if len(s.Words) > 0 {
		return at(s.Words[0], "unexpected word %q; arguments of a fault are key=value", s.Words[0])
	}
	out.at, out.fault = s.At, i
	out.args.from, out.args.to = anyNode, anyNode
	out.args.text = deedText(s)
	if err := checkKeys(s, faultArgs[i]); err != nil {
		return err
	}
	for k := range faultArgs[i] {
		spec := &faultArgs[i][k]
		j := argOf(s.Args, spec.Key)
		if j < 0 {
			if !spec.Optional {
				return at(s.Verb, "%s needs %s=", s.Verb, spec.Key)
			}
			continue
		}
		if err := out.args.read(spec, s.Args[j].Value); err != nil {
			return err
		}
	}
	return out.args.checkAmbush(s)
}

// checkKeys refuses arguments that are unknown or given twice.
func checkKeys(s *schedule.Step, specs []ArgSpec) error {
	for i, a := range s.Args {
		known := false
		for k := range specs {
			known = known || specs[k].Key == a.Key
		}
		if !known {
			return at(a.Key+"="+a.Value, "unknown argument %s=; %s takes %s", a.Key, s.Verb, keysOf(specs))
		}
		if argOf(s.Args[:i], a.Key) >= 0 {
			return at(a.Key+"="+a.Value, "argument %s= is given twice", a.Key)
		}
	}
	return nil
}

// argOf is the place of an argument, -1 if it is not given.
func argOf(args []schedule.Arg, key string) int {
	for i := range args {
		if args[i].Key == key {
			return i
		}
	}
	return -1
}

func keysOf(specs []ArgSpec) string {
	if len(specs) == 0 {
		return "none"
	}
	keys := make([]string, len(specs))
	for i, spec := range specs {
		keys[i] = spec.Key + "="
	}
	return strings.Join(keys, " ")
}

// read sets the field that an argument is for.
func (a *args) read(spec *ArgSpec, text string) error {
	switch {
	case spec.Kind == ClientArg:
		a.client = text
		return nil
	case spec.Key == "when":
		i, err := spec.place(text)
		a.when = moment(i + 1)
		return err
	case spec.Kind == MessageArg:
		_, err := spec.place(text)
		a.kind = kind(slices.Index(kindNames[:], text))
		return err
	case spec.Kind == ReplicasArg:
		return a.readReplicas(spec, text)
	case spec.Kind == BrokerArg || spec.Kind == NodeArg:
		return a.readNode(spec, text)
	}
	n, err := spec.number(text)
	if err != nil {
		return err
	}
	switch spec.Key {
	case "for":
		a.duration = n
	case "by":
		a.by = n
	case "within":
		a.within = n
	case "times":
		a.times = n
	case "lose":
		a.lose = n
	case "count":
		a.count = n
	case "slower":
		a.slower = n
	case "faster":
		a.faster = n
	case "partition":
		a.partition = int32(n)
	}
	return nil
}

func (a *args) readReplicas(spec *ArgSpec, text string) error {
	for each := range strings.SplitSeq(text, ",") {
		n, err := spec.number(each)
		if err != nil {
			return err
		}
		a.replicas = append(a.replicas, node(n))
	}
	return nil
}

// nodeOf is the field of an argument that names a node.
func (a *args) nodeOf(key string) *node {
	switch key {
	case "from":
		return &a.from
	case "to":
		return &a.to
	case "a":
		return &a.a
	case "b":
		return &a.b
	case "node":
		return &a.node
	case "of":
		return &a.of
	}
	return &a.broker
}

// place reads one of the values an argument may have.
func (spec *ArgSpec) place(text string) (int, error) {
	i := slices.Index(spec.Values, text)
	if i < 0 {
		return 0, at(spec.Key+"="+text, "%s=%s: expected one of %s", spec.Key, text, strings.Join(spec.Values, ", "))
	}
	return i, nil
}

// number reads an integer in the range of its kind.
func (spec *ArgSpec) number(text string) (int64, error) {
	lowest, highest := int64(1), int64(dayOfMs)
	switch spec.Kind {
	case BrokerArg, NodeArg, ReplicasArg:
		highest = maxBrokers
	case PartitionArg, OffsetArg:
		lowest, highest = 0, maxCount
	case CountArg:
		highest = maxCount
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < lowest || n > highest {
		or := ""
		if spec.Kind == NodeArg {
			or = ", or controller"
		}
		return 0, at(spec.Key+"="+text, "%s=%s: expected an integer from %d to %d%s", spec.Key, text, lowest, highest, or)
	}
	return n, nil
}

// A ClientVerb is something a client can be asked to do.
type ClientVerb struct {
	Verb, Says string
	Words      string // its positional arguments, in words
	Args       []ArgSpec

	read func(r *request, s *schedule.Step) error
}

var (
	viaArg = ArgSpec{Key: "via", Kind: BrokerArg, Optional: true}
	onArg  = ArgSpec{Key: "partition", Kind: PartitionArg, Optional: true}
	maxArg = ArgSpec{Key: "max", Kind: CountArg, Optional: true}
	posArg = ArgSpec{Key: "from", Kind: OffsetArg}
)

// ClientVerbs is the table of client steps.
var ClientVerbs = []ClientVerb{
	{"send", "append a batch", "V[,V...]", []ArgSpec{{Key: "acks", Kind: MessageArg, Optional: true, Values: acksNames}, viaArg, onArg}, readSend},
	{"fetch", "read at an offset", "", []ArgSpec{posArg, maxArg, viaArg, onArg}, readKind(histories.Fetch)},
	{"poll", "read at the consumer's position", "", []ArgSpec{maxArg, viaArg, onArg}, readKind(histories.Poll)},
	{"list", "ask where the log begins or ends", "latest|earliest", []ArgSpec{viaArg, onArg}, readList},
	{"assign", "set the consumer's position", "", []ArgSpec{posArg, onArg}, readKind(histories.Assign)},
	{"seek", "move the consumer's position", "OFFSET", []ArgSpec{onArg}, readOffset(histories.Seek)},
	{"delete-records", "move the log start", "OFFSET", []ArgSpec{viaArg, onArg}, readOffset(histories.DeleteRecords)},
}

// readRequest reads a client's step.
func readRequest(s *schedule.Step, out *action) error {
	i := 0
	for i < len(ClientVerbs) && ClientVerbs[i].Verb != s.Verb {
		i++
	}
	if i == len(ClientVerbs) {
		var verbs []string
		for _, v := range ClientVerbs {
			verbs = append(verbs, v.Verb)
		}
		return at(s.Verb, "unknown verb %q of a client; expected one of %s (faults belong to the actor %s)", s.Verb, strings.Join(verbs, ", "), schedule.Nemesis)
	}
	verb := &ClientVerbs[i]
	if err := checkKeys(s, verb.Args); err != nil {
		return err
	}
	words := 0
	if verb.Words != "" {
		words = 1
	}
	if len(s.Words) != words {
		return at(s.Verb, "%d words after %s; expected %q", len(s.Words), s.Verb, verb.Words)
	}
	if err := histories.CheckProcess(s.Actor); err != nil {
		return at(s.Actor, "client %q: a history cannot name it: %v", s.Actor, err)
	}
	out.at, out.fault, out.client = s.At, -1, s.Actor
	out.request.max, out.request.via = none, nobody
	for k := range verb.Args {
		if err := out.request.readArg(&verb.Args[k], s); err != nil {
			return err
		}
	}
	return verb.read(&out.request, s)
}

// readArg sets the field that an argument is for.
func (r *request) readArg(spec *ArgSpec, s *schedule.Step) error {
	j := argOf(s.Args, spec.Key)
	if j < 0 {
		if !spec.Optional {
			return at(s.Verb, "%s needs %s=", s.Verb, spec.Key)
		}
		return nil
	}
	text := s.Args[j].Value
	if spec.Key == "acks" {
		var err error
		r.statedAck = true
		r.acks, err = spec.place(text)
		return err
	}
	n, err := spec.number(text)
	if err != nil {
		return err
	}
	switch spec.Key {
	case "via":
		r.via = node(n)
	case "partition":
		r.partition = int32(n)
	case "max":
		r.max = n
	case "from":
		r.from = n
	}
	return nil
}

func readKind(k histories.Kind) func(*request, *schedule.Step) error {
	return func(r *request, _ *schedule.Step) error {
		r.kind = k
		return nil
	}
}

func readSend(r *request, s *schedule.Step) error {
	r.kind = histories.Send
	r.values = make([]int64, 0, strings.Count(s.Words[0], ",")+1)
	for text := range strings.SplitSeq(s.Words[0], ",") {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return at(s.Words[0], "value %q: expected an integer", text)
		}
		r.values = append(r.values, v)
	}
	return nil
}

func readList(r *request, s *schedule.Step) error {
	r.kind, r.latest = histories.List, s.Words[0] == "latest"
	if !r.latest && s.Words[0] != "earliest" {
		return at(s.Words[0], "list %s: expected latest or earliest", s.Words[0])
	}
	return nil
}

func readOffset(k histories.Kind) func(*request, *schedule.Step) error {
	return func(r *request, s *schedule.Step) error {
		n, err := strconv.ParseInt(s.Words[0], 10, 64)
		if err != nil || n < 0 || n > maxCount {
			return fmt.Errorf("%s %s: expected an offset", s.Verb, s.Words[0])
		}
		r.kind, r.from = k, n
		return nil
	}
}
