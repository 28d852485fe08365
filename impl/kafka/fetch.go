package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/isrcheck/isrcheck/histories"
)

// A reader asks the leader that its side names, once for every call.
type reader struct {
	run    *run
	routes *routes
	wire   *wire
	unpack kgo.Decompressor
}

// An answer to a fetch, as the history has it.
type fetched struct {
	records        []histories.Record
	hw, lso, start int64
	next           int64 // the position behind what was answered, which may end with records that no client sees
}

// A refusal is an error code that a broker answered with.
type refusal int16

func (r refusal) Error() string { return nameOf(int16(r)) }

// Sizes of an answer, in bytes: of all, and until which a broker waits for none.
const (
	maxFetch = 1 << 20
	minFetch = 1
)

// fetch asks for records from a position, and waits so long for the first, in
// milliseconds.
func (r *reader) fetch(ctx context.Context, l leader, partition int32, from int64, wait int32) (fetched, error) {
	resp, err := request[*kmsg.FetchResponse](ctx, r.wire, l.addr, r.fetchRequest(l, partition, from, wait))
	if err != nil {
		return fetched{}, err
	}
	got, err := onlyPartition(resp)
	if err != nil {
		return fetched{}, err
	}
	read, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: from, IsolationLevel: r.level(),
		Topic: r.run.Topic, Partition: partition}, got, r.unpack, nil)
	if read.Err != nil {
		return fetched{}, fmt.Errorf("%w: %w", errMalformed, read.Err)
	}
	return fetched{recordsOf(read.Records), got.HighWatermark, got.LastStableOffset, got.LogStartOffset, next}, nil
}

// fetchRequest is what a fetch asks.
func (r *reader) fetchRequest(l leader, partition int32, from int64, wait int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = wait, minFetch, maxFetch, r.isolation()
	req.SessionEpoch = -1 // no session: each answer stands for itself
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = r.run.Topic, l.id
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.CurrentLeaderEpoch, part.PartitionMaxBytes = partition, from, l.epoch, maxFetch
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

// onlyPartition is the answer about the one partition that was asked for.
func onlyPartition(resp *kmsg.FetchResponse) (*kmsg.FetchResponseTopicPartition, error) {
	switch {
	case resp.ErrorCode != 0:
		return nil, refusal(resp.ErrorCode)
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		return nil, errMalformed
	}
	got := &resp.Topics[0].Partitions[0]
	if got.ErrorCode != 0 {
		return nil, refusal(got.ErrorCode)
	}
	return got, nil
}

// Timestamps that ListOffsets takes for the two ends of a log.
const (
	latest   = -1
	earliest = -2
)

// list asks for an end of the log.
func (r *reader) list(ctx context.Context, l leader, partition int32, at int64) (int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, r.isolation()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = r.run.Topic
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp, part.CurrentLeaderEpoch = partition, at, l.epoch
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	resp, err := request[*kmsg.ListOffsetsResponse](ctx, r.wire, l.addr, req)
	switch {
	case err != nil:
		return 0, err
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		return 0, errMalformed
	}
	got := resp.Topics[0].Partitions[0]
	switch {
	case got.ErrorCode != 0:
		return 0, refusal(got.ErrorCode)
	case got.Offset < 0:
		return 0, errMalformed
	}
	return got.Offset, nil
}

func (r *reader) isolation() int8 {
	if r.run.Isolation == "read_committed" {
		return 1
	}
	return 0
}

// level is the isolation as the library names it.
func (r *reader) level() kgo.IsolationLevel {
	if r.isolation() == 1 {
		return kgo.ReadCommitted()
	}
	return kgo.ReadUncommitted()
}

// malformed is the code of an answer that makes no sense.
const malformed = "MALFORMED_ANSWER"

var errMalformed = fmt.Errorf("the answer makes no sense")

// outOfRange reports whether a broker refused a position.
func outOfRange(err error) bool {
	return err == refusal(kerr.OffsetOutOfRange.Code)
}

// read completes a read or a list that failed. Nothing was to have an effect,
// so a refusal is a certain one.
func failed(answer *histories.Op, err error) {
	switch err := err.(type) {
	case refusal:
		answer.Outcome, answer.Code = histories.Fail, err.Error()
	default:
		answer.Outcome, answer.Code = unanswered(err)
	}
}
