package impl

// A registration is what the controller says about a partition (§1.4).
type registration struct {
	assignment     []node    // AR, the preferred leader first; never written to
	adding         brokerSet // in the assignment only because of a reassignment
	removing       brokerSet // in the assignment only until the reassignment is done
	isr            brokerSet
	elr            brokerSet // eligible leader replicas: out of the ISR, and complete all the same (KIP-966)
	lastKnown      node      // last known ELR: who led when the ISR became empty; nobody while there is a leader
	leader         node      // nobody if it has none
	recovering     bool      // leader recovery state: elected uncleanly, and has not declared its log the truth yet
	leaderEpoch    int64
	partitionEpoch int64
}

// A brokerState is what the controller says about a broker (§1.4).
type brokerState struct {
	epoch        int64 // none before it ever registered
	fenced       bool
	shuttingDown bool // in controlled shutdown
}

func (s brokerState) active() bool { return s.epoch != none && !s.fenced && !s.shuttingDown }

// A metaRecord is one record of the controller's log: the new state of a
// broker, or of a partition if broker is nobody.
type metaRecord struct {
	broker    node
	state     brokerState
	partition int32
	reg       registration
	sum       uint64 // of the rest
}

// An image is the state that a prefix of the controller's log describes.
type image struct {
	offset     int64  // of the first record that is not in it
	digest     uint64 // of the records that are
	brokers    []brokerState
	partitions []registration
}

// reset makes it the state before the first record.
func (i *image) reset(brokers, partitions int) {
	*i = image{brokers: zeroed(i.brokers, brokers+1), partitions: zeroed(i.partitions, partitions)}
	for b := range i.brokers {
		i.brokers[b] = brokerState{epoch: none}
	}
	for p := range i.partitions {
		i.partitions[p] = registration{leader: nobody, lastKnown: nobody, leaderEpoch: none, partitionEpoch: none}
	}
}

func (i *image) apply(r *metaRecord) {
	if r.broker != nobody {
		i.brokers[r.broker] = r.state
	} else {
		i.partitions[r.partition] = r.reg
	}
	i.offset++
	i.digest = fold(i.digest, r.sum)
}

func (r *metaRecord) fold() uint64 {
	h := fold(uint64(r.broker), uint64(r.partition))
	h = fold(h, uint64(r.state.epoch)<<2|bit(r.state.fenced)<<1|bit(r.state.shuttingDown))
	for _, b := range r.reg.assignment {
		h = fold(h, uint64(b))
	}
	h = fold(h, uint64(r.reg.adding)<<32|uint64(r.reg.removing))
	h = fold(h, uint64(r.reg.isr)<<32|uint64(r.reg.elr))
	h = fold(h, uint64(r.reg.lastKnown))
	h = fold(h, uint64(r.reg.leader)<<1|bit(r.reg.recovering))
	return fold(fold(h, uint64(r.reg.leaderEpoch)), uint64(r.reg.partitionEpoch))
}

// fold mixes a word into a digest; it is one round of FNV-1a over a whole word
// with the high half brought down, so that every bit reaches every other.
func fold(digest, word uint64) uint64 {
	digest = (digest ^ word) * 0x9E3779B97F4A7C15
	return digest ^ digest>>29
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
