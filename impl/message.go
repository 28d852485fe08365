package impl

// A kind says what a message asks, answers or announces. Timers are messages a
// node sends to itself.
type kind uint8

const (
	kindNone kind = iota

	fetchRequest
	fetchResponse
	epochEndRequest // OffsetsForLeaderEpoch
	epochEndResponse
	alterPartitionRequest
	alterPartitionResponse
	registrationRequest
	registrationResponse
	heartbeatRequest
	heartbeatResponse
	metadataUpdate

	clientMetadataRequest
	clientMetadataResponse
	produceRequest
	produceResponse
	consumeRequest // a consumer's Fetch
	consumeResponse
	listRequest // ListOffsets
	listResponse

	disconnected // the network to a requester: no answer will come

	heartbeatTimer
	shrinkTimer
	checkpointTimer
	fetchRetryTimer
	fetchWaitTimer
	alterRetryTimer
	shutdownTimer
	releaseTimer // a broker applies the metadata it held
	sessionTimer
	clientTimer
	faultTimer
	restartTimer
	resumeTimer

	deleteRequest // DeleteRecords
	deleteResponse

	ambushTimer
	alarmTimer // of a client
)

// kindNames are the names in traces and, for those that faults may name, in schedules.
var kindNames = [...]string{"none", "fetch", "fetch-response", "epoch-end", "epoch-end-response",
	"alter-partition", "alter-partition-response", "registration", "registration-response",
	"heartbeat", "heartbeat-response", "metadata",
	"client-metadata", "client-metadata-response", "produce", "produce-response",
	"consume", "consume-response", "list", "list-response", "disconnected",
	"heartbeat-timer", "shrink-timer", "checkpoint-timer", "fetch-retry-timer", "fetch-wait-timer",
	"alter-retry-timer", "shutdown-timer", "release-timer", "session-timer", "client-timer", "fault-timer",
	"restart-timer", "resume-timer", "delete-records", "delete-records-response", "ambush-timer", "alarm-timer"}

func (k kind) String() string { return kindNames[k] }

// isRequest reports whether the sender waits for an answer.
func (k kind) isRequest() bool { return requests.has(k) }

var requests = kindsOf(fetchRequest, epochEndRequest, alterPartitionRequest, registrationRequest, heartbeatRequest,
	clientMetadataRequest, produceRequest, consumeRequest, listRequest, deleteRequest)

// isResponse reports whether the receiver waits for it.
func (k kind) isResponse() bool {
	return k == deleteResponse || k != metadataUpdate && k < disconnected && !k.isRequest()
}

// isClocked reports whether it is a timer by a broker's own clock.
func (k kind) isClocked() bool { return k >= heartbeatTimer && k <= shutdownTimer }

// usesDisk reports whether handling it reads or appends to a log.
func (k kind) usesDisk() bool { return diskUsers.has(k) }

var diskUsers = kindsOf(produceRequest, consumeRequest, fetchRequest, fetchResponse)

// A kindSet is a set of kinds, of which there are fewer than 64.
type kindSet uint64

func kindsOf(kinds ...kind) (s kindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s kindSet) has(k kind) bool { return s>>k&1 != 0 }

// A message is anything a node is handed. It is one type for all kinds, so
// that the queue holds plain values; a kind uses the fields it needs.
type message struct {
	kind      kind
	err       errorCode
	refused   bool // disconnected: the request never reached its receiver
	late      bool // a slow disk has had its delay
	acks      int8 // produce: a place in acksNames
	flag      bool // heartbeat: wants to stop; its answer: may stop; alter-partition: the leader is recovering
	isr       brokerSet
	partition int32 // of the topic
	from, to  node
	leader    node
	life      int64 // incarnation of the receiver for which it was sent
	origin    int64 // incarnation of the sender: an answer to it goes to that one or nobody
	after     int64 // timers: how long to wait
	id        int64 // pairs an answer with its request, a timer with its cause

	leaderEpoch    int64
	partitionEpoch int64
	brokerEpoch    int64 // of the sender
	lastEpoch      int64 // fetch: epoch of the last record; answers: the diverging epoch, or none
	session        int64 // fetch: id of the one before it in its session, 0 if it begins one
	round          int64 // fetch: of the newest read that waits for followers, and its echo
	offset         int64 // what is asked for, or the answer
	start          int64 // log start offset of the sender
	hw, end        int64 // marks reported with an answer
	max            int64 // consume: at most so many records; answer to a fetch: the offset it began at

	records []record
	deleted []record     // fetch answers: below the leader's log start, if the follower's is lower
	values  []int64      // produce
	stamp   stamp        // produce: of the first value
	epochs  []int64      // alter-partition: broker epoch of each member, by number
	updates []metaRecord // metadata; offset is that of the first
}

