package checker

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// A stranger is a kind of log, and of recording, that is not the reference
// implementation's: one log in memory, of which clients see what its kind lets
// them see. What it records is legal.
type stranger struct {
	name     string
	config   histories.Config
	first    int64 // offset of the first record
	gap      bool  // offsets are skipped
	copies   bool  // a retry may leave a copy
	stale    bool  // reads may be short
	restarts bool  // which leave what is under way unanswered
	moves    bool  // consumers are rebalanced
}

func config(pairs ...string) (c histories.Config) {
	for i := 0; i < len(pairs); i += 2 {
		c = append(c, histories.Setting{Key: pairs[i], Value: pairs[i+1]})
	}
	return c
}

var strangers = []stranger{
	{name: "write-ahead log of one node", config: config("acks", "all", "enable.idempotence", "true", "offsets", "dense", "reads", "linearizable", "system", "other"), restarts: true},
	{name: "stream of messages counted from one", config: config("acks", "all", "enable.idempotence", "true", "system", "other"), first: 1, restarts: true},
	{name: "cluster with control records", config: config("acks", "all", "enable.idempotence", "true"), gap: true, stale: true, restarts: true},
	{name: "consumers of a group", config: config("acks", "all", "enable.idempotence", "true", "assignment", "subscribe"), gap: true, stale: true, moves: true},
	{name: "clients with retries of their own", config: config("acks", "all", "offsets", "dense"), copies: true, stale: true, restarts: true},
}

// A recording is a history in the making.
type recording struct {
	*stranger
	rng    *rand.Rand
	log    []histories.Record
	end    int64
	value  int64
	now    int64
	ops    []histories.Op
	marks  []histories.Mark
	busy   map[string]int64 // until when
	at     map[string]int64 // where each consumer is
	effect []func()         // by time
	due    []int64
	known  map[string]int64 // the end that each client was told
}

// record makes a legal history of so many ticks.
func (s *stranger) record(rng *rand.Rand, ticks int64) *recording {
	r := &recording{stranger: s, rng: rng, end: s.first, busy: map[string]int64{}, at: map[string]int64{}, known: map[string]int64{}}
	for ; r.now < ticks; r.now++ {
		r.happen()
		if s.restarts && rng.IntN(12) == 0 {
			r.restart()
		}
		for i := range 6 {
			r.begin(fmt.Sprintf("%c%d", "PPPCCC"[i], i), i < 3)
		}
	}
	for ; len(r.effect) > 0; r.now++ {
		r.happen()
	}
	scan := r.op("S", histories.Scan, r.now+20)
	scan.Return, scan.Outcome, scan.Records, scan.End = r.now+21, histories.OK, slices.Clone(r.log), r.end
	return r
}

// happen lets all that is due take effect, in any order.
func (r *recording) happen() {
	for {
		var due []int
		for i, t := range r.due {
			if t <= r.now {
				due = append(due, i)
			}
		}
		if due == nil {
			return
		}
		i := due[r.rng.IntN(len(due))]
		f := r.effect[i]
		r.effect, r.due = slices.Delete(r.effect, i, i+1), slices.Delete(r.due, i, i+1)
		f()
	}
}

func (r *recording) later(t int64, f func()) { r.effect, r.due = append(r.effect, f), append(r.due, t) }

// op adds an operation. The pointer is good until the next one.
func (r *recording) op(process string, kind histories.Kind, call int64) *histories.Op {
	o := histories.NewOp(process, kind)
	o.Call = call
	r.ops = append(r.ops, o)
	return &r.ops[len(r.ops)-1]
}

// restart leaves every send that is under way unanswered.
func (r *recording) restart() {
	r.marks = append(r.marks, histories.Mark{Time: r.now, Text: "restart", Offset: histories.None})
	for i := range r.ops {
		if o := &r.ops[i]; o.Kind == histories.Send && o.Outcome == histories.Open && r.rng.IntN(2) == 0 {
			o.Outcome, o.Code = histories.Info, "REQUEST_TIMED_OUT"
			o.Return = r.now
			r.busy[o.Process] = r.now
		}
	}
}

func (r *recording) begin(process string, producer bool) {
	if r.busy[process] > r.now || r.rng.IntN(3) > 0 {
		return
	}
	i := len(r.ops)
	acts := r.now + r.rng.Int64N(4)
	returns := acts + r.rng.Int64N(4)
	r.busy[process] = returns
	if producer {
		r.send(process, i, acts, returns)
		return
	}
	switch r.rng.IntN(4) {
	case 0:
		r.op(process, histories.List, r.now).At = "latest"
	case 1:
		r.op(process, histories.Fetch, r.now).From = r.first + r.rng.Int64N(r.end-r.first+1)
	default:
		if r.moves && r.rng.IntN(4) == 0 {
			to := r.first + r.rng.Int64N(r.end-r.first+1)
			r.marks = append(r.marks, histories.Mark{Time: r.now, Kind: histories.Assigned, Process: process, On: histories.DefaultPartition, Offset: to})
			r.at[process] = to
			r.busy[process] = r.now + 1
			return
		}
		r.op(process, histories.Poll, r.now)
	}
	r.later(acts, func() { r.read(&r.ops[i], returns) })
}

