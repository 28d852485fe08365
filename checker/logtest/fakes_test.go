package logtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isrcheck/isrcheck/checker"
	"github.com/isrcheck/isrcheck/checker/logtest"
	"github.com/isrcheck/isrcheck/histories"
)

// A fake is a correct log in memory with one thing that goes wrong.
type fake struct {
	records    []logtest.Record
	append     func(f *fake, client string, values []string) (int64, error)
	read       func(f *fake, client string, from int64, honest []logtest.Record) []logtest.Record
	end        func(f *fake, client string) int64
	sent       int      // batches so far
	done       bool     // what goes wrong once has gone wrong
	held       []string // values that go their own way
	holder     string   // the client they are of
	future     []string // values that will be sent
	unreadable bool
}

// put stores values behind all that is there.
func (f *fake) put(values ...string) int64 {
	base := f.next()
	f.putAt(base, values...)
	return base
}

// putAt stores values from an offset on.
func (f *fake) putAt(base int64, values ...string) {
	for i, v := range values {
		f.records = append(f.records, logtest.Record{Offset: base + int64(i), Value: v})
	}
	slices.SortFunc(f.records, func(a, b logtest.Record) int { return int(a.Offset - b.Offset) })
}

func (f *fake) next() int64 {
	if len(f.records) == 0 {
		return 0
	}
	return f.records[len(f.records)-1].Offset + 1
}

func (f *fake) from(offset int64) []logtest.Record {
	i := slices.IndexFunc(f.records, func(r logtest.Record) bool { return r.Offset >= offset })
	if i < 0 {
		return nil
	}
	return slices.Clone(f.records[i:])
}

func (f *fake) Append(_ context.Context, client string, values []string) (int64, error) {
	f.sent++
	f.future = f.future[min(len(values), len(f.future)):]
	if f.append != nil {
		return f.append(f, client, values)
	}
	return f.put(values...), nil
}

func (f *fake) Read(_ context.Context, client string, from int64) ([]logtest.Record, error) {
	honest := f.from(from)
	if f.unreadable {
		return nil, errUnclear
	}
	if f.read != nil {
		return f.read(f, client, from, honest), nil
	}
	return honest, nil
}

// A telling fake tells its end as well.
type telling struct{ *fake }

func (f telling) End(_ context.Context, client string) (int64, error) {
	return f.end(f.fake, client), nil
}

// once is true the first time that it may be.
func (f *fake) once(may bool) bool {
	if !may || f.done {
		return false
	}
	f.done = true
	return true
}

func config(pairs ...string) histories.Config {
	c := logtest.DefaultConfig
	for i := 0; i < len(pairs); i += 2 {
		c = c.With(pairs[i], pairs[i+1])
	}
	return c
}

var errUnclear = errors.New("who knows")

// onlyAtTheEnd shows clients nothing before the end.
func onlyAtTheEnd(_ *fake, client string, _ int64, honest []logtest.Record) []logtest.Record {
	if client != "S1" {
		return nil
	}
	return honest
}

