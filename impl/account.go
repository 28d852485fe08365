package impl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// table is the state of a cluster for a person: who leads each partition, and
// what each replica has. The time is the one up to which the cluster ran.
func (c *Cluster) table(at int64) []string {
	var lines []string
	for p := range c.ghosts {
		reg := &c.controller.image.partitions[p]
		head := fmt.Sprintf("at %d: leader %s, epoch %d, isr %v", at, nodeName(reg.leader), reg.leaderEpoch, reg.isr)
		if len(c.ghosts) > 1 {
			head = partitionName(int32(p)) + " " + head
		}
		lines = append(append(lines, head+reg.besides()), c.replicaTable(p)...)
	}
	return lines
}

// marked is a table in which * stands before the replicas that are not as they
// were in an earlier one, if there is one.
func marked(table, earlier []string) []string {
	out := slices.Clone(table)
	for i := range min(len(table), len(earlier)) {
		row, found := strings.CutPrefix(table[i], "  ")
		if found && !slices.Equal(strings.Fields(table[i]), strings.Fields(earlier[i])) {
			out[i] = "* " + row
		}
	}
	return out
}

func (c *Cluster) replicaTable(p int) []string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  broker\tstate\trole\tepoch\tleo\thw\tlog")
	for i := 1; i < len(c.brokers); i++ {
		b := &c.brokers[i]
		r := &b.replicas[p]
		epoch := "-"
		if r.leaderEpoch != none {
			epoch = itoa(r.leaderEpoch)
		}
		role := "-"
		if r.role != noRole {
			role = r.role.String()
		}
		state := b.condition()
		if c.controller.image.brokers[i].fenced {
			state += ", fenced"
		}
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%d\t%d\t%s\n", i, state, role, epoch, r.log.end(), r.hw, logText(&r.log))
	}
	w.Flush() // to a buffer: it cannot fail
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// pausedName is how a broker is called that stands still.
const pausedName = "paused"

// condition is how a broker's process is.
func (b *broker) condition() string {
	if b.pausedUntil > 0 {
		return pausedName
	}
	return b.state.String()
}

// logText is a log as the bug catalogue writes it, value/epoch value/epoch,
// where first..last stands for three or more values that count up.
func logText(l *log) string {
	var words []string
	for i := 0; i < len(l.records); {
		first, n := l.records[i], 1
		for i+n < len(l.records) && l.records[i+n].epoch == first.epoch && l.records[i+n].value == first.value+int64(n) {
			n++
		}
		if n < 3 {
			n = 1
			words = append(words, fmt.Sprintf("%d/%d", first.value, first.epoch))
		} else {
			words = append(words, fmt.Sprintf("%d..%d/%d", first.value, first.value+int64(n)-1, first.epoch))
		}
		i += n
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}