// answer makes an empty message the beginning of a reply to a request.
func (m *message) answer(k kind, a *message) {
	a.kind, a.from, a.to, a.life, a.id, a.partition = k, m.to, m.from, m.origin, m.id, m.partition
	a.leaderEpoch, a.lastEpoch, a.hw, a.end, a.offset = m.leaderEpoch, none, none, none, none
}

// awaited reports whether the sender of a request wants to know if no answer will
// come. Of a registration or a heartbeat it does not: the next one follows anyway.
func (m *message) awaited() bool { return m.kind.isRequest() && m.id != 0 }

// breakOff returns what a requester hears instead of an answer.
func (m *message) breakOff() message {
	return message{kind: disconnected, from: m.to, to: m.from, life: m.origin, id: m.id, partition: m.partition}
}

// An outbox collects what a node wants sent. Nodes never send: the loop does.
type outbox struct {
	queue *queue  // in whose slots the messages wait
	slots []*slot // of the messages, in order
}

func (o *outbox) send(m message) { o.slots = append(o.slots, o.queue.put(&m)) }

// write returns an empty message, to be sent as it is when the node is done. It
// saves what send takes to copy one.
func (o *outbox) write() *message {
	s := o.draft()
	o.post(s)
	return &s.message
}

// draft returns an empty message that is sent once it is posted, or else released.
func (o *outbox) draft() *slot {
	s := o.queue.take()
	s.message = message{}
	return s
}

func (o *outbox) post(s *slot) { o.slots = append(o.slots, s) }

// reply begins the answer to a request, to be sent as it is when the node is done.
func (o *outbox) reply(m *message, k kind) *message {
	a := o.write()
	m.answer(k, a)
	return a
}

// refuse answers a request by what is wrong with it.
func (o *outbox) refuse(m *message, k kind, err errorCode) { o.reply(m, k).err = err }

// timer asks for a message to the node itself after some milliseconds, and returns it.
func (o *outbox) timer(self node, k kind, after, id int64) *message {
	m := o.write()
	m.kind, m.from, m.to, m.after, m.id = k, self, self, after, id
	return m
}

// An errorCode is one of Kafka's protocol errors.
type errorCode uint8

const (
	noError errorCode = iota
	notLeaderOrFollower
	unknownTopicOrPartition
	leaderNotAvailable
	notEnoughReplicas
	offsetOutOfRange
	offsetNotAvailable
	fencedLeaderEpoch
	unknownLeaderEpoch
	requestTimedOut
	networkException
	staleBrokerEpoch
	notController
	invalidRequest
	invalidUpdateVersion
	ineligibleReplica
	newLeaderElected
	duplicateBrokerRegistration
	notEnoughReplicasAfterAppend
	outOfOrderSequenceNumber
	invalidProducerEpoch
	fetchSessionIDNotFound
	invalidFetchSessionEpoch
	logTruncation // a consumer's own: what it was given is not in the log any more
)

var errorNames = [...]string{"NONE", "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE",
	"NOT_ENOUGH_REPLICAS", "OFFSET_OUT_OF_RANGE", "OFFSET_NOT_AVAILABLE", "FENCED_LEADER_EPOCH",
	"UNKNOWN_LEADER_EPOCH", "REQUEST_TIMED_OUT", "NETWORK_EXCEPTION", "STALE_BROKER_EPOCH", "NOT_CONTROLLER",
	"INVALID_REQUEST", "INVALID_UPDATE_VERSION", "INELIGIBLE_REPLICA", "NEW_LEADER_ELECTED",
	"DUPLICATE_BROKER_REGISTRATION", "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	"OUT_OF_ORDER_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH",
	"FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH", "LOG_TRUNCATION"}

func (e errorCode) String() string { return errorNames[e] }

// errorMeans are the errors that clients see, in words.
var errorMeans = [len(errorNames)]string{
	notLeaderOrFollower:          "whom it asked does not lead any more",
	leaderNotAvailable:           "whom it asked knows no leader",
	notEnoughReplicas:            "the ISR is smaller than min.insync.replicas",
	notEnoughReplicasAfterAppend: "the ISR became smaller than min.insync.replicas meanwhile",
	offsetOutOfRange:             "the log has no such offset",
	offsetNotAvailable:           "the new leader does not know yet what is committed",
	fencedLeaderEpoch:            "a new leader epoch has begun",
	unknownLeaderEpoch:           "whom it asked has not heard of that leader epoch",
	requestTimedOut:              "no answer in time",
	networkException:             "the connection broke",
	outOfOrderSequenceNumber:     "the log lacks the batch before it",
	invalidProducerEpoch:         "the log has a later epoch of that producer",
	logTruncation:                "what was read is not in the log any more",
}
