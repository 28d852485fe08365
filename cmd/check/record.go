package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/impl/kafka"
)

// A recorder is the command record, and the first half of live.
type recorder struct {
	app       *app
	config    kafka.Config
	security  kafka.Security
	faults    liveFaults
	bootstrap []string // a side each
	topic     map[string]string
	file      string // with properties
	to        string
	force     bool
	json      bool
}

func (a *app) record() *cobra.Command {
	r := &recorder{app: a}
	cmd := &cobra.Command{
		Use:   "record --bootstrap HOST:PORT,... -o FILE",
		Short: "Record what clients of a live cluster see",
		Long: "record works on a cluster that speaks the Kafka protocol, and writes down who asked what,\n" +
			"when, and what came back: producers send values that nobody sent before, consumers read\n" +
			"from explicit positions, and at the end every partition is read from its log start to its\n" +
			"end. One operation is one attempt on the wire. Unless --existing names one, which has to\n" +
			"be empty, a topic is made for the recording, and stays.\n" +
			"FILE is written as it goes: what a killed recorder leaves behind can be judged, and is\n" +
			"unknown or a violation. An interrupt, SIGTERM or SIGHUP ends the work early and reads the\n" +
			"partitions all the same; a second one ends at once. The exit code is 3 if a partition could\n" +
			"not be read to its end, or if nothing is recorded since the cluster does not tell the\n" +
			"settings of the topic.\n" +
			"Passwords and keys are in no recording; give them by --config or a variable.",
		Example: "  check record --bootstrap localhost:9092 --partitions 3 --duration 1m -o run.jsonl.zst\n" +
			"  check record --config client.properties --topic-config min.insync.replicas=2 -o run.jsonl.zst\n" +
			"  check verify run.jsonl.zst",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			if err := fileIsNew(r.to, r.force); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			recorded, err := r.record(ctx, r.to)
			if err != nil {
				a.noRecording(ctx, err)
				return nil
			}
			if r.json {
				a.encode(recorded.json())
			} else {
				fmt.Fprint(a.out, recorded.text(), "  next: check verify "+shellWord(r.to)+"\n")
			}
			return nil
		},
	}
	r.flags(cmd, "the file to write (.jsonl, .jsonl.gz or .jsonl.zst)", "replace FILE if it is there")
	return cmd
}

// flags are those of every command that records, with what it says of its output
// and of --force.
func (r *recorder) flags(cmd *cobra.Command, output, force string) {
	flags := cmd.Flags()
	flags.StringVarP(&r.to, "output", "o", "", output)
	flags.BoolVar(&r.force, "force", false, force)
	jsonFlag(cmd, &r.json)
	cmd.MarkFlagRequired("output")
	c, s := &r.config, &r.security
	flags.StringArrayVar(&r.bootstrap, "bootstrap", nil, "addresses of brokers, as HOST:PORT,HOST:PORT; if given again, some clients know only the first ones and some only the second")
	flags.StringVar(&r.file, "config", "", "a properties file as Kafka's own clients take it: addresses, TLS, SASL")
	flags.StringVar(&c.Topic, "topic", "", "the topic to make (default a new name for every recording)")
	flags.Int32Var(&c.Partitions, "partitions", 1, "partitions of the topic")
	flags.Int16Var(&c.ReplicationFactor, "replication-factor", 0, "replicas of each partition; 0 is the cluster's default")
	flags.StringToStringVar(&r.topic, "topic-config", nil, "settings of the topic, as KEY=VALUE,KEY=VALUE; with --existing, what the cluster may not tell")
	flags.BoolVar(&c.Existing, "existing", false, "use the topic as it is; it has to be empty")
	flags.IntVar(&c.Producers, "producers", 4, "clients that send")
	flags.IntVar(&c.Consumers, "consumers", 2, "clients that read; each reads every partition")
	flags.BoolVar(&c.Group, "group", false, "make the consumers one group, whose members are assigned partitions")
	flags.IntVar(&c.Rate, "rate", 0, "sends a second, of all producers together; 0 is as fast as they can")
	flags.IntVar(&c.Batch, "batch", 1, "records of one send")
	flags.IntVar(&c.InFlight, "in-flight", 1, "sends that a producer has under way at a time")
	flags.StringVar(&c.Acks, "acks", "all", "who has to have a record: all of the ISR, 1 (the leader), or 0")
	flags.BoolVar(&c.Idempotent, "idempotent", false, "let the client library retry, idempotently: a send is what comes of all its attempts")
	flags.StringVar(&c.Isolation, "isolation", "read_uncommitted", "what consumers see of transactions: read_uncommitted or read_committed")
	flags.StringVar(&c.Reads, "reads", "committed", "what reads are judged by: committed or linearizable")
	flags.DurationVar(&c.Duration, "duration", kafka.DefaultDuration, "how long to work before the partitions are read")
	flags.DurationVar(&c.Timeout, "request-timeout", kafka.DefaultTimeout, "how long one request may take")
	flags.DurationVar(&c.Settle, "settle", kafka.DefaultSettle, "how long the cluster may take to answer again after the last fault")
	r.faults.add(flags)
	flags.BoolVar(&s.TLS, "tls", false, "connect by TLS")
	flags.StringVar(&s.CA, "ca", "", "certificates to trust (PEM; default the system's)")
	flags.StringVar(&s.Cert, "cert", "", "the client's certificate (PEM)")
	flags.StringVar(&s.Key, "key", "", "the key of the client's certificate (PEM)")
	flags.StringVar(&s.Mechanism, "sasl-mechanism", "", "how to log in: "+strings.Join(kafka.Mechanisms, ", "))
	flags.StringVar(&s.User, "sasl-username", "", "whom to log in as")
	flags.StringVar(&s.Password, "sasl-password", "", "the password; other users of the machine see what is typed, so better set ISRCHECK_SASL_PASSWORD")
}

