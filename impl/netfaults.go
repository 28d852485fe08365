package impl

// messageKinds are the messages that faults may name. Produce requests and
// their answers are never duplicated: TCP does not.
var (
	copiedKinds  = []string{"fetch", "fetch-response", "alter-partition", "alter-partition-response", "metadata"}
	messageKinds = append(copiedKinds[:len(copiedKinds):len(copiedKinds)], "produce", "produce-response")
)

func applyCut(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.from, to: a.to})
}

func applyPartition(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.a, to: a.b}, rule{effect: effectCut, from: a.b, to: a.a})
}

func applyIsolate(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectCut, from: a.node, to: anyNode}, rule{effect: effectCut, from: anyNode, to: a.node})
}

func applyDelay(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDelay, kind: a.kind, from: a.from, to: a.to, by: a.by})
}

func applyDrop(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDrop, kind: a.kind, from: a.from, to: a.to, count: a.count})
}

func applyDuplicate(c *Cluster, a *args) string {
	return c.addRules(a, rule{effect: effectDuplicate, kind: a.kind, from: a.from, to: a.to, count: a.count})
}

// countedFor is how long a fault waits for the messages it is to hit.
const countedFor = 30_000

// addRules makes the network follow rules for as long as the step says. If no message
// will ever match them, that is nothing, but the run waits for its end all the same: a
// schedule's events do not depend on whether somebody looked for a match.
func (c *Cluster) addRules(a *args, rules ...rule) string {
	duration := a.duration
	if duration == 0 {
		duration = countedFor
	}
	why := ""
	for _, r := range rules {
		why = r.never(c.net.brokers)
		if r.count == 0 {
			r.count = forever
			if a.duration == 0 {
				r.count = 1
			}
		}
		r.until = c.now + duration
		c.net.rules = append(c.net.rules, r)
	}
	c.endFault(a, duration)
	c.quietAt = max(c.quietAt, c.now+duration+c.net.lateness(c.now)) // what was delayed last
	if why != "" {
		c.passOver(a)
	}
	return why
}
