package checker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/histories"
)

// adversarial returns a history that only a search can judge, and that no
// search judges quickly: many unknown batches of different sizes, all concurrent,
// around offsets nobody read, and an end that none of their sums explains.
func adversarial(t *testing.T, n int) *histories.History {
	t.Helper()
	var b strings.Builder
	b.WriteString("history 1\nconfig acks=all enable.idempotence=true offsets=dense reads=linearizable\n")
	value := 0
	for i := range n {
		fmt.Fprintf(&b, "%d- P%d send %d", i+1, i, value)
		for range 2*i + 1 { // an even number of records
			value++
			fmt.Fprintf(&b, ",%d", value)
		}
		value++
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d-%d C1 list latest => ok @%d\n", n+1, n+2, value-1)
	return parse(t, b.String())
}

// TestBudgets ends searches by each budget. A search that was given up is
// unknown, says which budget it was, and ends at the same step every time.
func TestBudgets(t *testing.T) {
	h := adversarial(t, 24)
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Steps: 5000}, "after 5000 model steps"},
		{Options{Memory: 1 << 20}, "memory budget of 1048576 bytes"},
	} {
		first := Check(context.Background(), h, c.opts)
		if first.Verdict != Undecided || !strings.Contains(first.Reason, c.want) {
			t.Errorf("%+v: %s (%s), want unknown for %q", c.opts, first.Verdict, first.Reason, c.want)
		}
		if again := Check(context.Background(), h, c.opts); !reflect.DeepEqual(first, again) {
			t.Errorf("two checks with %+v differ:\n%+v\n%+v", c.opts, first, again)
		}
	}
}

// everywhere returns sends of unknown outcome, all concurrent, that repeat a few
// values in batches, and a scan that no order of them explains.
func everywhere(t *testing.T, n int) *histories.History {
	t.Helper()
	var b, seen strings.Builder
	b.WriteString("history 1\nconfig acks=all enable.idempotence=true offsets=dense\n")
	for i := range n {
		fmt.Fprintf(&b, "%d- P%d send %d,%d,%d\n", i+1, i, i%3, i/3%3, i/9%3)
		fmt.Fprintf(&seen, " %d:%d", i, i*i%3)
	}
	fmt.Fprintf(&b, "%d-%d C1 scan => ok [%s] end=%d\n", n+1, n+2, strings.TrimSpace(seen.String()), n)
	return parse(t, b.String())
}

// concurrent returns sends of unknown outcome, all concurrent, one short of what
// explains the end.
func concurrent(t *testing.T, n int) *histories.History {
	t.Helper()
	var b strings.Builder
	b.WriteString("history 1\nconfig acks=all enable.idempotence=true offsets=dense reads=linearizable\n")
	for i := range n {
		fmt.Fprintf(&b, "%d- P%d send %d,%d\n", i+1, i, 2*i, 2*i+1)
	}
	fmt.Fprintf(&b, "%d-%d C1 list latest => ok @%d\n", n+1, n+2, 2*n+2)
	return parse(t, b.String())
}

func parse(t *testing.T, text string) *histories.History {
	t.Helper()
	h, err := histories.Parse("adversarial.hist", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestAdversariesEndWithinTheBudget judges histories made to be hard by each
// engine. A verdict of unknown is fine, a search beyond its budget is not.
func TestAdversariesEndWithinTheBudget(t *testing.T) {
	const steps = 20_000
	for name, h := range map[string]*histories.History{
		"sums":       adversarial(t, 60),
		"repeated":   everywhere(t, 60),
		"concurrent": concurrent(t, 500),
	} {
		for _, e := range []Engine{Auto, Porcupine, Both} {
			got := Check(context.Background(), h, Options{Engine: e, Steps: steps})
			t.Logf("%s, engine %q: %s %s after %d steps", name, e, got.Verdict, got.Reason, got.Exercised.Steps)
			if got.Exercised.Steps > 2*steps || got.Verdict != Undecided && got.Verdict != Violates {
				t.Errorf("%s, engine %q: %s after %d steps", name, e, got.Verdict, got.Exercised.Steps)
			}
		}
	}
}

// TestContext ends a search from outside.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("tea is ready"))
	got := Check(ctx, adversarial(t, 24), Options{})
	if got.Verdict != Undecided || !strings.Contains(got.Reason, "tea is ready") {
		t.Errorf("%s (%s), want unknown for the context's cause", got.Verdict, got.Reason)
	}
}

// TestBudgetNeverHidesAViolation keeps what a rule proved when a search gives up.
func TestBudgetNeverHidesAViolation(t *testing.T) {
	h, err := histories.Parse("lost.hist", []byte(`history 1
config acks=all
1-2 P1 send 1 => ok @0
3-4 P1 send 2 => ok @1
5-6 C1 scan => ok [0:1] end=1
`))
	if err != nil {
		t.Fatal(err)
	}
	got := Check(context.Background(), h, Options{Engine: Porcupine, Steps: 1})
	if got.Verdict != Violates {
		t.Errorf("%s (%s), want a violation", got.Verdict, got.Reason)
	}
}