// prepare puts together what the flags and the file of properties say. Flags
// come first.
func (r *recorder) prepare() error {
	addresses := r.bootstrap
	if r.file != "" {
		s, bootstrap, err := kafka.ReadProperties(r.file)
		if err != nil {
			return err
		}
		if len(addresses) == 0 && bootstrap != "" {
			addresses = []string{bootstrap}
		}
		r.security = s.With(r.security)
	}
	if err := cmp.Or(r.positive(), r.faults.validate()); err != nil {
		return err
	}
	switch {
	case r.faults.local && len(addresses)+len(r.file) > 0:
		return errors.New("--local starts a cluster of its own: leave out --bootstrap and --config")
	case r.faults.local && r.config.Existing:
		return errors.New("--local starts a cluster of its own, in which there is no topic yet: leave out --existing")
	case r.faults.local && r.secured():
		return errors.New("--local starts a cluster without TLS and SASL: leave out their flags")
	case r.faults.local:
		r.security = kafka.Security{}
		addresses = []string{"localhost:9092"} // of the cluster that is started, for now
	case len(addresses) == 0:
		return errors.New("expected the address of a broker, by --bootstrap or by bootstrap.servers in the --config file, or --local")
	}
	for _, side := range addresses {
		var seeds []string
		for _, address := range strings.Split(side, ",") {
			seeds = append(seeds, strings.TrimSpace(address))
		}
		r.config.Sides = append(r.config.Sides, seeds)
	}
	if err := r.security.Apply(&r.config); err != nil {
		return err
	}
	r.config.TopicConfig = r.topic
	return r.config.Validate()
}

// secured reports whether a flag asks for TLS or SASL. A password alone, which may
// be set for other commands in a variable, does not.
func (r *recorder) secured() bool {
	s := r.security
	return s.TLS || s.CA+s.Cert+s.Key+s.Mechanism+s.User != ""
}

// positive refuses what would otherwise stand for a default.
func (r *recorder) positive() error {
	c := &r.config
	for _, n := range []struct {
		flag  string
		value int
	}{{"partitions", int(c.Partitions)}, {"producers", c.Producers}, {"consumers", c.Consumers}, {"batch", c.Batch}, {"in-flight", c.InFlight}} {
		if n.value < 1 {
			return fmt.Errorf("--%s: expected 1 or more, found %d", n.flag, n.value)
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"duration", c.Duration}, {"request-timeout", c.Timeout}, {"settle", c.Settle}} {
		if d.value <= 0 {
			return fmt.Errorf("--%s: expected a time above 0, found %v", d.flag, d.value)
		}
	}
	return nil
}

// unanswered says that no send was acknowledged, and why most were not.
func unanswered(h *histories.History) []string {
	if h == nil || h.Config().Get("acks") == "0" {
		return nil
	}
	codes, sends := map[string]int{}, 0
	for _, o := range h.Ops() {
		if o.Kind != histories.Send {
			continue
		}
		if o.Outcome == histories.OK {
			return nil
		}
		sends++
		if o.Code != "" {
			codes[o.Code]++
		}
	}
	most := checker.ByCount(codes)
	if len(most) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("none of %s was acknowledged; %s ended with %s", count(sends, "send"), number(codes[most[0]]), most[0])}
}

// A recorded is a recording that was made.
type recorded struct {
	kafka.Summary
	file    string
	nemesis *jsonNemesis // nil if there was none
	faults  int          // that were injected
	lacks   error        // why it is not all that it should be
}

