package impl

import (
	"slices"
	"strings"
)

// A Role stands in a fault for a broker that is known only when the fault strikes.
// Whoever names brokers by number seldom names the one that matters just then.
type Role struct {
	Name, Says string

	find func(c *Cluster, p int32) node // nobody if there is none
}

// Roles are the names that faults may give to brokers, by what the controller has
// decided about the partition that the fault is about, the first if it names none.
// They stand in arguments as the nodes below anyNode.
var Roles = []Role{
	{"leader", "who leads", (*Cluster).leaderOf},
	{"hindmost", "who lacks most of what the leader has, of the others in the ISR", (*Cluster).hindmost},
}

func (c *Cluster) leaderOf(p int32) node { return c.controller.image.partitions[p].leader }

// hindmost is whom a cluster can least afford to be led by: an election of it loses
// whatever was committed without it. Where nobody leads, its log is the shortest.
func (c *Cluster) hindmost(p int32) node {
	reg := &c.controller.image.partitions[p]
	last, least := nobody, int64(forever)
	if reg.leader != nobody {
		least = c.brokers[reg.leader].replicas[p].log.end()
	}
	for f := range reg.isr.each() {
		if f == reg.leader {
			continue
		}
		l := &c.brokers[f].replicas[p].log
		has := l.end()
		if reg.leader != nobody {
			has = l.common(&c.brokers[reg.leader].replicas[p].log)
		}
		if has < least {
			last, least = f, has
		}
	}
	return last
}

// readNode sets the field of an argument that names a node.
func (a *args) readNode(spec *ArgSpec, text string) error {
	to := a.nodeOf(spec.Key)
	if spec.Kind == NodeArg && text == "controller" {
		*to = controllerNode
		return nil
	}
	if i := slices.IndexFunc(Roles, func(r Role) bool { return r.Name == text }); i >= 0 {
		*to = anyNode - 1 - node(i)
		return nil
	}
	n, err := spec.number(text)
	if err != nil {
		return at(spec.Key+"="+text, "%v, or %s", err, orRole())
	}
	*to = node(n)
	return nil
}

// orRole lists the roles for errors.
func orRole() string {
	var names []string
	for i := range Roles {
		names = append(names, Roles[i].Name)
	}
	return strings.Join(names, " or ")
}

// roleOf is the row of a node that is a role, nil if it is a place.
func roleOf(n node) *Role {
	if n >= anyNode {
		return nil
	}
	return &Roles[anyNode-1-n]
}

// whoIs is the broker that has a role now. Other nodes are themselves.
func (c *Cluster) whoIs(n node, p int32) node {
	if r := roleOf(n); r != nil {
		return r.find(c, min(p, int32(len(c.ghosts)-1)))
	}
	return n
}

// cast returns the arguments with a broker in the place of each role, in the words
// of the step as well, or says which role nobody has.
func (c *Cluster) cast(a args) (_ *args, why string) {
	for _, key := range nodeKeys {
		n := a.nodeOf(key)
		r := roleOf(*n)
		if r == nil {
			continue
		}
		if *n = c.whoIs(*n, a.partition); *n == nobody {
			return nil, "there is no " + r.Name
		}
		words := strings.Split(a.text, " ")
		words[slices.Index(words, key+"="+r.Name)] = key + "=" + itoa(int64(*n))
		a.text = strings.Join(words, " ")
		c.said = append(c.said, a.text)
		a.said = int64(len(c.said))
	}
	return &a, ""
}

// nodeKeys are the arguments that say whom a fault strikes.
var nodeKeys = []string{"broker", "from", "to", "a", "b", "node"}

// countRoles counts the roles of a fault that was applied.
func (c *Cluster) countRoles(a *args) {
	for _, key := range nodeKeys {
		if n := *a.nodeOf(key); n < anyNode {
			c.stats.Roles[anyNode-1-n]++
		}
	}
}

// endOf says in words which fault a timer ends, "" if it is one that did nothing.
func (c *Cluster) endOf(m *message) string {
	a := &c.actions[m.id]
	switch {
	case m.offset > 0:
		return c.said[m.offset-1]
	case a.silent:
		return ""
	}
	return a.args.text
}
