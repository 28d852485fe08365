package impl

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
