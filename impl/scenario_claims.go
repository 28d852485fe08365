package impl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A command is one line of a block that does something.
type command struct {
	line   int
	ms     int64    // a time, or how long
	not    bool     // what is expected must not be
	claims []claim  // about the state
	words  string   // of a claim about the trace
	names  []string // of a claim about the verdict
	about  topic
	do     func(*performance, *block, *command) error
}

// A topic is what an expectation is about.
type topic uint8

const (
	nothing topic = iota
	theState
	theTrace
	theVerdict
)

// A claim is what a person says about one thing in the state of a cluster.
type claim struct {
	subject
	key    string
	value  string   // as a person wrote it
	values []string // any of which it may have
	named  []node   // brokers that the value names
}

// A subject is what claims are about: a partition, one broker's replica of it, or
// one consumer's place in it.
type subject struct {
	partition int
	broker    int    // 0 for the partition itself
	client    string // "" for the partition itself
}

// holds reports whether the state is as a claim says.
func (k *claim) holds(c *Cluster) bool { return slices.Contains(k.values, k.read(c)) }

// wrong says in how far a claim does not hold, or "".
func (k *claim) wrong(c *Cluster) string {
	if k.holds(c) {
		return ""
	}
	return fmt.Sprintf("%s is %s, expected %s", k.key, k.read(c), k.value)
}

// refersTo refuses claims about brokers and partitions that a cluster does not have.
func (s *scenario) refersTo(c *Cluster) error {
	for i := range s.blocks {
		for _, cmd := range s.blocks[i].does {
			for _, k := range cmd.claims {
				if slices.ContainsFunc(k.named, func(b node) bool { return c.broker(b) == nil }) {
					return s.errorAt(cmd.line, "%s=%s: expected brokers up to %d", k.key, k.value, len(c.brokers)-1)
				}
				if len(k.named) > 0 && len(k.values) == len(c.brokers) { // they, and nobody
					return s.errorAt(cmd.line, "%s=%s: %v", k.key, k.value, errAllValues)
				}
				if k.broker >= len(c.brokers) || k.partition >= len(c.ghosts) {
					return s.errorAt(cmd.line, "expected a broker up to %d and a partition below %d", len(c.brokers)-1, len(c.ghosts))
				}
				if k.client != "" && !slices.ContainsFunc(c.clients, func(is client) bool { return is.name == k.client }) {
					return s.errorAt(cmd.line, "client=%s: expected the name of a client that does something", k.client)
				}
			}
		}
	}
	return nil
}

func (s *subject) keys() []claimKey {
	switch {
	case s.broker > 0:
		return brokerClaims
	case s.client != "":
		return clientClaims
	}
	return partitionClaims
}

// read returns the present value of what a claim is about.
func (k *claim) read(c *Cluster) string {
	switch {
	case k.broker > 0:
		return c.readBroker(k.broker, k.partition, k.key)
	case k.client != "":
		return itoa(c.clients[c.client(k.client)].positions[k.partition].offset)
	}
	reg := &c.controller.image.partitions[k.partition]
	switch k.key {
	case "leader":
		return nodeName(reg.leader)
	case "epoch":
		return itoa(reg.leaderEpoch)
	case "partition-epoch":
		return itoa(reg.partitionEpoch)
	case "isr":
		return reg.isr.String()
	case "elr":
		return reg.elr.String()
	case "last-known":
		return nodeName(reg.lastKnown)
	case "recovering":
		return strconv.FormatBool(reg.recovering)
	}
	b, _ := c.currentLeader(k.partition)
	if b == nil {
		return "none"
	}
	return c.readBroker(int(b.id), k.partition, k.key)
}

func (c *Cluster) readBroker(broker, partition int, key string) string {
	b := &c.brokers[broker]
	r := &b.replicas[partition]
	switch key {
	case "state":
		return b.condition()
	case "fenced":
		return strconv.FormatBool(c.controller.image.brokers[broker].fenced)
	case "role":
		return r.role.String()
	case "epoch":
		return itoa(r.leaderEpoch)
	case "hw":
		return itoa(r.hw)
	case "leo":
		return itoa(r.log.end())
	case "caught-up":
		if leader, known := c.currentLeader(partition); leader != nil {
			return itoa(known.progress[broker].lastCaughtUp)
		}
		return "unknown"
	}
	return strings.ReplaceAll(logText(&r.log), " ", ",")
}

// expectState compares the state with claims, or demands that one does not hold.
func expectState(p *performance, _ *block, cmd *command) error {
	for i := range cmd.claims {
		k := &cmd.claims[i]
		if says := k.wrong(p.cluster); says != "" && !cmd.not {
			p.wrong(cmd.line, "%s", says)
		} else if says == "" && cmd.not {
			p.wrong(cmd.line, "%s is %s, expected not %s", k.key, k.read(p.cluster), k.value)
		}
	}
	return nil
}

// expectSaid demands that some line of the block's trace has these words, or none.
func expectSaid(p *performance, _ *block, cmd *command) error {
	if said := p.said(cmd.words); said && cmd.not {
		p.wrong(cmd.line, "a line of the trace has %q", cmd.words)
	} else if !said && !cmd.not {
		p.wrong(cmd.line, "no line of the trace has %q", cmd.words)
	}
	return nil
}

func (p *performance) said(words string) bool {
	return slices.ContainsFunc(p.trace(), func(line string) bool {
		return strings.Contains(strings.Join(strings.Fields(line), " "), words)
	})
}

// expectVerdict compares the judge's verdict and what it found or allows.
func expectVerdict(p *performance, _ *block, cmd *command) error {
	v := p.run.Verdict
	is, among, what := v.Name == cmd.words, v.Findings, "finding"
	if cmd.words == "allowed" {
		is, among, what = len(v.Allowed) > 0, v.Allowed, "allowed finding"
	}
	has := func(name string) bool { return slices.Contains(among, name) }
	switch {
	case cmd.not && len(cmd.names) == 0 && is:
		p.wrong(cmd.line, "the verdict is %s, expected not %s", v.says(), cmd.words)
	case cmd.not && is && slices.ContainsFunc(cmd.names, has):
		p.wrong(cmd.line, "the verdict is %s, expected no %s %s", v.says(), what, strings.Join(cmd.names, " or "))
	case !cmd.not && !is:
		p.wrong(cmd.line, "the verdict is %s, expected %s", v.says(), strings.TrimSpace(cmd.words+" "+strings.Join(cmd.names, ",")))
	case !cmd.not:
		for _, name := range cmd.names {
			if !has(name) {
				p.wrong(cmd.line, "the verdict is %s, expected the %s %s", v.says(), what, name)
			}
		}
	}
	return nil
}

// says is a verdict in words.
func (v *Verdict) says() string {
	text := strings.TrimSpace(v.Name + " " + strings.Join(v.Findings, ","))
	if len(v.Allowed) > 0 {
		text += " (allowed " + strings.Join(v.Allowed, ",") + ")"
	}
	return text
}