// send lands a batch, now and then twice where retries do that, and now and
// then after its producer was told that nobody knows.
func (r *recording) send(process string, i int, acts, returns int64) {
	o := r.op(process, histories.Send, r.now)
	for range 1 + r.rng.IntN(3) {
		r.value++
		o.Values = append(o.Values, histories.Int(r.value))
	}
	values := o.Values
	land := func() int64 {
		if r.gap && r.rng.IntN(4) == 0 {
			r.end++
		}
		base := r.end
		for _, v := range values {
			r.log = append(r.log, histories.Record{Offset: r.end, Value: v})
			r.end++
		}
		return base
	}
	r.later(acts, func() {
		if r.ops[i].Outcome == histories.Info && r.rng.IntN(2) == 0 {
			return // it never lands
		}
		base := land()
		if r.copies && r.rng.IntN(4) == 0 {
			land()
		}
		if o := &r.ops[i]; o.Outcome == histories.Open {
			o.Outcome, o.Return, o.Offset = histories.OK, returns, base
		}
	})
}

// read answers a read of whatever kind.
func (r *recording) read(o *histories.Op, returns int64) {
	o.Outcome, o.Return = histories.OK, returns
	end := r.end
	if r.stale && r.rng.IntN(2) == 0 {
		end = max(r.known[o.Process], r.first, end-r.rng.Int64N(4))
	}
	if o.Kind == histories.List {
		r.known[o.Process] = end
		o.Offset = end
		return
	}
	from := o.From
	if o.Kind == histories.Poll {
		from = r.at[o.Process]
	}
	most := 1 + r.rng.IntN(6)
	for _, rec := range r.log {
		if rec.Offset >= from && rec.Offset < end && len(o.Records) < most {
			o.Records = append(o.Records, rec)
		}
	}
	if o.Kind == histories.Fetch || len(o.Records) == 0 {
		o.HW = end
	}
	if n := len(o.Records); n > 0 && o.Kind == histories.Poll {
		r.at[o.Process] = o.Records[n-1].Offset + 1
	}
}

