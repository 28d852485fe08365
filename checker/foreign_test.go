package checker

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories"
	"github.com/isrcheck/isrcheck/histories/importers"
	"github.com/isrcheck/isrcheck/model/modeltest"
)

// A foreign prints a history as another tool would have recorded it. What the
// tool does not record is left out.
type foreign struct {
	source string
	exact  bool // it records reads of the whole log at one instant
	plain  bool // it records values and nothing besides
	event  func(f *foreignLog, o *histories.Op, process int, typ string) string
}

var foreigners = []foreign{
	{"jepsen", false, false, func(f *foreignLog, o *histories.Op, process int, typ string) string {
		name, value := jepsenValue(o, typ, "4")
		if o.Index%4 == 0 && name != "assign" {
			name = "txn"
		}
		return fmt.Sprintf("{:index %d, :time %d, :type :%s, :process %d, :f :%s, :value %s}\n", f.index, f.index*7, typ, process, name, value)
	}},
	{"jepsen", false, true, func(f *foreignLog, o *histories.Op, process int, typ string) string {
		name, value := jepsenValue(o, typ, "4")
		return fmt.Sprintf("%d\t:%s\t:%s\t%s\n", process, typ, name, value)
	}},
	{"maelstrom", false, false, func(f *foreignLog, o *histories.Op, process int, typ string) string {
		name, value := jepsenValue(o, typ, `"k"`)
		return fmt.Sprintf("{:process %d, :type :%s, :f :%s, :value %s}\n", process, typ, name, value)
	}},
	{"s2", true, true, s2Event},
	{"porcupine-kv", true, true, kvEvent},
}

// A foreignLog is a recording under way.
type foreignLog struct {
	final   []histories.Record // the log as the last scan shows it
	index   int
	numbers map[string]int
	ids     map[*histories.Op]int
}

// jepsenValue is the value of an event of Jepsen's Kafka workload: a batch is
// several sends there.
func jepsenValue(o *histories.Op, typ, key string) (name, value string) {
	var mops []string
	if o.Kind == histories.Assign {
		return "assign", fmt.Sprintf("[%s], :seek-to-beginning? true", key)
	}
	if o.Kind != histories.Send {
		if typ == "ok" {
			pairs := make([]string, len(o.Records))
			for i, r := range o.Records {
				pairs[i] = fmt.Sprintf("[%d %s]", r.Offset, r.Value)
			}
			return "poll", fmt.Sprintf("[[:poll {%s [%s]}]]", key, strings.Join(pairs, " "))
		}
		return "poll", "[[:poll]]"
	}
	for i, v := range o.Values {
		told := v.String()
		if typ != "invoke" && o.Offset != histories.None {
			told = fmt.Sprintf("[%d %s]", o.Offset+int64(i), v)
		} else if typ == "ok" {
			told = fmt.Sprintf("[nil %s]", v)
		}
		mops = append(mops, fmt.Sprintf("[:send %s %s]", key, told))
	}
	return "send", "[" + strings.Join(mops, " ") + "]"
}

func s2Hash(v histories.Value) uint64 { return xxh3.HashString(v.String()) }

func s2Event(f *foreignLog, o *histories.Op, process int, typ string) string {
	event := map[histories.Kind]string{histories.Send: "Append", histories.List: "CheckTail"}[o.Kind]
	event = cmp.Or(event, "Read")
	var hash uint64
	for _, r := range f.final[:max(o.HW, 0)] {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], s2Hash(r.Value))
		hash = xxh3.HashSeed(b[:], hash)
	}
	tail := max(o.HW, o.Offset)
	switch {
	case typ == "invoke" && o.Kind == histories.Send:
		hashes := make([]string, len(o.Values))
		for i, v := range o.Values {
			hashes[i] = fmt.Sprint(s2Hash(v))
		}
		event = fmt.Sprintf(`{"Start":{"Append":{"num_records":%d,"record_hashes":[%s]}}}`, len(hashes), strings.Join(hashes, ","))
	case typ == "invoke":
		event = fmt.Sprintf(`{"Start":%q}`, event)
	case typ == "ok":
		if o.Kind == histories.Send {
			tail += int64(len(o.Values))
		}
		event = fmt.Sprintf(`{"Finish":{"%sSuccess":{"tail":%d,"stream_hash":%d}}}`, event, tail, hash)
	case o.Kind == histories.Send:
		event = map[string]string{"fail": `{"Finish":"AppendDefiniteFailure"}`, "info": `{"Finish":"AppendIndefiniteFailure"}`}[typ]
	default:
		event = fmt.Sprintf(`{"Finish":"%sFailure"}`, event)
	}
	if f.ids[o] == 0 {
		f.ids[o] = len(f.ids) + 1
	}
	return fmt.Sprintf(`{"event":%s,"client_id":%d,"op_id":%d}`+"\n", event, process, f.ids[o])
}

func kvEvent(f *foreignLog, o *histories.Op, process int, typ string) string {
	name, value := "get", "nil"
	switch {
	case o.Kind == histories.List:
		return ""
	case o.Kind == histories.Send:
		name, value = "append", ""
		for _, v := range o.Values {
			value += kvWord(v)
		}
		value = fmt.Sprintf("%q", value)
	case typ == "ok":
		value = ""
		for _, r := range f.final[:o.HW] {
			value += kvWord(r.Value)
		}
		value = fmt.Sprintf("%q", value)
	}
	return fmt.Sprintf("{:process %d, :type :%s, :f :%s, :key \"0\", :value %s}\n", process, typ, name, value)
}

func kvWord(v histories.Value) string { return "x " + v.String() + " y" }

