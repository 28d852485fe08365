package kafka

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/isrcheck/isrcheck/histories"
)

// A meaning is what an error code in the answer to a produce request says of
// the batch, by the acks that were asked for. [histories.Fail]: this attempt
// appended it nowhere, and never will. [histories.Info]: it may be in some log.
type meaning struct {
	all, one histories.Outcome // acks=all, acks=1
	why      string
}

// meanings is the table (kafka-replication.md, section 2.1). What decides is
// whether the broker looks before it appends: with acks=all an answer is also
// given to batches that were appended and waited for the ISR, and where that
// cannot be told apart the outcome is unknown.
var meanings = withOthers(map[int16]meaning{
	kerr.UnknownServerError.Code:                 {histories.Info, histories.Info, "something broke at a step that is not told"},
	kerr.CorruptMessage.Code:                     {histories.Fail, histories.Fail, "the batch is checked before it is appended"},
	kerr.UnknownTopicOrPartition.Code:            {histories.Info, histories.Fail, "no such partition at the append; with acks=all also of a batch that waited when the topic was deleted"},
	kerr.LeaderNotAvailable.Code:                 {histories.Fail, histories.Fail, "there was no leader to append"},
	kerr.NotLeaderForPartition.Code:              {histories.Info, histories.Fail, "no leader at the append; with acks=all also of a batch that was appended and waited when the leader resigned"},
	kerr.RequestTimedOut.Code:                    {histories.Info, histories.Info, "the batch was appended, and not all of the ISR had it in time"},
	kerr.MessageTooLarge.Code:                    {histories.Fail, histories.Fail, "the size is checked before the append"},
	kerr.NetworkException.Code:                   {histories.Info, histories.Info, "whoever passes the request on lost the connection"},
	kerr.InvalidTopicException.Code:              {histories.Fail, histories.Fail, "the name of the topic is checked before the append"},
	kerr.RecordListTooLarge.Code:                 {histories.Fail, histories.Fail, "the size is checked before the append"},
	kerr.NotEnoughReplicas.Code:                  {histories.Fail, histories.Fail, "the size of the ISR is checked before the append"},
	kerr.NotEnoughReplicasAfterAppend.Code:       {histories.Info, histories.Info, "the batch was appended, and the ISR has shrunk since"},
	kerr.InvalidRequiredAcks.Code:                {histories.Fail, histories.Fail, "acks are checked before the append"},
	kerr.TopicAuthorizationFailed.Code:           {histories.Fail, histories.Fail, "permission is asked for before the append"},
	kerr.ClusterAuthorizationFailed.Code:         {histories.Fail, histories.Fail, "permission is asked for before the append"},
	kerr.InvalidTimestamp.Code:                   {histories.Fail, histories.Fail, "timestamps are checked before the append"},
	kerr.UnsupportedVersion.Code:                 {histories.Fail, histories.Fail, "the request was not understood"},
	kerr.InvalidRequest.Code:                     {histories.Fail, histories.Fail, "the request is checked before the append"},
	kerr.UnsupportedForMessageFormat.Code:        {histories.Fail, histories.Fail, "the format is checked before the append"},
	kerr.OutOfOrderSequenceNumber.Code:           {histories.Fail, histories.Fail, "the sequence is checked before the append; an earlier attempt is another matter"},
	kerr.DuplicateSequenceNumber.Code:            {histories.Info, histories.Info, "an earlier attempt was appended, and whether the ISR has it is not looked at"},
	kerr.InvalidProducerEpoch.Code:               {histories.Fail, histories.Fail, "the producer's epoch is checked before the append"},
	kerr.InvalidTxnState.Code:                    {histories.Fail, histories.Fail, "the transaction is checked before the append"},
	kerr.InvalidProducerIDMapping.Code:           {histories.Fail, histories.Fail, "the transaction is checked before the append"},
	kerr.ConcurrentTransactions.Code:             {histories.Fail, histories.Fail, "the transaction is checked before the append"},
	kerr.TransactionalIDAuthorizationFailed.Code: {histories.Fail, histories.Fail, "permission is asked for before the append"},
	kerr.KafkaStorageError.Code:                  {histories.Info, histories.Info, "the disk failed in the append or while the batch waited"},
	kerr.UnknownProducerID.Code:                  {histories.Fail, histories.Fail, "the producer is looked up before the append; an earlier attempt is another matter"},
	kerr.UnsupportedCompressionType.Code:         {histories.Fail, histories.Fail, "the compression is checked before the append"},
	kerr.InvalidRecord.Code:                      {histories.Fail, histories.Fail, "records are checked before the append"},
	kerr.ProducerFenced.Code:                     {histories.Fail, histories.Fail, "the producer's epoch is checked before the append"},
	kerr.UnknownTopicID.Code:                     {histories.Info, histories.Fail, "no such topic at the append; with acks=all also of a batch that waited when the topic was deleted"},
	kerr.InconsistentTopicID.Code:                {histories.Info, histories.Fail, "another topic at the append; with acks=all also of a batch that waited when the topic was made anew"},
	kerr.TransactionAbortable.Code:               {histories.Fail, histories.Fail, "the transaction is checked before the append"},
})

