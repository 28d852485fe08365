package impl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories/schedule"
)

// An ArgKind is the type of an argument.
type ArgKind uint8

// The types of arguments.
const (
	BrokerArg    ArgKind = iota // a broker's number
	NodeArg                     // a broker's number, or "controller"
	DurationArg                 // milliseconds, at least 1
	CountArg                    // an integer, at least 1
	MessageArg                  // one of Values: a kind of message, or of acknowledgement
	ClientArg                   // a client's name
	PartitionArg                // a partition's number
	OffsetArg                   // an offset
	ReplicasArg                 // brokers' numbers, comma separated
)

// An ArgSpec is one key=value argument.
type ArgSpec struct {
	Key      string
	Kind     ArgKind
	Optional bool
	Values   []string // of a MessageArg
}

var (
	brokerArg   = ArgSpec{Key: "broker", Kind: BrokerArg}
	forArg      = ArgSpec{Key: "for", Kind: DurationArg}
	optionalFor = ArgSpec{Key: "for", Kind: DurationArg, Optional: true}
	countArg    = ArgSpec{Key: "count", Kind: CountArg, Optional: true}
	fromArg     = ArgSpec{Key: "from", Kind: NodeArg, Optional: true}
	toArg       = ArgSpec{Key: "to", Kind: NodeArg, Optional: true}
)

// args are a step's arguments, read.
type args struct {
	broker, from, to, a, b, node node
	duration, lose, count, by    int64
	slower, faster               int64
	replicas                     []node
	kind                         kind
	when                         moment
	within                       int64
	of                           node  // whom the moment has to be about, 0 for anybody
	times, left                  int64 // how often the fault strikes, and will
	client                       string
	partition                    int32
	text                         string // the fault in words
	step                         int
	said                         int64 // the place of text among what faults said, from 1; 0 if it is that of the step
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
