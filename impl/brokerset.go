package impl

import (
	"math/bits"
	"strconv"
)

// A node is a place messages go to: the controller, a broker (1 to the number
// of brokers), or a client (the numbers after that).
type node int32

// controllerNode is the controller's place. As the leader of a partition it
// stands for nobody.
const (
	controllerNode node = 0
	nobody         node = -1
)

// maxBrokers bounds the size of a cluster.
const maxBrokers = 9

// A brokerSet is a set of brokers.
type brokerSet uint32

func setOf(brokers ...node) brokerSet {
	var s brokerSet
	for _, b := range brokers {
		s = s.with(b)
	}
	return s
}

func (s brokerSet) has(b node) bool               { return s&(1<<b) != 0 }
func (s brokerSet) with(b node) brokerSet         { return s | 1<<b }
func (s brokerSet) without(t brokerSet) brokerSet { return s &^ t }
func (s brokerSet) includes(t brokerSet) bool     { return t.without(s) == 0 }
func (s brokerSet) size() int                     { return bits.OnesCount32(uint32(s)) }

// only returns the single member, or nobody if there is not exactly one.
func (s brokerSet) only() node {
	if s.size() != 1 {
		return nobody
	}
	return s.first()
}

// first returns the member with the lowest number. There has to be one.
func (s brokerSet) first() node { return node(bits.TrailingZeros32(uint32(s))) }

// each yields the members in ascending order.
func (s brokerSet) each() func(func(node) bool) {
	return func(yield func(node) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(s.first()) {
				return
			}
		}
	}
}

// numbers lists the members in ascending order.
func (s brokerSet) numbers() []int {
	out := []int{}
	for b := range s.each() {
		out = append(out, int(b))
	}
	return out
}

func (s brokerSet) String() string {
	out := "{"
	for i, n := range s.numbers() {
		if i > 0 {
			out += ","
		}
		out += strconv.Itoa(n)
	}
	return out + "}"
}
