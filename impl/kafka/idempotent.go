package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/histories"
)

// An idempotentProducer lets the library send, retry and find leaders. A send is
// what comes of all attempts at one record. The library promises the order of
// what it is given, so a record is given to it when its call is recorded.
type idempotentProducer struct {
	*producer

	mu     sync.Mutex
	client *kgo.Client // nil after it failed, until the next send
	lost   []*kgo.Client
}

// newClient returns a producer with an id of its own. One that finds that
// records are gone stops, so that it cannot send them a second time.
func (p *idempotentProducer) newClient() (*kgo.Client, error) {
	return kgo.NewClient(p.run.options("isrcheck-"+p.process, kgo.SeedBrokers(p.routes.addresses()...),
		kgo.DialTimeout(p.run.Timeout), kgo.ProduceRequestTimeout(p.run.Timeout), kgo.RequestTimeoutOverhead(p.run.Timeout),
		kgo.RecordDeliveryTimeout(4*p.run.Timeout), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MetadataMinAge(refreshEvery), kgo.StopProducerOnDataLossDetected())...)
}

// work sends until the context ends. What is under way then may take as long as
// a request; after that the client is closed, and nobody knows.
func (p *idempotentProducer) work(ctx context.Context, first int) {
	var senders, answers sync.WaitGroup
	for i := range p.run.InFlight {
		senders.Go(func() {
			tick := newPace(p.pace)
			defer tick.stop()
			for n := first + i; tick.wait(ctx); n++ {
				select {
				case ok := <-p.begin(int32(n%int(p.run.Partitions)), &answers):
					if !ok {
						pause(ctx, backOff)
					}
				case <-ctx.Done():
				}
			}
		})
	}
	senders.Wait()
	answered := make(chan struct{})
	go func() { answers.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(2 * p.run.Timeout):
	}
	p.mu.Lock()
	for _, cl := range append(p.lost, p.client) {
		if cl != nil {
			cl.Close() // which gives every record an answer
		}
	}
	p.mu.Unlock()
	<-answered
}

// begin gives the library a record. The channel tells whether it was
// acknowledged.
func (p *idempotentProducer) begin(partition int32, answers *sync.WaitGroup) <-chan bool {
	acknowledged := make(chan bool, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == nil {
		var err error
		if p.client, err = p.newClient(); err != nil {
			acknowledged <- false
			return acknowledged
		}
	}
	cl := p.client
	op := histories.NewOp(p.process, histories.Send)
	op.On, op.Values = p.routes.on(partition), p.run.values()
	key, stated := p.run.key(op.Values)
	op.Key = stated
	id := p.run.rec.Invoke(op)
	answers.Add(1)
	record := &kgo.Record{Topic: p.run.Topic, Partition: partition, Key: key, Value: bytesOf(op.Values[0])}
	cl.Produce(context.Background(), record, func(got *kgo.Record, err error) {
		defer answers.Done()
		answer := histories.NewOp(p.process, histories.Send)
		if err == nil {
			answer.Outcome, answer.Offset = histories.OK, got.Offset
		} else {
			answer.Outcome, answer.Code = histories.Info, codeOf(err) // any attempt may have been heard
			go p.fail(cl)
		}
		p.run.rec.Complete(id, answer)
		acknowledged <- err == nil
	})
	return acknowledged
}

// fail puts a client aside that could not say what became of a record.
func (p *idempotentProducer) fail(cl *kgo.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client == cl {
		p.client, p.lost = nil, append(p.lost, cl)
	}
}

// codeOf is the code of an error that the library gave up with.
func codeOf(err error) string {
	var e *kerr.Error
	if errors.As(err, &e) {
		return nameOf(e.Code)
	}
	if errors.Is(err, kgo.ErrRecordTimeout) {
		return clientTimeout
	}
	return connectionLost
}