// fakes has, for each rule, a log that breaks it and no other.
var fakes = []struct {
	rule   string
	config histories.Config
	fake   fake
}{
	{rule: "phantom", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.put(values...)
		if f.sent == 2 {
			f.put("a record of nobody")
		}
		return base, nil
	}}},
	{rule: "aborted-read", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.put(values...)
		if f.sent == 2 {
			return 0, fmt.Errorf("quota: %w", logtest.ErrRefused)
		}
		return base, nil
	}}},
	{rule: "lost-write", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		if f.sent == 2 {
			return logtest.NoOffset, nil
		}
		return f.put(values...), nil
	}}},
	// Nobody reads either record, so that nothing is known but what was told.
	{rule: "inconsistent-offsets", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		if f.unreadable = f.unreadable || f.once(f.sent == 2 && len(values) == 1 && len(f.records) == 1); !f.unreadable {
			return f.put(values...), nil
		}
		if f.sent > 2 {
			return 0, logtest.ErrRefused
		}
		return f.records[0].Offset, nil
	}, read: func(f *fake, _ string, _ int64, honest []logtest.Record) []logtest.Record {
		f.done = true
		return honest
	}}},
	{rule: "read-then-lost", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.put(values...)
		if f.sent == 2 {
			f.held = values
			return 0, errUnclear
		}
		return base, nil
	}, read: func(f *fake, client string, _ int64, honest []logtest.Record) []logtest.Record {
		if client == "S1" {
			return slices.DeleteFunc(honest, func(r logtest.Record) bool { return slices.Contains(f.held, r.Value) })
		}
		return honest
	}}},
	{rule: "offset-mismatch", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.next() + 10
		f.putAt(base, values...)
		return base - 1, nil
	}}},
	{rule: "duplicate", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.put(values...)
		if f.sent == 2 {
			f.put(values...)
		}
		return base, nil
	}}},
	{rule: "early-read", fake: fake{read: func(f *fake, client string, _ int64, honest []logtest.Record) []logtest.Record {
		if f.once(client == "C1" && len(f.future) > 0) {
			return append(honest, logtest.Record{Offset: f.next(), Value: f.future[0]})
		}
		return honest
	}}},
	{rule: "realtime-order", fake: fake{append: func(f *fake, client string, values []string) (int64, error) {
		switch {
		case f.sent == 1:
			f.holder = client
			f.putAt(50, values...)
			return 50, nil
		case f.once(client != f.holder):
			base := 50 - int64(len(values))
			f.putAt(base, values...)
			return base, nil
		}
		return f.put(values...), nil
	}, read: onlyAtTheEnd}},
	{rule: "end-regression", fake: fake{end: func(f *fake, client string) int64 {
		if f.once(client != "S1" && len(f.records) > 2) {
			return f.next()
		}
		if client != "S1" && f.done {
			return f.next() - 1
		}
		return f.next()
	}}},
	{rule: "gap", config: config("offsets", "dense"), fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		base := f.next()
		if f.sent > 1 {
			base++
		}
		f.putAt(base, values...)
		return base, nil
	}}},
	{rule: "stale-read", config: config("reads", "linearizable"), fake: fake{read: func(f *fake, client string, _ int64, honest []logtest.Record) []logtest.Record {
		if client == "C1" && len(honest) > 0 {
			return nil
		}
		return honest
	}}},
	{rule: "nonmonotonic-send", config: config("acks", "1"), fake: fake{append: func(f *fake, client string, values []string) (int64, error) {
		switch {
		case f.sent == 1:
			f.holder = client
			f.putAt(50, values...)
			return 50, nil
		case f.once(client == f.holder):
			base := 50 - int64(len(values))
			f.putAt(base, values...)
			return base, nil
		}
		return f.put(values...), nil
	}, read: onlyAtTheEnd}},
	{rule: "int-nonmonotonic-send", fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		slices.Reverse(values)
		f.put(values...)
		return logtest.NoOffset, nil
	}}},
	{rule: "nonmonotonic-poll", fake: fake{read: func(f *fake, client string, from int64, honest []logtest.Record) []logtest.Record {
		if client == "C1" && from > 0 {
			return f.from(from - 1)
		}
		return honest
	}}},
	{rule: "int-nonmonotonic-poll", fake: fake{read: func(f *fake, client string, from int64, honest []logtest.Record) []logtest.Record {
		if client != "S1" {
			slices.Reverse(honest)
		}
		return honest
	}}},
	{rule: "poll-skip", fake: fake{read: func(f *fake, client string, from int64, honest []logtest.Record) []logtest.Record {
		if client == "C1" && from == 0 && len(honest) > 1 {
			return honest[1:]
		}
		return honest
	}}},
	{rule: "int-poll-skip", fake: fake{read: func(f *fake, client string, from int64, honest []logtest.Record) []logtest.Record {
		if client != "S1" && len(honest) > 2 {
			return slices.Delete(honest, 1, 2)
		}
		return honest
	}}},
	// Another batch lands inside of one.
	{rule: "not-linearizable", config: config("offsets", "dense"), fake: fake{append: func(f *fake, _ string, values []string) (int64, error) {
		if f.once(len(values) == 2) {
			f.put(values[0])
			f.held = values[1:]
			return 0, errUnclear
		}
		base := f.put(values...)
		f.put(f.held...)
		f.held = nil
		return base, nil
	}, read: func(f *fake, _ string, from int64, honest []logtest.Record) []logtest.Record {
		f.put(f.held...)
		f.held = nil
		return f.from(from)
	}}},
}

// ofTransactions are the rules about what the suite asks nothing of.
var ofTransactions = []string{"torn-transaction", "precommitted-read", "write-read-cycle"}

// TestEveryRuleIsCaught demands that each rule has its fake, and that the suite
// finds that rule broken, and no other.
func TestEveryRuleIsCaught(t *testing.T) {
	for _, f := range fakes {
		if !slices.Contains(checker.Rules(), f.rule) {
			t.Errorf("the checker has no rule %s", f.rule)
		}
	}
	for _, rule := range checker.Rules() {
		if slices.Contains(ofTransactions, rule) {
			continue
		}
		t.Run(rule, func(t *testing.T) {
			n := 0
			for _, f := range fakes {
				if f.rule != rule {
					continue
				}
				n++
				err := logtest.CheckLog(t.Context(), func(ctx context.Context, run *logtest.Run) error {
					log := f.fake
					for _, s := range run.Schedule.Steps {
						if s.Verb == "send" {
							log.future = append(log.future, strings.Split(s.Words[0], ",")...)
						}
					}
					if log.end != nil {
						return run.Play(ctx, telling{&log})
					}
					return run.Play(ctx, &log)
				}, logtest.Options{Deterministic: true, Config: f.config, Runs: 30})
				if got := rulesIn(err); !slices.Equal(got, []string{rule}) {
					t.Errorf("found %v: %v", got, err)
				}
			}
			if n == 0 {
				t.Error("no fake breaks this rule: add one to the table")
			}
		})
	}
}

// rulesIn returns the rules that an error of CheckLog names. An error of
// another kind is shown as it is.
func rulesIn(err error) (rules []string) {
	if err == nil {
		return nil
	}
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var f *logtest.Failure
		if errors.As(e, &f) {
			rules = append(append(rules, f.Rule), f.Also...)
		} else {
			rules = append(rules, e.Error())
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}