// print writes the events in the order in which they happened. Nothing says at
// one instant of a file what came first: whatever begins there does.
func (f *foreign) print(ops []histories.Op) string {
	log := &foreignLog{numbers: map[string]int{}, ids: map[*histories.Op]int{}}
	if f.exact {
		log.final = ops[len(ops)-1].Records
	}
	type moment struct {
		time  int64
		ends  bool
		print func() string
	}
	var moments []moment
	ends, next := map[string]int64{}, 0 // of what each process was doing
	for i := range ops {
		o := &ops[i]
		relaxed := o.Acks != "" && o.Acks != "all"
		if o.Kind == histories.Send && o.Outcome == histories.OK && (relaxed || f.source == "s2" && o.Offset == histories.None) {
			o.Outcome = histories.Info // which is as much as the tool can say
		}
		if o.Kind == histories.Send && relaxed { // a place that is told counts as an acknowledgement by all
			o.Offset = histories.None
		}
		moves := o.Kind == histories.Assign || o.Kind == histories.Subscribe || o.Kind == histories.Seek
		if moves && !f.records(o, log) {
			delete(log.numbers, o.Process) // another consumer goes on
		}
		if !f.records(o, log) {
			continue
		}
		end, busy := ends[o.Process]
		session := o.Kind == histories.Poll || o.Kind == histories.Send || moves // what it did before matters
		if log.numbers[o.Process] == 0 || busy && end >= o.Call || !session {
			next++
			log.numbers[o.Process] = next
		}
		process := log.numbers[o.Process]
		if ends[o.Process] = max(end, o.Return); o.Outcome == histories.Open || o.Outcome == histories.Info {
			ends[o.Process] = math.MaxInt64
		}
		if !session {
			delete(log.numbers, o.Process)
		}
		event := func(typ string) func() string {
			return func() string { log.index++; return f.event(log, o, process, typ) }
		}
		moments = append(moments, moment{o.Call, false, event("invoke")})
		if o.Outcome != histories.Open {
			moments = append(moments, moment{o.Return, true, event(o.Outcome.String())})
		}
	}
	slices.SortStableFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.time, b.time), map[bool]int{true: 1}[a.ends]-map[bool]int{true: 1}[b.ends])
	})
	var text strings.Builder
	for _, m := range moments {
		text.WriteString(m.print())
	}
	return text.String()
}

// records reports whether the tool records such an operation.
func (f *foreign) records(o *histories.Op, log *foreignLog) bool {
	ok := o.Outcome == histories.OK
	switch {
	case o.Kind == histories.Send:
		return true
	case o.Kind == histories.Assign: // history.txt does not say that it seeks
		return !f.exact && !f.plain && ok && o.From == 0
	case o.Kind == histories.List:
		return f.source == "s2" && (!ok || o.At == "latest")
	case f.exact && ok:
		if o.Kind == histories.Scan {
			o.HW = o.End
		}
		return o.HW != histories.None && o.HW <= int64(len(log.final))
	}
	return o.IsRead()
}

// TestForeignHistories prints legal histories, and spoiled ones, as other tools
// would have recorded them. What is no violation must not become one.
func TestForeignHistories(t *testing.T) {
	kept, found, violations := 0, map[string]int{}, map[string]int{}
	n := drawn(t, 1500)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			opt := drawOptions(t, 14)
			opt.Deletes = false // a log start that moves is told by none of them
			f := foreigners[rapid.IntRange(0, len(foreigners)-1).Draw(t, "tool")]
			opt.Retries = opt.Retries && f.source == "jepsen"
			if f.exact {
				opt.Linearizable, opt.Dense, opt.Scan, opt.Isolated = true, true, true, false
			}
			ops := modeltest.Legal(t, opt)
			if end := len(ops) - 1; f.exact && (end < 0 || ops[end].Kind != histories.Scan || ops[end].Outcome != histories.OK) {
				continue
			}
			if !f.exact && rapid.Bool().Draw(t, "spoil") {
				ops = modeltest.Corrupt(t, ops)
			}
			if !wellFormed(ops) {
				continue
			}
			h := build(t, opt, ops)
			text := f.print(slices.Clone(h.Ops()))
			r, err := importers.Read("drawn", strings.NewReader(text), importers.Options{Config: foreignConfig(h.Config())})
			if err != nil {
				if strings.Contains(err.Error(), "nothing of the kind") || text == "" {
					continue
				}
				t.Fatalf("%v\n%s", err, text)
			}
			want, got := Check(context.Background(), h, Options{}), Check(context.Background(), r.History, Options{Engine: Both})
			if want.Verdict != Violates && got.Verdict != Conforms && got.Verdict != Undecided || r.Source != f.source {
				t.Fatalf("%s: %v\n%s\n%s\n%s", r.Source, got.Err(), h.AppendNotation(nil), text, r.AppendNotation(nil))
			}
			kept++
			if want.Verdict == Violates {
				violations[f.source]++
				if got.Verdict == Violates {
					found[f.source]++
				}
			}
		}
	})
	t.Logf("%d histories printed and read again; of the violations %v, found again %v", kept, violations, found)
	if kept == 0 || found["jepsen"] == 0 || found["maelstrom"] == 0 {
		t.Errorf("nothing was at stake: %d histories, %v", kept, found)
	}
}

// foreignConfig is what a recording cannot tell of its system.
func foreignConfig(c histories.Config) histories.Config {
	return slices.DeleteFunc(slices.Clone(c), func(s histories.Setting) bool { return s.Key == "reads" || s.Key == "offsets" })
}
