package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/isrcheck/isrcheck/histories"
)

// A Summary says what a recording holds.
type Summary struct {
	History    *histories.History // what was recorded
	Topic      string
	TopicID    string        // as the cluster has it
	Partitions int           // of the topic
	Scanned    int           // partitions that were read to the end after the faults
	Elections  int           // changes of leaders or their epochs that the clients were told of
	Took       time.Duration // from the first operation to the last
	Remarks    []string      // what is not as it should be, for people
}

// run is one recording.
type run struct {
	Config
	config    histories.Config // of the header
	compacted bool             // records need keys
	gone      bool             // no broker knows the topic any more
	rec       *histories.Recorder
	start     time.Time
	lastValue atomic.Int64
	sides     []*routes
	born      births

	mu      sync.Mutex
	summary Summary
}

// Record works on the cluster for the duration, or until the context ends, and
// then reads every partition to its end. The error is an [ErrConfig], or says
// why there is no recording or not all of it; a history that was begun is in
// the summary all the same.
func Record(ctx context.Context, c Config) (Summary, error) {
	if err := c.Validate(); err != nil {
		return Summary{}, err
	}
	r := &run{Config: c.withDefaults()}
	r.Say("waiting for an answer from " + r.asked())
	if err := r.prepare(ctx); err != nil {
		return Summary{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if r.Out != nil {
		r.Out = &watched{r.Out, stop}
	}
	header := histories.Header{Config: r.config, Note: r.provenance()}
	rec, err := histories.NewRecorder(r.Out, header, nil)
	if err != nil {
		return Summary{}, err
	}
	r.Say("clients at work")
	r.rec, r.start = rec, time.Now()
	err = r.record(ctx)
	r.summary.Took = time.Since(r.start)
	h, closing := rec.Close()
	r.summary.History, r.summary.Partitions = h, int(r.Partitions)
	for _, side := range r.sides {
		r.summary.Elections = max(r.summary.Elections, side.elections)
	}
	if err == nil {
		err = closing
	}
	return r.summary, err
}

// record is all that is in the history. It ends with a note that says whether
// every partition was read to its end, whatever else went wrong.
func (r *run) record(ctx context.Context) error {
	w := newWire(&r.Config)
	defer w.close()
	for i, seeds := range r.Sides {
		name := "the cluster"
		if len(r.Sides) > 1 {
			name = fmt.Sprintf("side %d", i+1)
		}
		r.sides = append(r.sides, &routes{name: name, topic: r.Topic, seeds: seeds, open: len(r.Sides) == 1, wire: w, news: r.note, born: &r.born})
	}
	for _, side := range r.sides {
		side.refresh(ctx)
	}
	err := r.work(ctx)
	if unwritten := (*unwrittenError)(nil); errors.As(context.Cause(ctx), &unwritten) {
		return unwritten // nobody would be told what came of it
	}
	// The end of the work, however early, is no reason not to look at what
	// became of it.
	ctx = context.WithoutCancel(ctx)
	reading := r.readToTheEnd(ctx, w)
	if reading != nil {
		r.note(histories.Incomplete + strings.Join(strings.Fields(reading.Error()), " "))
	} else {
		r.note(histories.Complete)
	}
	return cmp.Or(err, reading)
}

// readToTheEnd scans the cluster once it is at rest; a scan of one that is not is
// none.
func (r *run) readToTheEnd(ctx context.Context, w *wire) error {
	r.Say("waiting until the cluster answers")
	if err := r.settle(ctx, w); err != nil {
		return err
	}
	r.Say("reading every partition to its end")
	return r.scan(ctx, w)
}

// work runs the clients and the nemesis for the duration, and returns when all
// of them have ended.
func (r *run) work(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	defer context.AfterFunc(ctx, func() { r.Say("waiting for the last answers and the end of faults") })()
	var wg sync.WaitGroup
	var wires []*wire
	dedicated := func() *wire {
		w := newWire(&r.Config)
		wires = append(wires, w)
		return w
	}
	for i := range r.Producers {
		p := &producer{run: r, process: fmt.Sprintf("P%d", i+1), routes: r.side(i), wire: dedicated()}
		if r.Rate > 0 {
			p.pace = time.Duration(r.Producers*r.InFlight) * time.Second / time.Duration(r.Rate)
		}
		var client interface{ work(context.Context, int) } = p
		if r.Idempotent {
			client = &idempotentProducer{producer: p}
		}
		wg.Go(func() { client.work(ctx, i) })
	}
	for i := range r.Consumers {
		w := dedicated()
		if r.Group {
			m := &member{reader: r.reader(i, w), process: fmt.Sprintf("G%d", i+1)}
			wg.Go(func() { m.work(ctx) })
			continue
		}
		for partition := range r.Partitions {
			c := r.consumer(fmt.Sprintf("C%d-%d", i+1, partition), partition, i, w)
			wg.Go(func() { c.work(ctx) })
		}
	}
	var err error
	if r.Nemesis != nil {
		err = r.Nemesis.Run(ctx, r.mark)
	}
	if err != nil {
		cancel()
	}
	wg.Wait()
	for _, w := range wires {
		w.close()
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the nemesis: %w", err)
	}
	return err
}

// side returns what the client with that number goes by.
func (r *run) side(i int) *routes { return r.sides[i%len(r.sides)] }

func (r *run) reader(i int, w *wire) *reader {
	return &reader{run: r, routes: r.side(i), wire: w, unpack: kgo.DefaultDecompressor()}
}

func (r *run) consumer(process string, partition int32, i int, w *wire) *consumer {
	return &consumer{reader: r.reader(i, w), process: process, partition: partition}
}

// scan reads every partition, each as a process of its own.
func (r *run) scan(ctx context.Context, w *wire) error {
	ctx, cancel := context.WithTimeout(ctx, r.Settle)
	defer cancel()
	errs := r.eachPartition("S%d", w, func(c *consumer) error { return c.scan(ctx) })
	var first error
	for i, err := range errs {
		if err == nil {
			r.summary.Scanned++
		} else if first == nil {
			first = fmt.Errorf("partition %s was not read to its end: %w", partitionName(r.Topic, int32(i), 1), err)
		}
	}
	for i, id := range r.born.former() {
		r.remark("topic %s was made anew while it was recorded; the one before, with id %s, was asked for at the end as well", r.Topic, uuid(id))
		errs := r.eachPartition(fmt.Sprintf("S%%d-%d", i+1), w, func(c *consumer) error { return c.scanFormer(ctx, i+1, id) })
		first = cmp.Or(first, cmp.Or(errs...))
	}
	return first
}

// eachPartition has a consumer for each partition do something, all of them at
// the same time.
func (r *run) eachPartition(process string, w *wire, do func(*consumer) error) []error {
	var wg sync.WaitGroup
	errs := make([]error, r.Partitions)
	for partition := range r.Partitions {
		c := r.consumer(fmt.Sprintf(process, partition), partition, 0, w)
		wg.Go(func() { errs[partition] = do(c) })
	}
	wg.Wait()
	return errs
}

// values returns the values of the next batch, which nobody sent before.
func (r *run) values() []histories.Value {
	out := make([]histories.Value, r.Batch)
	last := r.lastValue.Add(int64(r.Batch))
	for i := range out {
		out[i] = histories.Int(last - int64(r.Batch-1-i))
	}
	return out
}

// keys is how many keys the records of a compacted topic have.
const keys = 100

// key returns the key of a batch, on the wire and in the history; a topic that
// is not compacted needs none.
func (r *run) key(values []histories.Value) (wire []byte, stated string) {
	if !r.compacted {
		return nil, ""
	}
	n, _ := values[0].Integer()
	stated = fmt.Sprint(n % keys)
	return []byte(stated), stated
}

// provenance says in the header where the recording is from.
func (r *run) provenance() string {
	lines := []string{fmt.Sprintf("source=check record; topic %s, id %s, partitions %d; begun %s", r.Topic, r.summary.TopicID, r.Partitions, time.Now().UTC().Format(time.RFC3339)),
		fmt.Sprintf("producers %d, consumers %d, batches of %d, request timeout %s", r.Producers, r.Consumers, r.Batch, r.Timeout)}
	if n, ok := r.Nemesis.(fmt.Stringer); ok {
		lines = append(lines, n.String())
	}
	for _, remark := range r.summary.Remarks {
		lines = append(lines, strings.Join(strings.Fields(remark), " "))
	}
	return strings.Join(lines, "\n")
}

// note records something for people.
func (r *run) note(text string) { r.mark(histories.Note, text) }

// mark records a fault or its end, or a note.
func (r *run) mark(kind histories.MarkKind, text string) {
	m := histories.Mark{Kind: kind, Text: text, Offset: histories.None}
	if kind == histories.Note {
		m.Process = "recorder"
	}
	r.rec.Mark(m)
}

// remark remembers what a person should know of the recording.
func (r *run) remark(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Remarks = append(r.summary.Remarks, fmt.Sprintf(format, args...))
}
