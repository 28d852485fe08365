package checker

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// A workload is a test of Jepsen's against logs that are fine: threads whose
// processes are renumbered, transactions that abort and rewind their consumers,
// groups that rebalance.
type workload struct {
	t       *rapid.T
	tx      bool // every operation is a transaction
	hidden  bool // readers see what is committed
	groups  bool // consumers subscribe
	logs    [][]entry
	threads []*thread
	text    strings.Builder
	index   int
	value   int
	late    []func() // sends that may still take effect
}

// An entry is an offset of a log. State is 0 while its transaction is open, 1
// once it is committed, and -1 if it was aborted or holds no record.
type entry struct {
	value int
	state *int
}

type thread struct {
	process  int
	position map[int]int // by assigned key
	op       *running
}

// A running operation has done some of its micro-operations.
type running struct {
	f       string
	mops    []string // as invoked
	done    []string // as completed
	first   map[int]int
	state   *int
	touched map[int]bool
	moved   []int
}

func (w *workload) print(typ string, th *thread, f, value, more string) {
	fmt.Fprintf(&w.text, "{:index %d, :type :%s, :process %d, :f :%s, :value %s%s}\n", w.index, typ, th.process, f, value, more)
	w.index++
}

func (w *workload) n(lo, hi int, label string) int { return draw.Int(w.t, lo, hi, label) }

// step lets one thread go on.
func (w *workload) step() {
	if len(w.late) > 0 && w.n(0, 5, "late") == 0 {
		w.late[0]()
		w.late = w.late[1:]
	}
	th := w.threads[w.n(0, len(w.threads)-1, "thread")]
	switch {
	case th.op == nil && w.n(0, 5, "assign") == 0:
		w.assign(th, w.n(0, 1, "seek") == 0)
	case th.op == nil:
		w.begin(th)
	case len(th.op.done) < len(th.op.mops):
		w.mop(th)
	default:
		w.finish(th)
	}
}

// assign gives a consumer other keys: it keeps its position in those it had.
func (w *workload) assign(th *thread, seek bool) {
	var keys []string
	position := map[int]int{}
	for key := range w.logs {
		if w.n(0, 2, "key") == 0 {
			continue
		}
		keys = append(keys, fmt.Sprint(key))
		at, had := th.position[key]
		if position[key] = at; !had {
			position[key] = w.n(0, len(w.logs[key]), "committed")
		}
		if seek && !w.groups {
			position[key] = 0
		}
	}
	f, more := "assign", ""
	if w.groups {
		f = "subscribe"
	} else if seek {
		more = ", :seek-to-beginning? true"
	}
	value := "[" + strings.Join(keys, " ") + "]"
	w.print("invoke", th, f, value, more)
	w.print("ok", th, f, value, more)
	th.position = position
}

func (w *workload) begin(th *thread) {
	op := &running{first: map[int]int{}, touched: map[int]bool{}, state: new(int)}
	for range w.n(1, 3, "mops") {
		if w.n(0, 1, "send") == 0 {
			op.mops = append(op.mops, "[:poll]")
			continue
		}
		w.value++
		op.mops = append(op.mops, fmt.Sprintf("[:send %d %d]", w.n(0, len(w.logs)-1, "key"), w.value))
	}
	sends := 0
	for _, m := range op.mops {
		if m != "[:poll]" {
			sends++
		}
	}
	switch op.f = "txn"; sends {
	case 0:
		op.f = "poll"
	case len(op.mops):
		op.f = "send"
	}
	if !w.tx {
		*op.state = 1
	}
	th.op = op
	w.print("invoke", th, op.f, "["+strings.Join(op.mops, " ")+"]", "")
}

// mop does the next micro-operation.
func (w *workload) mop(th *thread) {
	op := th.op
	m := op.mops[len(op.done)]
	if m == "[:poll]" {
		op.done = append(op.done, w.poll(th))
		return
	}
	var key, value int
	fmt.Sscanf(m, "[:send %d %d]", &key, &value)
	op.touched[key] = true
	w.logs[key] = append(w.logs[key], entry{value, op.state})
	told := fmt.Sprint(len(w.logs[key]) - 1)
	if w.n(0, 9, "no offset") == 0 {
		told = "nil"
	}
	op.done = append(op.done, fmt.Sprintf("[:send %d [%s %d]]", key, told, value))
}

// poll hands out what is behind the consumer's position.
func (w *workload) poll(th *thread) string {
	if w.groups && w.n(0, 3, "rebalance") == 0 {
		for key := range th.position {
			th.op.moved = append(th.op.moved, key)
			th.position[key] = 0
		}
		for _, key := range th.op.moved {
			th.position[key] = w.n(0, len(w.logs[key]), "committed")
		}
	}
	var keys []string
	for key := range w.logs {
		at, ok := th.position[key]
		if !ok || w.n(0, 3, "quiet") == 0 {
			continue
		}
		var pairs []string
		for limit := w.n(1, 4, "records"); at < len(w.logs[key]) && len(pairs) < limit; at++ {
			e := w.logs[key][at]
			if w.hidden && *e.state == 0 {
				break // the last stable offset
			}
			if e.value == 0 || w.hidden && *e.state < 0 {
				continue
			}
			if _, ok := th.op.first[key]; !ok {
				th.op.first[key] = at
			}
			pairs = append(pairs, fmt.Sprintf("[%d %d]", at, e.value))
		}
		th.position[key] = at
		if len(pairs) > 0 {
			keys = append(keys, fmt.Sprintf("%d [%s]", key, strings.Join(pairs, " ")))
		}
	}
	return "[:poll {" + strings.Join(keys, ", ") + "}]"
}

