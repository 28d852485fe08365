package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// routes is what one side believes of the topic: who leads each partition, in
// which leader epoch, and where that broker is. It asks the addresses of its
// side and nobody else.
type routes struct {
	name  string // of the side, as notes call it
	topic string
	seeds []string
	open  bool // there is one side: every broker belongs to it, and is asked as well
	wire  *wire
	news  func(text string) // is told of elections and topics made anew
	born  *births           // what every side was told of

	refreshing sync.Mutex // one asks at a time
	mu         sync.Mutex
	asked      time.Time            // when the last answer came
	next       int                  // the seed to ask next
	silent     map[string]time.Time // until when a seed that did not answer is not asked, if there are others
	id         [16]byte             // of the topic
	birth      int                  // of the topic; 0 until it is known
	leaders    map[int32]leader
	elections  int // leader epochs seen after the first one of a partition
}

// A leader is whom a side believes to lead a partition.
type leader struct {
	broker int32 // -1 if there is none
	epoch  int32 // -1 if the brokers do not tell
	addr   string
	id     [16]byte // of the topic
	birth  int      // of the topic, 1 for the one that the recording began with
}

func (l leader) known() bool { return l.broker >= 0 && l.addr != "" }

// of returns the leader of a partition.
func (r *routes) of(partition int32) leader {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.leaders[partition]
	if !ok {
		l = leader{broker: -1, epoch: -1}
	}
	l.id, l.birth = r.id, r.birth
	return l
}

// on is how the history calls a partition of the topic as it is now.
func (r *routes) on(partition int32) string {
	return partitionName(r.topic, partition, max(1, r.of(partition).birth))
}

// refreshEvery is how often a side is asked at most.
const refreshEvery = 50 * time.Millisecond

// refresh asks again, unless that was just done.
func (r *routes) refresh(ctx context.Context) {
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	r.mu.Lock()
	fresh := time.Since(r.asked) < refreshEvery
	r.mu.Unlock()
	if fresh || ctx.Err() != nil {
		return
	}
	for range r.addresses() {
		if _, err := r.ask(ctx); err == nil {
			return
		}
	}
}

// ask asks the next address of the side.
func (r *routes) ask(ctx context.Context) (*kmsg.MetadataResponse, error) {
	r.mu.Lock()
	seed := r.seed()
	r.mu.Unlock()
	resp, err := metadata(ctx, r.wire, seed, r.topic)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Now()
	if err == nil {
		r.learn(resp)
	}
	if resp == nil {
		r.silent[seed] = r.asked.Add(r.wire.timeout)
	}
	return resp, err
}

// addresses returns whom the side asks.
func (r *routes) addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seeds
}

// seed returns the address to ask next, each in its turn.
func (r *routes) seed() string {
	if r.silent == nil {
		r.silent = map[string]time.Time{}
	}
	var seed string
	for range r.seeds {
		seed = r.seeds[r.next%len(r.seeds)]
		r.next++
		if time.Now().After(r.silent[seed]) {
			break
		}
	}
	return seed
}

// metadata asks one broker what it believes of the topic. An answer may come
// with an error, if that is about the topic.
func metadata(ctx context.Context, w *wire, addr, topic string) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	resp, err := request[*kmsg.MetadataResponse](ctx, w, addr, req)
	switch {
	case err != nil:
		return nil, err
	case len(resp.Topics) != 1:
		return nil, fmt.Errorf("%s answered about %d topics, and was asked about one", addr, len(resp.Topics))
	}
	return resp, kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

// learn takes over what a broker said. A leader epoch never goes back, as in
// every client since KIP-320: a broker that lags behind teaches nothing.
func (r *routes) learn(resp *kmsg.MetadataResponse) {
	addrs := make(map[int32]string, len(resp.Brokers))
	for _, b := range resp.Brokers {
		addr := addrOf(&b)
		addrs[b.NodeID] = addr
		if r.open && !slices.Contains(r.seeds, addr) {
			r.seeds = append(slices.Clip(r.seeds), addr)
		}
	}
	t := resp.Topics[0]
	if !r.learnBirth(t.TopicID) {
		return
	}
	for _, p := range t.Partitions {
		was, ok := r.leaders[p.Partition]
		if ok && p.LeaderEpoch >= 0 && p.LeaderEpoch < was.epoch {
			continue
		}
		if ok && p.LeaderEpoch != was.epoch || ok && p.Leader != was.broker {
			r.elections++
			r.news(fmt.Sprintf("%s says that %s is led by broker %d in epoch %d", r.name, partitionName(r.topic, p.Partition, r.birth), p.Leader, p.LeaderEpoch))
		}
		r.leaders[p.Partition] = leader{broker: p.Leader, epoch: p.LeaderEpoch, addr: addrs[p.Leader]}
	}
}

// learnBirth takes over which topic of the name a broker knows. It returns false
// for one that another has taken the place of.
func (r *routes) learnBirth(id [16]byte) bool {
	if id == ([16]byte{}) && r.birth > 0 {
		return true // a broker that knows of no ids
	}
	n := r.born.number(id)
	switch {
	case n < r.birth:
		return false
	case n > r.birth:
		if n > 1 {
			r.news(fmt.Sprintf("%s says that topic %s was made anew: its id is %s", r.name, r.topic, uuid(id)))
		}
		r.birth, r.id, r.leaders = n, id, map[int32]leader{}
	}
	return true
}

// addrOf is where a broker is to be reached.
func addrOf(b *kmsg.MetadataResponseBroker) string {
	return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
}

// partitionName is how the history calls a partition. A topic that was made
// anew is another log.
func partitionName(topic string, partition int32, birth int) string {
	if birth > 1 {
		topic += "#" + strconv.Itoa(birth)
	}
	return topic + "/" + strconv.Itoa(int(partition))
}

// errNoLeader says that a side knows nobody to ask.
var errNoLeader = errors.New("no leader is known")

func uuid(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
