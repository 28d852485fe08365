package histories

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Recorder records what concurrent clients see, while they see it. It is
// safe for use by many goroutines.
//
// Every event is written with one call of Write that ends in a line break, so
// that what a killed run leaves behind is readable up to its last line (with
// [WrittenAsItGoes] in the header, also if that one is cut off): the
// operations without an answer are open, which is what they were.
//
// The first thing that goes wrong (an event that no history may hold, a failed
// write, a clock that went back) is reported by Close. An event at fault is
// not recorded; an operation whose answer is at fault stays open.
type Recorder struct {
	mu     sync.Mutex
	w      io.Writer // nil where there is none, or it failed
	header Header
	clock  func() int64
	now    int64 // time of the last event
	out    eventWriter
	ops    []Op
	marks  []Mark
	calls  map[int64]bool       // operations under way, by their place in ops
	busy   map[string]occupancy // what every process has under way
	err    error                // the first thing that went wrong
	closed bool
}

// occupancy counts the operations a process has under way.
type occupancy struct{ sends, others int }

// NewRecorder returns a recorder that writes to w as it goes, beginning with
// the header. If w is nil, it only remembers. The clock must never go back; if
// it is nil, time is counted in nanoseconds from now, on a monotonic clock.
func NewRecorder(w io.Writer, h Header, clock func() int64) (*Recorder, error) {
	empty, err := New("recording", h, nil, nil)
	if err != nil {
		return nil, err
	}
	if clock == nil {
		start := time.Now()
		clock = func() int64 { return int64(time.Since(start)) }
	}
	r := &Recorder{w: w, header: h, clock: clock, calls: make(map[int64]bool), busy: make(map[string]occupancy)}
	if w != nil {
		if err := empty.WriteEvents(w); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Invoke records that a client is about to ask for something. Call it before
// the request can have any effect. The operation is made with [NewOp]; its
// times and its answer are ignored. The id names it to Complete; it is None if
// the operation was not recorded.
func (r *Recorder) Invoke(op Op) (id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := NewOp(op.Process, op.Kind)
	asked.On, asked.Values, asked.Key, asked.Acks, asked.Tx = op.On, op.Values, op.Key, op.Acks, op.Tx
	asked.From, asked.Max, asked.At, asked.TS, asked.To = op.From, op.Max, op.At, op.TS, op.To
	asked.Call = r.tick()
	if err := asked.checkCall(); err != nil {
		r.fail(fmt.Errorf("recording %s of %s: %w", op.Kind, op.Process, err))
		return None
	}
	busy := r.busy[op.Process]
	if busy.others > 0 || busy.sends > 0 && op.Kind != Send {
		r.fail(fmt.Errorf("recording %s: process %s has an operation under way; only its sends may overlap", asked.String(), op.Process))
		return None
	}
	if r.closed {
		r.fail(fmt.Errorf("recording %s: the recorder is closed", asked.String()))
		return None
	}
	busy.count(op.Kind, +1)
	r.busy[op.Process] = busy
	id = int64(len(r.ops))
	r.calls[id] = true
	asked.Index = len(r.ops) + len(r.marks)
	r.ops = append(r.ops, asked)
	r.out.invoke(&asked, sendID(&asked, id))
	r.write()
	return id
}

// Complete records what became of an operation: the Outcome of the answer, and
// what came back. The answer is made with [NewOp]; all else in it is ignored.
// Call it after the answer has arrived. An operation whose client gave up is
// [Info].
func (r *Recorder) Complete(id int64, answer Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.calls[id] || r.closed {
		if id != None { // that one was reported when it was invoked
			r.fail(fmt.Errorf("recording an answer: no operation with id %d is under way", id))
		}
		return
	}
	o := r.ops[id]
	o.Outcome, o.Return = answer.Outcome, r.tick()
	o.Code, o.Offset, o.Records = answer.Code, answer.Offset, answer.Records
	o.HW, o.LSO, o.Start, o.End = answer.HW, answer.LSO, answer.Start, answer.End
	if o.Outcome == Open {
		r.fail(fmt.Errorf("recording the answer to %s: expected the outcome ok, fail or info", o.asked()))
		return
	}
	if err := o.checkReturn(); err != nil {
		r.fail(fmt.Errorf("recording the answer to %s: %w", o.asked(), err))
		return
	}
	delete(r.calls, id)
	busy := r.busy[o.Process]
	busy.count(o.Kind, -1)
	r.busy[o.Process] = busy
	r.ops[id] = o
	r.out.complete(&o, sendID(&o, id))
	r.write()
}

// Mark records a fault, or what a client did beside its operations. Its Time
// is ignored.
func (r *Recorder) Mark(m Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.Time = r.tick()
	if err := m.check(); err != nil {
		r.fail(fmt.Errorf("recording a mark: %w", err))
		return
	}
	if r.closed {
		r.fail(fmt.Errorf("recording a mark: the recorder is closed"))
		return
	}
	m.Index = len(r.ops) + len(r.marks)
	r.marks = append(r.marks, m)
	r.out.mark(&m)
	r.write()
}

// Close ends the recording and returns it. Operations without an answer stay
// open. The error is the first thing that went wrong; the history holds what
// was recorded in spite of it. Close does not close the writer.
func (r *Recorder) Close() (*History, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	h, err := New("recording", r.header, r.ops, r.marks)
	if r.err != nil {
		err = r.err
	}
	return h, err
}

// count adds to what is under way.
func (o *occupancy) count(k Kind, n int) {
	if k == Send {
		o.sends += n
	} else {
		o.others += n
	}
}

// sendID is what the events of a send are paired by: whether the process will
// have another under way is not known yet.
func sendID(o *Op, id int64) int64 {
	if o.Kind == Send {
		return id
	}
	return None
}

// tick returns the time of an event, which is never before that of the last.
func (r *Recorder) tick() int64 {
	now := r.clock()
	if now < r.now {
		r.fail(fmt.Errorf("recording: the clock went back from %d to %d", r.now, now))
		now = r.now
	}
	r.now = now
	return now
}

// write hands the line to the writer. After a failed write there are no more:
// the file stays readable up to there.
func (r *Recorder) write() {
	if r.w != nil {
		if _, err := r.w.Write(r.out.buf); err != nil {
			r.fail(fmt.Errorf("recording: %w", err))
			r.w = nil
		}
	}
	r.out.buf = r.out.buf[:0]
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
