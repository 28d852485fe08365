package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/histories"
)

// A member is a consumer of a group. The library joins, fetches ahead and keeps
// positions; what is recorded is what it hands over, and every rebalance with
// the offset it begins at.
type member struct {
	*reader
	process string
}

// work polls until the context ends. The library joins again by itself.
func (m *member) work(ctx context.Context) {
	cl, err := kgo.NewClient(m.options()...)
	if err != nil {
		m.run.remark("%s cannot join the group: %v", m.process, err)
		return
	}
	for m.poll(ctx, cl) {
		cl.AllowRebalance()
	}
	cl.CloseAllowingRebalance()
}

// A group gives a member up that it has not heard of for so long. Brokers permit
// no less than 6 s, unless they are told to.
const (
	sessionTimeout = 6 * time.Second
	heartbeatEvery = time.Second
)

func (m *member) options() []kgo.Opt {
	gone := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
		for _, partition := range lost[m.run.Topic] {
			m.mark(histories.Mark{Kind: histories.Revoked, Offset: histories.None}, partition)
		}
	}
	return m.run.options("isrcheck-"+m.process, kgo.SeedBrokers(m.routes.addresses()...),
		kgo.DialTimeout(m.run.Timeout), kgo.RequestTimeoutOverhead(m.run.Timeout), kgo.FetchMaxWait(fetchWait), kgo.FetchIsolationLevel(m.level()),
		kgo.ConsumerGroup("isrcheck-"+m.run.Topic), kgo.ConsumeTopics(m.run.Topic), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(sessionTimeout), kgo.RebalanceTimeout(sessionTimeout), kgo.HeartbeatInterval(heartbeatEvery),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.OnPartitionsRevoked(gone), kgo.OnPartitionsLost(gone), kgo.AdjustFetchOffsetsFn(m.assigned))
}

// assigned records where the member begins in the partitions that it got: where
// the group committed, or at the log start.
func (m *member) assigned(ctx context.Context, got map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	for partition, offset := range got[m.run.Topic] {
		at := offset.EpochOffset().Offset
		if at < 0 {
			start, err := m.start(ctx, partition)
			if err != nil {
				return nil, err
			}
			at, got[m.run.Topic][partition] = start, kgo.NewOffset().At(start)
		}
		m.mark(histories.Mark{Kind: histories.Assigned, Offset: at}, partition)
	}
	return got, nil
}

// start asks for the log start until it is told.
func (m *member) start(ctx context.Context, partition int32) (int64, error) {
	for {
		start, err := m.list(ctx, m.routes.of(partition), partition, earliest)
		if err == nil || ctx.Err() != nil {
			return start, err
		}
		m.routes.refresh(ctx)
		pause(ctx, backOff)
	}
}

func (m *member) mark(mark histories.Mark, partition int32) {
	mark.Process, mark.On = m.process, m.routes.on(partition)
	m.run.rec.Mark(mark)
}

// polled is how many records a poll hands over at most.
const polled = 1000

// poll records what is handed over, a poll for each partition, and commits it.
// It returns false at the end of the context.
func (m *member) poll(ctx context.Context, cl *kgo.Client) bool {
	fetches := cl.PollRecords(ctx, polled)
	if ctx.Err() != nil {
		return false
	}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(p.Records) > 0 {
			m.handed(p)
		}
		if p.Err != nil {
			m.recover(ctx, cl, p)
		}
	})
	committing, cancel := context.WithTimeout(ctx, m.run.Timeout)
	defer cancel()
	if err := cl.CommitUncommittedOffsets(committing); err != nil && ctx.Err() == nil {
		m.run.note(fmt.Sprintf("%s cannot commit: %s", m.process, codeOf(err)))
	}
	return true
}

// handed records records that were handed over, at the time they were.
func (m *member) handed(p kgo.FetchTopicPartition) {
	op := histories.NewOp(m.process, histories.Poll)
	op.On = m.routes.on(p.Partition)
	answer := histories.NewOp(m.process, histories.Poll)
	answer.Outcome, answer.Records = histories.OK, recordsOf(p.Records)
	if end := answer.Records[len(answer.Records)-1].Offset + 1; p.HighWatermark >= end { // see consumer.marks; here nobody knows
		answer.HW, answer.LSO = p.HighWatermark, stated(p.LastStableOffset)
	}
	m.run.rec.Complete(m.run.rec.Invoke(op), answer)
}

// recover goes on after an error in one partition, or in the group.
func (m *member) recover(ctx context.Context, cl *kgo.Client, p kgo.FetchTopicPartition) {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.As(p.Err, &loss): // the library goes there by itself
		m.mark(histories.Mark{Kind: histories.Reset, Offset: loss.ResetTo}, p.Partition)
	case errors.Is(p.Err, kerr.OffsetOutOfRange):
		start, err := m.start(ctx, p.Partition)
		if err != nil {
			return
		}
		m.mark(histories.Mark{Kind: histories.Reset, Offset: start}, p.Partition)
		cl.SetOffsets(map[string]map[int32]kgo.EpochOffset{m.run.Topic: {p.Partition: {Epoch: -1, Offset: start}}})
	default:
		m.run.note(fmt.Sprintf("%s: %s", m.process, codeOf(p.Err)))
		pause(ctx, backOff)
	}
}