// record makes the recording. It fails if there is none; if it is not all that
// it should be, that is said and the exit code is 3.
func (r *recorder) record(ctx context.Context, path string) (recorded, error) {
	out, err := kafka.Create(path, r.force)
	if err != nil {
		return recorded{}, err
	}
	var s kafka.Summary
	stop, err := r.faults.open(ctx, r.app, &r.config)
	if err == nil {
		r.config.Out = out
		next, end := newProgress(r.app.err).phases("recording " + label(path))
		r.config.Say = func(phase string) { next("recording " + label(path) + ": " + phase) }
		s, err = kafka.Record(ctx, r.config)
		end()
		s.Remarks = append(append(s.Remarks, r.faults.bypassed()...), unanswered(s.History)...)
	}
	if stopping := stop(); stopping != nil {
		r.app.fail(exitUnknown, stopping)
	}
	if closing := out.Close(); closing != nil {
		return recorded{}, unwritten(path, closing)
	}
	if s.History == nil {
		return recorded{}, err
	}
	if err != nil {
		r.app.fail(exitUnknown, fmt.Errorf("the recording %s lacks something: %w", label(path), err))
	}
	return recorded{s, path, r.faults.json(), r.faults.nemesis.Begun(), err}, nil
}

// unwritten says of a recording that it could not be written to its end.
func unwritten(path string, err error) error {
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		err = named.Err
	}
	what := strings.TrimPrefix(err.Error(), path+": ")
	switch {
	case errors.Is(err, kafka.ErrRemoved):
		return fmt.Errorf("%s: %s; what was written is lost with it, unless it was only moved", label(path), what)
	case !isFile(path):
		return fmt.Errorf("%s: %s", label(path), what)
	}
	return fmt.Errorf("%s: %s; what was written before is no complete recording, and can be judged: check verify %s", label(path), what, shellWord(path))
}

// noRecording says why there is none.
func (a *app) noRecording(ctx context.Context, err error) {
	if ctx.Err() == nil && errors.Is(err, kafka.ErrSettings) {
		a.fail(exitUnknown, err)
		return
	}
	a.failOrStop(ctx, err)
}

// text says what was recorded.
func (r recorded) text() string {
	j := r.json()
	var b strings.Builder
	acks := ""
	if set := r.History.Config().Get("acks"); set != "all" {
		acks = " with acks=" + set
	}
	fmt.Fprintf(&b, "%s: %s (%s, %s acknowledged%s; %s) on topic %s, %d of %s read to the end; %s, %s\n", label(r.file), count(j.Operations, "operation"),
		count(j.Sends, "send"), number(j.Acknowledged), acks, count(j.Reads, "read"), label(j.Topic), j.Scanned, count(j.Partitions, "partition"),
		count(j.Elections, "election"), count(j.Faults, "fault"))
	if n := j.Nemesis; n != nil {
		fmt.Fprintf(&b, "  faults: %s every %v, drawn from seed %d\n", strings.Join(n.Faults, ","), time.Duration(n.Interval)*time.Millisecond, n.Seed)
	}
	if j.Lacks != "" {
		fmt.Fprintf(&b, "  lacks something, so the exit code is 3 at best: %s\n", strings.Join(strings.Fields(j.Lacks), " "))
	}
	for _, remark := range j.Remarks {
		fmt.Fprintf(&b, "  note: %s\n", remark)
	}
	return b.String()
}

// jsonRecording is the JSON of a recording. Names are part of the command line's
// contract.
type jsonRecording struct {
	File         string   `json:"file"`              // that was written
	Topic        string   `json:"topic"`             // that was worked on
	TopicID      string   `json:"topic_id"`          // as the cluster has it
	Partitions   int      `json:"partitions"`        // of the topic
	Scanned      int      `json:"scanned"`           // partitions that were read to the end after the faults
	Operations   int      `json:"operations"`        // of clients
	Sends        int      `json:"sends"`             // batches
	Acknowledged int      `json:"acknowledged"`      // sends that ended with ok, whatever acks they asked for
	Reads        int      `json:"reads"`             // fetches, polls and scans that ended with ok
	Faults       int      `json:"faults"`            // that were injected
	Elections    int      `json:"elections"`         // changes of leaders or of their epochs that clients were told of
	Milliseconds int64    `json:"milliseconds"`      // from the first operation to the last
	Lacks        string   `json:"lacks,omitempty"`   // why the recording is not all that it should be, whatever the verdict on what is there
	Remarks      []string `json:"remarks,omitempty"` // what is not as it should be

	Nemesis *jsonNemesis `json:"nemesis,omitempty"` // what faults were drawn from
}

func (r recorded) json() jsonRecording {
	j := jsonRecording{File: r.file, Topic: r.Topic, TopicID: r.TopicID, Partitions: r.Partitions, Scanned: r.Scanned,
		Operations: len(r.History.Ops()), Elections: r.Elections, Milliseconds: r.Took.Milliseconds(), Remarks: r.Remarks, Nemesis: r.nemesis, Faults: r.faults}
	if r.lacks != nil {
		j.Lacks = r.lacks.Error()
	}
	for i := range r.History.Ops() {
		o := &r.History.Ops()[i]
		switch {
		case o.Kind == histories.Send && o.Outcome == histories.OK:
			j.Acknowledged++
			fallthrough
		case o.Kind == histories.Send:
			j.Sends++
		case o.IsRead() && o.Outcome == histories.OK:
			j.Reads++
		}
	}
	return j
}
