package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/histories"
)

// A Letter is something that clients may see, or the state after a run may show.
type Letter struct {
	Letter, Says string
	Findings     []string // of the checker that are the same, permitted ones as well

	see func(*run) string // what is a plain fact of the history: "" or how it shows
}

// Letters is the table, those of §5 in its order, and the copies and the disorder
// of which §5 speaks beside them. Names of findings that are not here follow
// from one of these, or nothing permits them.
var Letters = []Letter{
	// An acks=0 send is never acknowledged, so it cannot be lost.
	{"L", "an acknowledged write is lost", []string{"lost-write"}, ackedAndGone},
	// Somebody read it, and the final scan of the healed log has something else there.
	{"D", "a record that a consumer saw vanishes or changes", []string{"read-then-lost"}, readAndGone},
	// Any acknowledgement counts, also one that promises nothing.
	{"O", "an offset is used twice, by two values acknowledged or read", []string{"inconsistent-offsets", "offset-mismatch"}, twoAtOneOffset},
	// The run says so: it waited for calm, and its replicas differed.
	{"V", "replicas differ when all is calm", nil, replicasDiffer},
	// An earlier answer proves a larger end of the committed log.
	{"S", "the end, or the high watermark, is older than one that was known", []string{"end-regression", "stale-read"}, staleTail},
	// The client itself knows better, from an answer it had. Whoever was told of a
	// position by somebody else may ask a leader that was deposed and has not heard.
	{"R", "a position that was known to exist is out of range, or was cut off", nil, outOfRange},
	// A request for a position nobody proved is the client's mistake, not unavailability.
	{"U", "an operation is refused or times out", nil, unavailable},
	// The client did not hear that it took effect, and it did. acks=0 hears nothing ever.
	{"P", "a write that timed out or looked failed appears", nil, phantom},
	{"X", "a write lands twice, or behind a later one of its producer", []string{"duplicate", "nonmonotonic-send"}, copied},
}

// sees returns how a letter shows in a run, "" if it does not.
func (l *Letter) sees(r *run) string {
	for _, f := range r.trial.Result.Findings {
		if slices.Contains(l.Findings, f.Name) {
			return f.Says
		}
	}
	return l.see(r)
}

// ackedAndGone and the others below judge by the final scan, of the whole log in a
// calm cluster. Without one there is a violation anyway.
func ackedAndGone(r *run) string {
	for o := range r.acknowledged() {
		for i, v := range o.Values {
			if at := o.Offset + int64(i); r.final != nil && !r.holds(at, v) {
				return fmt.Sprintf("%v, and in the end offset %d holds something else", o, at)
			}
		}
	}
	return ""
}

func readAndGone(r *run) string {
	for o := range r.reads() {
		for _, rec := range o.Records {
			if r.final != nil && !r.holds(rec.Offset, rec.Value) {
				return fmt.Sprintf("%v, and in the end offset %d holds something else", o, rec.Offset)
			}
		}
	}
	return ""
}

func twoAtOneOffset(r *run) string {
	first := map[int64]histories.Record{}
	see := func(o *histories.Op, at int64, v histories.Value) string {
		if before, ok := first[at]; ok && before.Value != v {
			return fmt.Sprintf("%v, and offset %d was said to hold %v", o, at, before.Value)
		}
		first[at] = histories.Record{Offset: at, Value: v}
		return ""
	}
	for o := range r.acknowledged() {
		for i, v := range o.Values {
			if says := see(o, o.Offset+int64(i), v); says != "" {
				return says
			}
		}
	}
	for o := range r.reads() {
		for _, rec := range o.Records {
			if says := see(o, rec.Offset, rec.Value); says != "" {
				return says
			}
		}
	}
	return ""
}

func replicasDiffer(r *run) string {
	for _, m := range r.trial.History.Marks() {
		if why, ok := checker.NotLiveOf(&m); ok && strings.Contains(why, "replicas that differ") {
			return why
		}
	}
	return ""
}

func staleTail(r *run) string {
	ops := r.trial.History.Ops()
	for i := range ops {
		o := &ops[i]
		told := o.HW
		if o.Kind == histories.List && o.At == "latest" {
			told = o.Offset
		}
		if o.Outcome == histories.OK && told != histories.None {
			if by, end := r.proven(o, false); told < end {
				return fmt.Sprintf("%v, after %v", o, by)
			}
		}
	}
	return ""
}

// outOfRange takes every position of a consumer that polls: it got there by reading.
func outOfRange(r *run) string {
	ops := r.trial.History.Ops()
	for i := range ops {
		o := &ops[i]
		if !isReset(o) {
			continue
		}
		if by, end := r.proven(o, true); by != nil && (o.Kind == histories.Poll || o.From <= end) {
			return fmt.Sprintf("%v, after %v", o, by)
		}
	}
	return ""
}

// isReset reports whether a read failed for its position: the log does not have
// it, or has other records below it than the consumer read.
func isReset(o *histories.Op) bool {
	return o.Code == "OFFSET_OUT_OF_RANGE" || o.Code == "LOG_TRUNCATION"
}

func unavailable(r *run) string {
	ops := r.trial.History.Ops()
	for i := range ops {
		if o := &ops[i]; o.Outcome != histories.OK && !isReset(o) {
			return o.String()
		}
	}
	return ""
}

func phantom(r *run) string {
	ops := r.trial.History.Ops()
	for i := range ops {
		o := &ops[i]
		if o.Kind != histories.Send || o.Outcome == histories.OK {
			continue
		}
		for read := range r.reads() {
			for _, rec := range read.Records {
				if slices.Contains(o.Values, rec.Value) {
					return fmt.Sprintf("%v, and %v", o, read)
				}
			}
		}
	}
	return ""
}

// copied finds values that are in the log more than once, as every one was sent
// once, and acknowledged sends of a producer in the wrong order. One that nobody
// acknowledged may land whenever it likes: that is a phantom.
func copied(r *run) string {
	if r.final == nil {
		return ""
	}
	at := map[histories.Value]int64{}
	for _, rec := range r.final.Records {
		if first, ok := at[rec.Value]; ok {
			return fmt.Sprintf("value %v is at offsets %d and %d", rec.Value, first, rec.Offset)
		}
		at[rec.Value] = rec.Offset
	}
	last := map[string]*histories.Op{}
	for o := range r.acknowledged() {
		before := last[o.Process]
		if here, ok := at[o.Values[0]]; ok {
			if before != nil && at[before.Values[0]] > here {
				return fmt.Sprintf("%v, and before it %v", o, before)
			}
			last[o.Process] = o
		}
	}
	return ""
}
