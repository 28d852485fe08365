package checker

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/isrcheck/isrcheck/histories/draw"
	"github.com/isrcheck/isrcheck/histories/importers"
)

// A kvAsked is an operation on the one key of a store, and a kvTold its answer.
type kvAsked struct{ f, value string }

type kvTold struct {
	known bool
	value string
}

// kvModel is a key of a key-value store with put, append and get.
var kvModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(string), input.(kvAsked), output.(kvTold)
		next := map[string]string{"get": s, "put": in.value, "append": s + in.value}[in.f]
		switch {
		case in.f == "get" && out.known && out.value != s:
			return nil
		case !out.known:
			return []any{s, next}
		}
		return []any{next}
	},
}

// A kvClient is in the middle of an operation or not.
type kvClient struct {
	f, value string // "" if idle
	done     bool
	got      string
	id       int
}

// A kvRun is a recording under way.
type kvRun struct {
	text          strings.Builder
	state         string
	puts, repeats bool
	events, never []porcupine.Event
	n             int
}

func (r *kvRun) line(process int, typ, f, value string) {
	quoted := fmt.Sprintf("%q", value)
	if f == "get" && typ == "invoke" {
		quoted = "nil"
	}
	fmt.Fprintf(&r.text, "{:process %d, :type :%s, :f :%s, :key \"9\", :value %s}\n", process, typ, f, quoted)
}

// step moves a client on: it asks, or what it asked for takes effect, or it is told.
func (r *kvRun) step(t *rapid.T, c *kvClient, process int) {
	switch {
	case c.f == "":
		f := draw.From(t, "f", "get", "get", "append", "put")
		if f == "put" && !r.puts {
			f = "append"
		}
		r.ask(t, c, process, f)
	case !c.done:
		c.done, c.got = true, r.state
		r.state = map[string]string{"get": r.state, "put": c.value, "append": r.state + c.value}[c.f]
	default:
		r.answer(t, c, process)
		c.f = ""
	}
}

// ask begins an operation.
func (r *kvRun) ask(t *rapid.T, c *kvClient, process int, f string) {
	*c = kvClient{f: f, id: r.n}
	if r.n++; f != "get" {
		c.value = fmt.Sprintf("x%dy", r.n)
		if f == "append" && r.repeats && draw.OneIn(t, 3, "again") {
			c.value = fmt.Sprintf("x%dy", draw.Int(t, 1, r.n, "which"))
		}
	}
	r.line(process, "invoke", f, c.value)
	r.events = append(r.events, porcupine.Event{Kind: porcupine.CallEvent, Value: kvAsked{f, c.value}, Id: c.id})
}

// answer is what a client is told, now and then what it should not be.
func (r *kvRun) answer(t *rapid.T, c *kvClient, process int) {
	told := kvTold{true, c.value}
	if c.f == "get" {
		if told.value = c.got; draw.OneIn(t, 6, "spoilt") {
			told.value = draw.From(t, "other", words.FindAllString(r.text.String()+`"x1y"`, -1)...)
			told.value = told.value[1 : len(told.value)-1]
		}
	}
	r.line(process, "ok", c.f, told.value)
	r.events = append(r.events, porcupine.Event{Kind: porcupine.ReturnEvent, Value: told, Id: c.id})
}

var words = regexp.MustCompile(`"(x\d+y)+"`)

// TestKVModel compares the verdicts on recordings of a key-value store with those of
// its own model: a violation is what that refuses, and ok what it accepts,
// for the key is read at the end. Where two appends have one value, nobody knows which
// of them was read, so that there is no false alarm is all that is demanded.
func TestKVModel(t *testing.T) {
	verdicts, n := map[string]int{}, drawn(t, 1000)
	rapid.Check(t, func(t *rapid.T) {
		for range n {
			r := kvRun{puts: draw.OneIn(t, 2, "puts"), repeats: draw.OneIn(t, 4, "repeats")}
			clients := make([]kvClient, 4)
			for range draw.Int(t, 1, 40, "steps") {
				i := draw.Int(t, 0, len(clients)-2, "client")
				r.step(t, &clients[i], i)
			}
			for i := range clients[:3] { // one may hear nothing
				for clients[i].f != "" && !draw.OneIn(t, 12, "lost") {
					r.step(t, &clients[i], i)
				}
				if c := clients[i]; c.f != "" {
					r.never = append(r.never, porcupine.Event{Kind: porcupine.ReturnEvent, Value: kvTold{}, Id: c.id})
				}
			}
			r.ask(t, &clients[3], 3, "get")
			for clients[3].f != "" {
				r.step(t, &clients[3], 3)
			}
			r.judge(t, verdicts)
		}
	})
	t.Logf("verdicts by whether the model accepts: %v", verdicts)
	for _, what := range []string{"legal ok", "illegal violation"} {
		if verdicts[what] == 0 {
			t.Errorf("no recording is %s: %v", what, verdicts)
		}
	}
}

// judge compares.
func (r *kvRun) judge(t *rapid.T, verdicts map[string]int) {
	recording, err := importers.Read("drawn", strings.NewReader(r.text.String()), importers.Options{})
	if err != nil {
		if strings.Contains(err.Error(), "nothing of the kind") {
			return
		}
		t.Fatalf("%v\n%s", err, r.text.String())
	}
	legal := "illegal"
	if porcupine.CheckEvents(kvModel.ToModel(), append(r.events, r.never...)) {
		legal = "legal"
	}
	got := Check(context.Background(), recording.History, Options{Engine: Both})
	what := legal + " " + got.Verdict.String()
	verdicts[what]++
	vacuous := strings.HasPrefix(got.Reason, "nothing was at stake")
	if what == "legal violation" || !r.repeats && (what == "illegal ok" || what == "legal unknown" && !vacuous) || got.Verdict == Contradictory {
		t.Fatalf("%s: %v\n%s\n%s", what, got.Err(), r.text.String(), recording.AppendNotation(nil))
	}
}
