package importers

import (
	"cmp"
	"math"
)

// partitions names the partitions of keys, no two of them alike.
type partitions struct {
	byKey map[string]string
	taken map[string]bool
}

// of returns t/4 for the key 4, and x/0 for the key "x" or :x.
func (p *partitions) of(key *form) string {
	as := key.String()
	name, ok := p.byKey[as]
	if ok {
		return name
	}
	topic := as
	if n, ok := key.int(); ok && n >= 0 && n <= math.MaxInt32 {
		name = "t/" + key.text
	} else if key.kind == text || key.kind == keyword {
		topic = key.text
	}
	if name == "" || p.taken[name] {
		name = p.free(topic)
	}
	if p.byKey == nil {
		p.byKey = map[string]string{}
	}
	p.byKey[as] = name
	p.take(name)
	return name
}

// free returns the name of a partition of a topic called like that, and takes
// it. A topic that has such a name already makes this one longer.
func (p *partitions) free(topic string) string {
	topic = cmp.Or(topic, "empty")
	for p.taken[topic+"/0"] {
		topic += "+"
	}
	p.take(topic + "/0")
	return topic + "/0"
}

func (p *partitions) take(name string) {
	if p.taken == nil {
		p.taken = map[string]bool{}
	}
	p.taken[name] = true
}