func (r *recording) history(t *testing.T) *histories.History {
	t.Helper()
	ops := slices.Clone(r.ops)
	h, err := histories.New(r.name, histories.Header{Config: r.config}, ops, r.marks)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// pick returns one operation that is fit, nil if none is.
func (r *recording) pick(fit func(o *histories.Op) bool) *histories.Op {
	var all []*histories.Op
	for i := range r.ops {
		if fit(&r.ops[i]) {
			all = append(all, &r.ops[i])
		}
	}
	if all == nil {
		return nil
	}
	return all[r.rng.IntN(len(all))]
}

func isScan(o *histories.Op) bool { return o.Kind == histories.Scan }

func acked(o *histories.Op) bool { return o.Kind == histories.Send && o.Outcome == histories.OK }

// harms make a legal recording an illegal one. Each reports whether it could.
var harms = []struct {
	name string
	do   func(r *recording) bool
}{
	{"acknowledged record missing from the scan", func(r *recording) bool {
		s, o := r.pick(isScan), r.pick(acked)
		if o == nil || r.copies {
			return false
		}
		s.Records = slices.DeleteFunc(slices.Clone(s.Records), func(x histories.Record) bool { return x.Value == o.Values[0] })
		return true
	}},
	{"log cut short", func(r *recording) bool {
		s, o := r.pick(isScan), r.pick(acked)
		if o == nil {
			return false
		}
		s.End = o.Offset
		s.Records = slices.DeleteFunc(slices.Clone(s.Records), func(x histories.Record) bool { return x.Offset >= s.End })
		return true
	}},
	{"values of two acknowledged sends swapped", func(r *recording) bool {
		s := r.pick(isScan)
		var at []int
		for i, x := range s.Records {
			if r.pick(func(o *histories.Op) bool { return acked(o) && o.Offset == x.Offset && o.Values[0] == x.Value }) != nil {
				at = append(at, i)
			}
		}
		if len(at) < 2 {
			return false
		}
		s.Records = slices.Clone(s.Records)
		i, j := at[0], at[len(at)-1]
		s.Records[i].Value, s.Records[j].Value = s.Records[j].Value, s.Records[i].Value
		return true
	}},
	{"value nobody sent", func(r *recording) bool {
		o := r.pick(func(o *histories.Op) bool { return len(o.Records) > 0 })
		if o == nil {
			return false
		}
		o.Records = slices.Clone(o.Records)
		o.Records[r.rng.IntN(len(o.Records))].Value = histories.String("nobody's")
		return true
	}},
	{"refused and visible", func(r *recording) bool {
		o := r.pick(acked)
		if o == nil {
			return false
		}
		o.Outcome, o.Offset = histories.Fail, histories.None
		return true
	}},
	{"another offset told", func(r *recording) bool {
		o := r.pick(acked)
		if o == nil || r.copies {
			return false
		}
		o.Offset++
		return true
	}},
	{"stored once more", func(r *recording) bool {
		s, o := r.pick(isScan), r.pick(acked)
		if o == nil || r.copies {
			return false
		}
		s.Records = append(slices.Clone(s.Records), histories.Record{Offset: s.End, Value: o.Values[0]})
		s.End++
		return true
	}},
	{"record left out of an answer", func(r *recording) bool {
		o := r.pick(func(o *histories.Op) bool { return len(o.Records) > 2 && !isScan(o) })
		if o == nil {
			return false
		}
		o.Records = slices.Delete(slices.Clone(o.Records), 1, 2)
		return true
	}},
	{"answer in another order", func(r *recording) bool {
		o := r.pick(func(o *histories.Op) bool { return len(o.Records) > 1 })
		if o == nil {
			return false
		}
		o.Records = slices.Clone(o.Records)
		o.Records[0], o.Records[1] = o.Records[1], o.Records[0]
		return true
	}},
	{"poll handed out again", func(r *recording) bool {
		last := map[string]int{}
		for i := range r.ops {
			o := &r.ops[i]
			if o.Kind != histories.Poll || len(o.Records) == 0 {
				continue
			}
			if j, ok := last[o.Process]; ok && !r.moves {
				o.Records = append([]histories.Record{r.ops[j].Records[0]}, o.Records...)
				return true
			}
			last[o.Process] = i
		}
		return false
	}},
	{"poll begins late", func(r *recording) bool {
		last := map[string]bool{}
		for i := range r.ops {
			o := &r.ops[i]
			if o.Kind != histories.Poll || len(o.Records) == 0 {
				continue
			}
			if last[o.Process] && len(o.Records) > 1 && !r.moves {
				o.Records = o.Records[1:]
				return true
			}
			last[o.Process] = true
		}
		return false
	}},
	{"end told lower than before", func(r *recording) bool {
		told := map[string]int64{}
		for i := range r.ops {
			o := &r.ops[i]
			if o.Kind != histories.List {
				continue
			}
			if end, ok := told[o.Process]; ok && end > 0 {
				o.Offset = end - 1
				return true
			}
			told[o.Process] = o.Offset
		}
		return false
	}},
	{"read before it was sent", func(r *recording) bool {
		s := r.pick(isScan)
		if len(s.Records) == 0 {
			return false
		}
		x := s.Records[len(s.Records)-1]
		o := r.pick(func(o *histories.Op) bool { return o.Kind == histories.Send && slices.Contains(o.Values, x.Value) })
		if o == nil || o.Call == 0 {
			return false
		}
		early := r.op("early", histories.Fetch, 0)
		early.From, early.Outcome, early.Return, early.Records = x.Offset, histories.OK, o.Call-1, []histories.Record{x}
		return true
	}},
}

// TestStrangers judges recordings of other kinds of logs: no false alarm while
// they are legal, and none passes once it was damaged. STRANGERS is how many of
// each kind.
func TestStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("many judgements, each of one goroutine")
	}
	n, _ := strconv.Atoi(os.Getenv("STRANGERS"))
	n = cmp.Or(n, 25)
	for i := range strangers {
		s := &strangers[i]
		t.Run(s.name, func(t *testing.T) {
			found, undecided := map[string]int{}, map[string]int{}
			for seed := range uint64(n) {
				make := func() *recording { return s.record(rand.New(rand.NewPCG(seed, 1)), 30) }
				h := make().history(t)
				if r := Check(context.Background(), h, Options{Engine: Both}); r.Verdict != Conforms {
					t.Fatalf("seed %d: %v\n%s", seed, r.Err(), h.AppendNotation(nil))
				}
				for _, d := range harms {
					damaged := make()
					if !d.do(damaged) {
						continue
					}
					found[d.name]++
					h := damaged.history(t)
					switch r := Check(context.Background(), h, Options{Engine: Both}); {
					case r.Verdict == Undecided:
						undecided[d.name]++
					case r.Verdict != Violates:
						t.Errorf("seed %d, %s: %s %s\n%s", seed, d.name, r.Verdict, r.Reason, h.AppendNotation(nil))
					}
				}
			}
			t.Logf("found %v, of these undecided %v", found, undecided)
			if len(found) < 6 {
				t.Errorf("only these harms were done: %v", found)
			}
		})
	}
}
