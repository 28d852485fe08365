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
	claims []claim  // about the state
	words  string   // of a claim about the trace
	names  []string // of a claim about the verdict
	do     func(*performance, *block, *command) error
}

// A claim is what a person says about one thing in the state of a cluster.
type claim struct {
	subject
	key   string
	value string // one of several where it is written {a,b} and the thing is no set
}

// A subject is what claims are about: a partition, one broker's replica of it, or
// one consumer's place in it.
type subject struct {
	partition int
	broker    int    // 0 for the partition itself
	client    string // "" for the partition itself
}

// wrong says in how far a claim does not hold, or "".
func (k *claim) wrong(c *Cluster) string {
	is := k.read(c)
	if is == k.value || !strings.HasPrefix(is, "{") && slices.Contains(strings.Split(strings.Trim(k.value, "{}"), ","), is) {
		return ""
	}
	return fmt.Sprintf("%s is %s, expected %s", k.key, is, k.value)
}

// refersTo refuses claims about brokers and partitions that a cluster does not have.
func (s *scenario) refersTo(c *Cluster) error {
	for i := range s.blocks {
		for _, cmd := range s.blocks[i].does {
			for _, k := range cmd.claims {
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

// The keys a claim may have, by what it is about.
var (
	partitionClaims = []string{"leader", "epoch", "partition-epoch", "isr", "elr", "last-known", "recovering", "hw", "leo"}
	brokerClaims    = []string{"state", "fenced", "role", "epoch", "hw", "leo", "log", "caught-up"}
	clientClaims    = []string{"position"}
)

func (s *subject) keys() []string {
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

// expectState compares the state with claims.
func expectState(p *performance, _ *block, cmd *command) error {
	for i := range cmd.claims {
		if says := cmd.claims[i].wrong(p.cluster); says != "" {
			p.wrong(cmd.line, "%s", says)
		}
	}
	return nil
}

// expectSaid demands that some line of the block's trace has these words.
func expectSaid(p *performance, _ *block, cmd *command) error {
	if !p.said(cmd.words) {
		p.wrong(cmd.line, "no line of the trace has %q", cmd.words)
	}
	return nil
}

// expectUnsaid demands that none has.
func expectUnsaid(p *performance, _ *block, cmd *command) error {
	if p.said(cmd.words) {
		p.wrong(cmd.line, "a line of the trace has %q", cmd.words)
	}
	return nil
}

func (p *performance) said(words string) bool {
	return slices.ContainsFunc(p.trace(), func(line string) bool {
		return strings.Contains(strings.Join(strings.Fields(line), " "), words)
	})
}

// expectVerdict compares the judge's verdict.
func expectVerdict(p *performance, _ *block, cmd *command) error {
	v := p.run.Verdict
	got := v.Findings
	if cmd.words == "allowed" {
		got = v.Allowed
	} else if v.Name != cmd.words {
		p.wrong(cmd.line, "the verdict is %s %s, expected %s", v.Name, strings.Join(v.Findings, ","), cmd.words)
		return nil
	}
	for _, name := range cmd.names {
		if !slices.Contains(got, name) {
			p.wrong(cmd.line, "no %s among %s", name, strings.Join(got, ","))
		}
	}
	return nil
}
