package impl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/schedule"
)

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