// others are the codes that answers to other requests have. A broker that gives
// one to a produce request says nothing of the batch.
var others = []*kerr.Error{
	kerr.OffsetOutOfRange, kerr.InvalidFetchSize, kerr.BrokerNotAvailable, kerr.ReplicaNotAvailable, kerr.StaleControllerEpoch,
	kerr.OffsetMetadataTooLarge, kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator,
	kerr.IllegalGeneration, kerr.InconsistentGroupProtocol, kerr.InvalidGroupID, kerr.UnknownMemberID, kerr.InvalidSessionTimeout,
	kerr.RebalanceInProgress, kerr.InvalidCommitOffsetSize, kerr.GroupAuthorizationFailed, kerr.UnsupportedSaslMechanism,
	kerr.IllegalSaslState, kerr.TopicAlreadyExists, kerr.InvalidPartitions, kerr.InvalidReplicationFactor,
	kerr.InvalidReplicaAssignment, kerr.InvalidConfig, kerr.NotController, kerr.PolicyViolation, kerr.InvalidTransactionTimeout,
	kerr.TransactionCoordinatorFenced, kerr.SecurityDisabled, kerr.OperationNotAttempted, kerr.LogDirNotFound,
	kerr.SaslAuthenticationFailed, kerr.ReassignmentInProgress, kerr.DelegationTokenAuthDisabled, kerr.DelegationTokenNotFound,
	kerr.DelegationTokenOwnerMismatch, kerr.DelegationTokenRequestNotAllowed, kerr.DelegationTokenAuthorizationFailed,
	kerr.DelegationTokenExpired, kerr.InvalidPrincipalType, kerr.NonEmptyGroup, kerr.GroupIDNotFound, kerr.FetchSessionIDNotFound,
	kerr.InvalidFetchSessionEpoch, kerr.ListenerNotFound, kerr.TopicDeletionDisabled, kerr.FencedLeaderEpoch,
	kerr.UnknownLeaderEpoch, kerr.StaleBrokerEpoch, kerr.OffsetNotAvailable, kerr.MemberIDRequired,
	kerr.PreferredLeaderNotAvailable, kerr.GroupMaxSizeReached, kerr.FencedInstanceID, kerr.EligibleLeadersNotAvailable,
	kerr.ElectionNotNeeded, kerr.NoReassignmentInProgress, kerr.GroupSubscribedToTopic, kerr.UnstableOffsetCommit,
	kerr.ThrottlingQuotaExceeded, kerr.ResourceNotFound, kerr.DuplicateResource, kerr.UnacceptableCredential,
	kerr.InconsistentVoterSet, kerr.InvalidUpdateVersion, kerr.FeatureUpdateFailed, kerr.PrincipalDeserializationFailure,
	kerr.SnapshotNotFound, kerr.PositionOutOfRange, kerr.DuplicateBrokerRegistration, kerr.BrokerIDNotRegistered,
	kerr.InconsistentClusterID, kerr.TransactionalIDNotFound, kerr.FetchSessionTopicIDError, kerr.IneligibleReplica,
	kerr.NewLeaderElected, kerr.OffsetMovedToTieredStorage, kerr.FencedMemberEpoch, kerr.UnreleasedInstanceID,
	kerr.UnsupportedAssignor, kerr.StaleMemberEpoch, kerr.MismatchedEndpointType, kerr.UnsupportedEndpointType,
	kerr.UnknownControllerID, kerr.UnknownSubscriptionID, kerr.TelemetryTooLarge, kerr.InvalidRegistration, kerr.InvalidRecordState,
	kerr.ShareSessionNotFound, kerr.InvalidShareSessionEpoch, kerr.FencedStateEpoch, kerr.InvalidVoterKey, kerr.DuplicateVoter,
	kerr.VoterNotFound, kerr.InvalidRegularExpression, kerr.RebootstrapRequired, kerr.StreamsInvalidTopology,
	kerr.StreamsInvalidTopologyEpoch, kerr.StreamsTopologyFenced, kerr.ShareSessionLimitReached, kerr.GroupDeletionFailed,
	kerr.StreamsTopologyDescriptionUpdateFailed, kerr.ControllerIDNotRegistered,
}

func withOthers(table map[int16]meaning) map[int16]meaning {
	for _, e := range others {
		table[e.Code] = meaning{histories.Info, histories.Info, "no broker is known to answer a produce request with it"}
	}
	return table
}

// outcomeOf is what an error code in the answer to a produce request says of
// the batch. A code that is not in the table says nothing. With acks=0 nothing
// is ever known: no answer belongs to the batch.
func outcomeOf(code int16, acks string) histories.Outcome {
	m, known := meanings[code]
	switch {
	case !known || acks == "0":
		return histories.Info
	case acks == "1":
		return m.one
	}
	return m.all
}

// nameOf is Kafka's name of an error code. Where the library has the older name
// of a code, the protocol's name of today counts.
func nameOf(code int16) string {
	if code == kerr.NotLeaderForPartition.Code {
		return "NOT_LEADER_OR_FOLLOWER"
	}
	if e := kerr.TypedErrorForCode(code); e != nil && e.Code == code {
		return e.Message
	}
	return "ERROR_" + strconv.Itoa(int(code))
}
