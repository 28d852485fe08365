package impl

import "slices"

// anyNode in a rule stands for every node.
const anyNode node = -2

// An effect is what a rule does to the messages it matches.
type effect uint8

const (
	effectCut effect = iota // lost; the requester notices when the link is back
	effectDrop
	effectDelay
	effectDuplicate
)

// A rule is one unkindness of the network.
type rule struct {
	effect   effect
	kind     kind // of the messages it matches; kindNone for all between brokers and the controller
	from, to node
	until    int64 // the first tick at which it is over
	count    int64 // messages it still affects
	by       int64 // delay
}

func (r *rule) isOver(now int64) bool { return r.until <= now || r.count <= 0 }

func (r *rule) matches(m *message) bool {
	if r.from != anyNode && r.from != m.from || r.to != anyNode && r.to != m.to {
		return false
	}
	return r.kind == m.kind || r.kind == kindNone
}

// A place is where messages come from or go to: what sort of node that is.
type place uint8

const (
	atController place = iota
	atBroker
	atClient // which no rule can name
)

// ways are the places between which the messages go that rules may name.
var ways = [...][2]place{
	fetchRequest:           {atBroker, atBroker},
	fetchResponse:          {atBroker, atBroker},
	alterPartitionRequest:  {atBroker, atController},
	alterPartitionResponse: {atController, atBroker},
	metadataUpdate:         {atController, atBroker},
	produceRequest:         {atClient, atBroker},
	produceResponse:        {atBroker, atClient},
}

// never says why no message will ever match a rule, or "".
func (r *rule) never(brokers node) string {
	for _, end := range []node{r.from, r.to} {
		if end > brokers {
			return "there is no broker " + nodeName(end)
		}
	}
	if r.from == r.to && r.from != anyNode {
		return "no node sends itself messages over the network"
	}
	if r.kind == kindNone {
		return ""
	}
	way := ways[r.kind]
	switch {
	case !way[0].has(r.from):
		return "no " + r.kind.String() + " comes from there"
	case !way[1].has(r.to):
		return "no " + r.kind.String() + " goes there"
	case way == [2]place{atBroker, atBroker} && brokers == 1:
		return "there is one broker only"
	}
	return ""
}

// has reports whether a node that a rule names, or some node, is at a place.
func (p place) has(n node) bool {
	switch p {
	case atController:
		return n == anyNode || n == controllerNode
	case atBroker:
		return n == anyNode || n > controllerNode
	}
	return n == anyNode
}

// A network decides when a message arrives, if it does.
//
// A connection that loses a request or its answer breaks, and the requester
// learns it: at once where a single message was dropped, when the link is
// back where it was cut. So nobody waits for ever, and no timer is needed.
type network struct {
	rules   []rule
	brokers node // highest number of a broker
}

// transmit makes the message in a slot due where it is for, or what became of it, or
// nothing.
func (n *network) transmit(now int64, s *slot, q *queue) {
	m := &s.message
	arrives := now + 1
	copies := 0
	if len(n.rules) > 0 && m.kind != disconnected {
		n.forget(now)
		for i := range n.rules {
			r := &n.rules[i]
			if !r.matches(m) || (r.kind == kindNone && (m.from > n.brokers || m.to > n.brokers)) {
				continue
			}
			r.count--
			switch r.effect {
			case effectCut:
				n.lose(r.until+1, s, q)
				return
			case effectDrop:
				n.lose(arrives, s, q)
				return
			case effectDelay:
				arrives += r.by
			case effectDuplicate:
				copies++
			}
		}
	}
	q.schedule(arrives, s)
	for range copies {
		q.push(arrives, m)
	}
}

// lose tells the requester at some tick that its connection broke.
func (n *network) lose(at int64, s *slot, q *queue) {
	m := &s.message
	defer q.release(s)
	lost := m.breakOff()
	switch {
	case m.id == 0:
		return
	case m.kind.isRequest():
	case m.kind.isResponse():
		lost.from, lost.to, lost.life = m.from, m.to, m.life
	default:
		return
	}
	q.push(at, &lost)
}

// forget drops the rules that are over.
func (n *network) forget(now int64) {
	for i := range n.rules {
		if n.rules[i].isOver(now) {
			n.rules = slices.DeleteFunc(n.rules, func(r rule) bool { return r.isOver(now) })
			return
		}
	}
}

// lateness is how late a message may be by all rules together.
func (n *network) lateness(now int64) int64 {
	n.forget(now)
	late := int64(0)
	for i := range n.rules {
		late += n.rules[i].by
	}
	return late
}