// finish ends an operation, as it likes.
func (w *workload) finish(th *thread) {
	op, more := th.op, ""
	th.op = nil
	if len(op.moved) > 0 && w.tx {
		more = fmt.Sprintf(", :rebalance-log ({:type :revoked, :keys %v})", op.moved)
	}
	typ := []string{"ok", "ok", "ok", "fail", "info"}[w.n(0, 4, "type")]
	if !w.tx && typ == "fail" && len(op.touched) > 0 {
		typ = "info"
	}
	if w.tx {
		settle := func(state int) func() {
			return func() {
				*op.state = state
				for key := range w.logs {
					if op.touched[key] {
						w.logs[key] = append(w.logs[key], entry{0, new(int)})
						*w.logs[key][len(w.logs[key])-1].state = -1
					}
				}
			}
		}
		switch {
		case typ == "ok":
			settle(1)()
		case typ == "fail" || w.n(0, 1, "aborted") == 0:
			settle(-1)()
		default:
			w.late = append(w.late, settle(1))
		}
	}
	if typ == "info" && w.n(0, 1, "cut off") == 0 { // what comes last is not told
		op.done[len(op.done)-1] = op.mops[len(op.mops)-1]
	}
	w.print(typ, th, op.f, "["+strings.Join(op.done, " ")+"]", more)
	if typ != "ok" {
		for key, at := range op.first {
			if _, ok := th.position[key]; ok {
				th.position[key] = at
			}
		}
	}
	if typ == "info" {
		th.process += len(w.threads)
		th.position = map[int]int{}
	}
}

// final lets everything end, and reads all there is from the beginning, as the
// last phase of Jepsen's test does. A lossy log loses one of its entries before.
func (w *workload) final(lossy bool) {
	for _, th := range w.threads {
		for th.op != nil {
			if len(th.op.done) < len(th.op.mops) {
				w.mop(th)
			} else {
				w.finish(th)
			}
		}
	}
	for _, settle := range w.late {
		settle()
	}
	if log := w.logs[0]; lossy && len(log) > 0 {
		log[w.n(0, len(log)-1, "lost")].value = 0
	}
	reader := &thread{process: 1000}
	w.print("invoke", reader, "assign", "[0 1]", ", :seek-to-beginning? true")
	w.print("ok", reader, "assign", "[0 1]", ", :seek-to-beginning? true")
	reader.position = map[int]int{0: 0, 1: 0}
	for reader.position[0] < len(w.logs[0]) || reader.position[1] < len(w.logs[1]) {
		op := &running{first: map[int]int{}, state: new(int)}
		reader.op = op
		w.print("invoke", reader, "poll", "[[:poll]]", "")
		groups := w.groups
		w.groups = false
		w.print("ok", reader, "poll", "["+w.poll(reader)+"]", "")
		w.groups = groups
	}
}

// TestJepsenLikeHistories lets Jepsen's workload run on logs that are fine.
// None of its histories may be called a violation, and some losses are found.
func TestJepsenLikeHistories(t *testing.T) {
	judged, fine, lost, found, n := 0, 0, 0, 0, drawn(t, 600)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			w := &workload{t: t, tx: rapid.Bool().Draw(t, "transactions"), groups: draw.OneIn(t, 3, "groups"), logs: make([][]entry, 2)}
			w.hidden = w.tx && rapid.Bool().Draw(t, "read_committed")
			for i := range w.n(1, 3, "threads") {
				w.threads = append(w.threads, &thread{process: i, position: map[int]int{}})
			}
			for _, th := range w.threads {
				w.assign(th, true)
			}
			if w.tx { // as every recording of transactions has
				w.print("invoke", w.threads[0], "txn", "[[:poll]]", "")
				w.print("ok", w.threads[0], "txn", "[[:poll {}]]", "")
			}
			for range w.n(10, 40, "steps") {
				w.step()
			}
			lossy := draw.OneIn(t, 4, "lossy")
			w.final(lossy)
			config := histories.Config{{Key: "enable.idempotence", Value: "true"}}
			if w.hidden {
				config = append(config, histories.Setting{Key: "isolation.level", Value: "read_committed"})
			}
			source, _ := importers.Lookup("jepsen")
			r, err := importers.Read("drawn", strings.NewReader(w.text.String()), importers.Options{From: source, Config: config, Transactions: w.tx && draw.OneIn(t, 2, "together")})
			if err != nil && strings.Contains(err.Error(), "nothing of the kind") {
				continue
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, &w.text)
			}
			got := Check(context.Background(), r.History, Options{Engine: Both})
			if lossy {
				if lost++; got.Verdict == Violates {
					found++
				}
				continue
			}
			if got.Verdict != Conforms && got.Verdict != Undecided {
				t.Fatalf("%v\n%s\n%s", got.Err(), &w.text, r.AppendNotation(nil))
			}
			if judged++; got.Verdict == Conforms {
				fine++
			}
		}
	})
	t.Logf("%d of %d histories are ok, the others undecided; of %d lossy logs %d are found", fine, judged, lost, found)
	if fine < judged/2 || lost >= 200 && found < lost/10 {
		t.Errorf("only %d of %d histories are ok, and of %d lossy logs only %d are found", fine, judged, lost, found)
	}
}
